"""/v1/studies/{study}/observations"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.routing import APIRoute
from starlette.responses import Response, StreamingResponse

from app.api.bodies import Spooled, StrictRoute, sheet_file, spool, table_memory
from app.api.dependencies import (
    CanRead,
    CanReport,
    IdempotencyKey,
    ResourcesDep,
    RunLong,
    SeenVersion,
    allowed,
    write_transactions,
)
from app.api.limits import LongRunner, run_short
from app.api.problems import documented
from app.api.report_json import MOST_IN_GROUP, json_reports, report_receipt_json
from app.api.responses import answer, download, json_answer, respond
from app.api.routes import COMMON, OF_A_STUDY, WRITES
from app.api.schemas.observations import (
    CorrectionIn,
    ObservationOut,
    ObservationPage,
    ReportReceiptOut,
    RetractionIn,
    RevisionOut,
    UploadRetractionIn,
    UploadRetractionOut,
    observation_out,
    result_cells,
    result_columns,
    revision_out,
    upload_retraction_out,
)
from app.api.schemas.report_body import BINARY, REPORT_BODY
from app.api.schemas.shape import Name, Reason
from app.domain.access import Actor, Scope
from app.domain.errors import Finding, Invalid
from app.domain.observations import Report
from app.services.intake.csv_writing import csv_text
from app.services.intake.sheet_columns import SheetShape
from app.services.intake.sheet_reading import read_rows, read_sheet
from app.services.intake.xlsx import XLSX, write_xlsx, xlsx_rows
from app.services.resources import Resources
from app.services.transactions import Answer, ReadTransactions, WriteTransactions
from app.services.use_cases import access, observations, studies
from app.services.use_cases.audit import record_table_export
from app.services.use_cases.observations import Correction, Revision, UploadRetraction
from app.services.use_cases.report import ReportOptions, ReportReceipt, must_not_be_empty, report

router = APIRouter(
    prefix="/v1/studies/{study}/observations",
    tags=["observations"],
    route_class=StrictRoute,
    responses=COMMON | OF_A_STUDY,
)

ObservationNumber = Annotated[int, Path(ge=1, lt=2**31, description="The observation's number.")]
Reporter = Annotated[Actor, Depends(allowed(Scope.REPORT, from_memory=True))]
OutsideLimits = Annotated[
    Literal["refuse", "accept"], Query(description="Whether values outside the limits of their quantity are stored.")
]
ReadPage = Callable[[int], list[ObservationOut]]
TableFormat = Literal["json", "csv", "xlsx"]
_NOT_FOUND = documented("not-found", "study-not-found", "observation-not-found", "candidate-not-found")
_CHANGES = WRITES | _NOT_FOUND | documented("precondition-required", "precondition-failed")


async def read_reports(
    request: Request, body: Spooled, tx: WriteTransactions, renamed: list[str]
) -> Sequence[Report] | Answer:
    """The reports of a body, as JSON or as a sheet; or the answer that the same request got before."""
    if body.json is not None:
        return json_reports(body.json)
    state = request.app.state
    with state.resources.memory.reserve(sum(table_memory(path) for path in body.files.values())):
        work = partial(_reports, request.path_params["study"], body, tx, _renamed(renamed))
        return await LongRunner(request, state.long_work)(work)


def _renamed(pairs: list[str]) -> dict[str, str]:
    """`their name=our name`, by their name; ours has no equals sign."""
    if any("=" not in pair for pair in pairs):
        raise Invalid([Finding("map", "Write `map` as their name, an equals sign and our name: `Ausbeute=value`.")])
    return {theirs.strip(): ours.strip() for theirs, _, ours in (pair.rpartition("=") for pair in pairs)}


def _reports(name: str, body: Spooled, tx: WriteTransactions, renamed: dict[str, str]) -> Sequence[Report] | Answer:
    if body.media_type == "application/json":
        return json_reports(body.files[""].read_bytes())
    media_type, path = sheet_file(body)
    study = tx.read_unless_answered(studies.find, name)
    if isinstance(study, Answer):
        return study
    shape = SheetShape.of(study, renamed)
    reports = read_sheet(path, shape) if media_type == "text/csv" else read_rows(xlsx_rows(path), shape, ".")
    must_not_be_empty(reports)
    return reports


def _must_have_reason(*, corrects: bool, reason: str | None, dry_run: bool) -> None:
    """Corrections have a reason, which a dry run can do without; nothing else has one."""
    if corrects and reason is None and not dry_run:
        raise Invalid([Finding("reason", "Say in `reason` why results are corrected. It is kept in the ledger.")])
    if reason is not None and not corrects:
        raise Invalid([Finding("reason", "A `reason` belongs to corrections: send `corrections=accept` with it.")])


async def store_reports(
    tx: WriteTransactions,
    resources: Resources,
    study: str,
    reports: Sequence[Report],
    options: ReportOptions,
    *,
    dry_run: bool = False,
) -> Answer:
    """A few reports share a commit with those of others; many have a transaction of their own, on a thread."""
    if dry_run:
        return await run_short(partial(tx.dry_run, report, resources, study, reports, options, answer=_checked))
    if len(reports) <= MOST_IN_GROUP:
        commits = resources.commits
        return await tx.write_in_group(
            commits, report, resources, study, reports, options, answer=_reported, reports=reports
        )
    return await run_short(partial(tx.write_once, report, resources, study, reports, options, answer=_reported))


@router.post(
    "",
    summary="Report one result, many, or a filled-in sheet",
    response_model=ReportReceiptOut,
    responses=WRITES
    | documented("already-observed", "unsupported-media-type")
    | {201: {"model": ReportReceiptOut, "description": "Recorded"}},
    openapi_extra=REPORT_BODY,
)
async def report_observations(  # noqa: PLR0913, PLR0917  (each dependency would cost more than its parameters)
    request: Request,
    study: Name,
    reporter: Reporter,
    idempotency_key: IdempotencyKey = None,
    map: Annotated[  # noqa: A002
        list[str], Query(description="A sheet's column under the lab's own name, as `Ausbeute=value`.")
    ] = [],  # noqa: B006
    duplicates: Annotated[
        Literal["skip", "new"],
        Query(description="Whether equal values of a candidate are repeats or new."),
    ] = "skip",
    implausible: Annotated[
        Literal["accept", "refuse"],
        Query(description="Whether values far from all earlier ones are stored, or refused so that you can confirm."),
    ] = "accept",
    outside_limits: OutsideLimits = "refuse",
    corrections: Annotated[
        Literal["refuse", "accept"],
        Query(description="Whether another value of a result that is stored corrects it, for the given `reason`."),
    ] = "refuse",
    reason: Annotated[Reason | None, Query(description="Of the corrections; kept in the ledger.")] = None,
    dry_run: Annotated[bool, Query(description="Check everything, store nothing.")] = False,
) -> Response:
    """All of it is stored, or nothing. A repetition is recognised, and errors name the row and the column."""
    _must_have_reason(corrects=corrections == "accept", reason=reason, dry_run=dry_run)
    resources: Resources = request.app.state.resources
    async with spool(request, reporter, json_in_memory=True) as body:
        tx = write_transactions(request, reporter, idempotency_key, body.digest)
        reports = await read_reports(request, body, tx, map)
    if isinstance(reports, Answer):
        return respond(reports)
    new, accepts = duplicates == "new", outside_limits == "accept"
    options = ReportOptions(body.digest, new, implausible == "refuse", accepts, corrections == "accept", reason)
    return respond(await store_reports(tx, resources, study, reports, options, dry_run=dry_run))


REPORTS = next(route for route in router.routes if isinstance(route, APIRoute) and route.name == "report_observations")


@router.post(
    "/retractions",
    summary="Retract everything that one report recorded, with a reason",
    response_model=UploadRetractionOut,
    responses=WRITES | _NOT_FOUND,
)
def retract_upload(study: Name, retraction: UploadRetractionIn, tx: CanReport) -> Response:
    """For a sheet of another study, or one that was sent by mistake. The results are kept, but no longer count."""
    upload, reason = retraction.upload, retraction.reason
    return respond(tx.write_once(observations.retract_upload, study, upload, reason, answer=_retracted))


@router.get(
    "",
    summary="Observations, in their current or in every version; JSON, CSV or .xlsx",
    description="`versions=all` shows what was corrected, by whom and why.",
    response_model=ObservationPage,
    responses=_NOT_FOUND
    | {200: {"content": {"text/csv": {"schema": {"type": "string"}}, XLSX: BINARY}, "description": "Observations"}},
)
async def list_observations(  # noqa: PLR0913, PLR0917  (query parameters)
    study: Name,
    tx: CanRead,
    resources: ResourcesDep,
    run_long: RunLong,
    versions: Literal["current", "all"] = "current",
    candidate: Annotated[str | None, Query(max_length=200)] = None,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
    format: TableFormat = "json",  # noqa: A002
) -> Response:
    def page(start: int) -> list[ObservationOut]:
        found = tx.read(observations.list_observations, resources, study, start, limit, versions == "all", candidate)
        return [observation_out(keyed) for keyed in found]

    run = run_long if format == "xlsx" else run_short
    return await run(partial(_listed, tx, study, page, after, limit, format))


@router.get("/{number}", summary="Every version of an observation, oldest first", responses=_NOT_FOUND)
def read_observation(
    study: Name, number: ObservationNumber, tx: CanRead, resources: ResourcesDep, response: Response
) -> ObservationPage:
    """The first version is what was reported; every later one has a reason."""
    versions = tx.read(observations.list_versions, resources, study, number)
    response.headers["ETag"] = f'"{versions[-1].observation.version}"'
    return _with_actors(tx, [observation_out(version) for version in versions], None)


@router.post(
    "/{number}/corrections",
    summary="Correct a value, with a reason; the old one is kept",
    response_model=RevisionOut,
    responses=_CHANGES,
)
def correct(
    study: Name,
    number: ObservationNumber,
    correction: CorrectionIn,
    resources: ResourcesDep,
    tx: CanReport,
    version: SeenVersion,
    outside_limits: OutsideLimits = "refuse",
) -> Response:
    """`If-Match` names the version that you saw, or `*`. The answer names the batches that were chosen with the old
    value.
    """
    changed = Correction(correction.outcome(), correction.reason, outside_limits == "accept")
    return respond(tx.write_once(observations.correct, resources, study, number, version, changed, answer=_revised))


@router.post(
    "/{number}/retraction",
    summary="Retract an observation, with a reason",
    response_model=RevisionOut,
    responses=_CHANGES,
)
def retract(
    study: Name,
    number: ObservationNumber,
    retraction: RetractionIn,
    resources: ResourcesDep,
    tx: CanReport,
    version: SeenVersion,
) -> Response:
    """It is kept, but no longer counts. A correction brings it back."""
    reason = retraction.reason
    return respond(tx.write_once(observations.retract, resources, study, number, version, reason, answer=_revised))


def _listed(tx: ReadTransactions, study: str, page: ReadPage, after: int, limit: int, format_: TableFormat) -> Response:
    shown = page(after)  # a refusal must come before the first byte
    if format_ != "json":
        tx.record(record_table_export, study, "results", format_)
        quantities = [quantity.name for quantity in tx.read(studies.find, study).configuration.quantities]
        return _table(format_, f"{study}-results", result_columns(quantities), _rows(shown, page, quantities))
    numbers = {shown_version.observation for shown_version in shown}
    following = shown[-1].observation if len(numbers) == limit else None
    return respond(answer(_with_actors(tx, shown, following)))


def _with_actors(tx: ReadTransactions, shown: list[ObservationOut], following: int | None) -> ObservationPage:
    actors = tx.read(access.names_of_actors, [(version.actor, version.origin) for version in shown])
    return ObservationPage(observations=tuple(shown), next=following, actors=actors)


def _table(format_: Literal["csv", "xlsx"], name: str, header: list[str], rows: Iterator[list[Any]]) -> Response:
    if format_ == "xlsx":
        return download(lambda path: write_xlsx(path, header, rows), XLSX, f"{name}.xlsx")
    return StreamingResponse(csv_text(header, rows), media_type="text/csv; charset=utf-8")


def _rows(shown: list[ObservationOut], page: ReadPage, quantities: list[str]) -> Iterator[list[Any]]:
    """Cells of this page and of all that follow."""
    while shown:
        yield from (result_cells(version, quantities) for version in shown)
        shown = page(shown[-1].observation)


def _reported(receipt: ReportReceipt) -> Answer:
    new = any(match.status != "duplicate" for match in receipt.matches)
    return json_answer(report_receipt_json(receipt, stored=True), 201 if new else 200)


def _checked(receipt: ReportReceipt) -> Answer:
    return json_answer(report_receipt_json(receipt, stored=False))


def _retracted(retraction: UploadRetraction) -> Answer:
    return answer(upload_retraction_out(retraction))


def _revised(revision: Revision) -> Answer:
    return answer(revision_out(revision), etag=f'"{revision.current.observation.version}"')
