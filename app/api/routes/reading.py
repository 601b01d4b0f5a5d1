"""Read models for dashboards: summary, certificate and trace; and checks of the ledger and of batches."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanRead, ResourcesDep, RunLong
from app.api.problems import documented
from app.api.routes import COMMON, NOT_MODIFIED, OF_A_STUDY
from app.api.schemas.diagnostics import DiagnosticsOut, diagnostics_out
from app.api.schemas.fronts import FrontOut, front_out
from app.api.schemas.ledger import ReplayedOut, VerifiedOut, replayed_out, verified_out
from app.api.schemas.reading import CertificateAnswer, SummaryOut, TraceOut, certificate_out, summary_out, trace_out
from app.api.schemas.report_body import BINARY
from app.api.schemas.shape import Name
from app.api.shared_answers import Reader
from app.services.use_cases import batches, candidate_arrays, verification
from app.services.use_cases.candidate_arrays import ArrayQuery
from app.services.workflows.diagnose import diagnose_study
from app.services.workflows.replay import replay
from app.services.workflows.summarise import predict, read_front, read_volumes, summarise

router = APIRouter(
    prefix="/v1/studies/{study}", tags=["reading"], route_class=StrictRoute, responses=COMMON | OF_A_STUDY
)

AsOf = Annotated[int | None, Query(ge=1, lt=2**31, description="As it was after this event of the ledger.")]
OF_SEVERAL = "With several quantities: which one; by default the first objective."
MODEL = documented("conflict")
PACKED = "application/octet-stream"
MOST_ARRAYS = 20


@router.get("/summary", summary="A study at a glance", response_model=SummaryOut, responses=NOT_MODIFIED | MODEL)
async def read_summary(study: Name, reader: Reader, resources: ResourcesDep, as_of: AsOf = None) -> Response:
    """State, counts, the best so far, what is expected to be best, open batches, spending. `as_of` shows an earlier
    moment.
    """
    return await reader.answer(study, lambda: summary_out(summarise(resources, reader.tx, study, as_of)))


@router.get(
    "/certificate",
    summary="The best candidate and how much better another could be",
    response_model=CertificateAnswer,
    responses=NOT_MODIFIED | MODEL,
)
async def read_certificate(study: Name, reader: Reader, resources: ResourcesDep, as_of: AsOf = None) -> Response:
    """What is left to gain, the chance that the best is measured already, how many can still be it, and what to do
    next.
    """
    return await reader.answer(study, lambda: certificate_out(summarise(resources, reader.tx, study, as_of)))


@router.get(
    "/front",
    summary="The best compromises between several objectives, measured and expected",
    response_model=FrontOut,
    responses=NOT_MODIFIED | MODEL,
)
async def read_study_front(study: Name, reader: Reader, resources: ResourcesDep, as_of: AsOf = None) -> Response:
    """The hypervolume, and how many candidates can still be on the front. With one objective, its best feasible
    candidates.
    """
    return await reader.answer(study, lambda: front_out(read_front(resources, reader.tx, study, as_of)))


@router.get("/trace", summary="How it went, batch by batch", response_model=TraceOut, responses=NOT_MODIFIED | MODEL)
async def read_trace(study: Name, reader: Reader, resources: ResourcesDep) -> Response:
    """The best so far after every result, and the size of every batch."""

    def make() -> TraceOut:
        _, issued = reader.tx.read(batches.list_batches, study, 0, 100_000, None, None)
        summary = summarise(resources, reader.tx, study, None)
        return trace_out(summary, issued, read_volumes(resources, summary))

    return await reader.answer(study, make)


@router.get(
    "/diagnostics",
    summary="Whether to trust the model, and what it has learnt",
    response_model=DiagnosticsOut,
    responses=NOT_MODIFIED | MODEL,
)
async def read_diagnostics(
    study: Name, reader: Reader, resources: ResourcesDep, quantity: Annotated[str, Query(description=OF_SEVERAL)] = ""
) -> Response:
    """Leave-one-out predictions, calibration, which columns matter and how, and results that look like typing
    errors.
    """
    return await reader.answer(study, lambda: diagnostics_out(diagnose_study(resources, reader.tx, study, quantity)))


async def array_query(
    column: Annotated[list[str], Query(max_length=MOST_ARRAYS, description="Columns of the list.")] = [],  # noqa: B006
    posterior: Annotated[
        list[str], Query(max_length=MOST_ARRAYS, description="What the model says: `mean`, `std`, `counts` …")
    ] = [],  # noqa: B006
    similarity: Annotated[
        bool, Query(description="Two more: where each candidate lies on the map, similar ones close together.")
    ] = False,
    limit: Annotated[int, Query(ge=1, le=1_000_000, description="The first so many of the list.")] = 100_000,
) -> ArrayQuery:
    return ArrayQuery(tuple(column), tuple(posterior), similarity, limit)


@router.get(
    "/arrays",
    summary="Numbers of all candidates, packed: columns, predictions, positions on a map",
    response_class=Response,
    responses=NOT_MODIFIED | MODEL | {200: {"content": {PACKED: BINARY}, "description": "The arrays"}},
)
async def read_arrays(
    study: Name, reader: Reader, resources: ResourcesDep, query: Annotated[ArrayQuery, Depends(array_query)]
) -> Response:
    """Little-endian float32, one array after the other in the order of the list: the columns, the predictions, the two
    positions, and last 1 for each available candidate. A text is the position of its level, a missing number NaN.
    """

    def make() -> bytes:
        predictions = predict(resources, reader.tx, study) if query.posterior else None
        with resources.memory.reserve(reader.tx.read(candidate_arrays.array_bytes, study, query)):
            return reader.tx.read(candidate_arrays.packed_arrays, resources, study, query, predictions)

    return await reader.answer_bytes(study, make, PACKED)


@router.post("/verify", summary="Check the ledger, and everything that is derived from it")
async def verify(study: Name, tx: CanRead, run_long: RunLong) -> VerifiedOut:
    """Computes every hash and every table again, and tells what differs."""
    return verified_out(await run_long(lambda: tx.read(verification.verify, study)))


@router.post(
    "/batches/{number}/replay",
    summary="Compute a batch again and compare bit for bit",
    responses=documented("not-found", "study-not-found", "batch-not-found", "candidates-exhausted"),
)
async def replay_batch(
    study: Name, number: Annotated[int, Path(ge=1, lt=2**31)], tx: CanRead, resources: ResourcesDep, run_long: RunLong
) -> ReplayedOut:
    """Starts from the events before it, and needs nothing that was computed then."""
    return replayed_out(await run_long(lambda: replay(resources, tx, study, number)))
