"""Read models for dashboards: summary, certificate and trace; and checks of the ledger and of batches."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanRead, ResourcesDep, RunLong
from app.api.problems import documented
from app.api.responses import unless_known
from app.api.routes import COMMON, OF_A_STUDY
from app.api.schemas.diagnostics import DiagnosticsOut, diagnostics_out
from app.api.schemas.fronts import FrontOut, front_out
from app.api.schemas.ledger import ReplayedOut, VerifiedOut, replayed_out, verified_out
from app.api.schemas.reading import CertificateAnswer, SummaryOut, TraceOut, certificate_out, summary_out, trace_out
from app.api.schemas.shape import Name
from app.services.use_cases import batches, studies, verification
from app.services.workflows.diagnose import diagnose_study
from app.services.workflows.replay import replay
from app.services.workflows.summarise import read_front, read_volumes, summarise

router = APIRouter(
    prefix="/v1/studies/{study}", tags=["reading"], route_class=StrictRoute, responses=COMMON | OF_A_STUDY
)

AsOf = Annotated[int | None, Query(ge=1, lt=2**31, description="As it was after this event of the ledger.")]
NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "As you know it (If-None-Match)"}}
MODEL = documented("conflict")


@router.get("/summary", summary="A study at a glance", response_model=SummaryOut, responses=NOT_MODIFIED | MODEL)
async def read_summary(
    study: Name, request: Request, tx: CanRead, resources: ResourcesDep, run_long: RunLong, as_of: AsOf = None
) -> Response:
    def make() -> SummaryOut:
        return summary_out(summarise(resources, tx, study, as_of))

    return await run_long(lambda: unless_known(request, tx.read(studies.find, study), make))


@router.get(
    "/certificate",
    summary="The best candidate and how much better another could be",
    response_model=CertificateAnswer,
    responses=NOT_MODIFIED | MODEL,
)
async def read_certificate(
    study: Name, request: Request, tx: CanRead, resources: ResourcesDep, run_long: RunLong, as_of: AsOf = None
) -> Response:
    def make() -> CertificateAnswer:
        return certificate_out(summarise(resources, tx, study, as_of))

    return await run_long(lambda: unless_known(request, tx.read(studies.find, study), make))


@router.get(
    "/front",
    summary="The best compromises between several objectives, measured and expected",
    response_model=FrontOut,
    responses=NOT_MODIFIED | MODEL,
)
async def read_study_front(
    study: Name, request: Request, tx: CanRead, resources: ResourcesDep, run_long: RunLong, as_of: AsOf = None
) -> Response:
    def make() -> FrontOut:
        return front_out(read_front(resources, tx, study, as_of))

    return await run_long(lambda: unless_known(request, tx.read(studies.find, study), make))


@router.get("/trace", summary="How it went, batch by batch", response_model=TraceOut, responses=NOT_MODIFIED | MODEL)
async def read_trace(
    study: Name, request: Request, tx: CanRead, resources: ResourcesDep, run_long: RunLong
) -> Response:
    def make() -> TraceOut:
        _, issued = tx.read(batches.list_batches, study, 0, 100_000, None, None)
        summary = summarise(resources, tx, study, None)
        return trace_out(summary, issued, read_volumes(resources, summary))

    return await run_long(lambda: unless_known(request, tx.read(studies.find, study), make))


@router.get(
    "/diagnostics",
    summary="Whether to trust the model, and what it has learnt",
    response_model=DiagnosticsOut,
    responses=NOT_MODIFIED | MODEL,
)
async def read_diagnostics(
    study: Name, request: Request, tx: CanRead, resources: ResourcesDep, run_long: RunLong
) -> Response:
    def make() -> DiagnosticsOut:
        return diagnostics_out(diagnose_study(resources, tx, study))

    return await run_long(lambda: unless_known(request, tx.read(studies.find, study), make))


@router.post("/verify", summary="Check the ledger, and everything that is derived from it")
async def verify(study: Name, tx: CanRead, run_long: RunLong) -> VerifiedOut:
    return verified_out(await run_long(lambda: tx.read(verification.verify, study)))


@router.post(
    "/batches/{number}/replay",
    summary="Compute a batch again and compare bit for bit",
    responses=documented("not-found", "study-not-found", "batch-not-found", "candidates-exhausted"),
)
async def replay_batch(
    study: Name, number: Annotated[int, Path(ge=1, lt=2**31)], tx: CanRead, resources: ResourcesDep, run_long: RunLong
) -> ReplayedOut:
    return replayed_out(await run_long(lambda: replay(resources, tx, study, number)))
