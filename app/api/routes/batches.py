"""/v1/studies/{study}/batches and /suggestions"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from app.api.bodies import StrictRoute
from app.api.dependencies import AskLimit, CanAsk, CanRead, ResourcesDep, RunLong
from app.api.limits import finished, run_short
from app.api.problems import documented
from app.api.responses import answer, download, respond
from app.api.routes import COMMON, OF_A_STUDY, WRITES
from app.api.schemas.asks import AskIn, PreviewOut, SwapIn, preview_out
from app.api.schemas.batches import (
    BatchOut,
    BatchPage,
    BenchOut,
    ComputingOut,
    batch_brief,
    batch_out,
    bench_out,
)
from app.api.schemas.shape import Name, Reason
from app.domain.batches import BatchState, SuggestionId, SuggestionState
from app.domain.candidates import CellValue
from app.domain.errors import SuggestionNotFound
from app.services.intake.csv_writing import csv_text
from app.services.intake.plates import SheetLayout
from app.services.intake.sheets import sheet_of
from app.services.intake.xlsx import XLSX, write_xlsx
from app.services.transactions import Answer
from app.services.use_cases import batches
from app.services.use_cases.batches import BatchDetails
from app.services.workflows.ask import ask
from app.services.workflows.preview import Preview, preview
from app.services.workflows.swap import SwapForm, swap

router = APIRouter(
    prefix="/v1/studies/{study}", tags=["batches"], route_class=StrictRoute, responses=COMMON | OF_A_STUDY
)


def suggestion_id(suggestion: Annotated[str, Path(max_length=50, description="Such as B3-S1.")]) -> SuggestionId:
    parsed = SuggestionId.parse(suggestion)
    if parsed is None:
        raise SuggestionNotFound
    return parsed


SuggestionPath = Annotated[SuggestionId, Depends(suggestion_id)]
BatchNumber = Annotated[int, Path(ge=1, lt=2**31, description="The batch's number.")]
_NOT_FOUND = documented("not-found", "study-not-found", "batch-not-found")


@router.post(
    "/batches",
    summary="Ask for the next batch",
    description="The same worker asking again gets its open batch back, so a retry is harmless. With `preview`, the "
    "batch as it would be; nothing is stored.",
    response_model=BatchOut | PreviewOut,
    responses=WRITES
    | documented(
        *("study-not-active", "study-finished", "no-candidates", "candidates-exhausted", "terms-unmet"),
        *("preview-outdated", "conflict"),
    )
    | {
        201: {"model": BatchOut, "description": "A new batch"},
        202: {"model": ComputingOut, "description": "Ask again"},
    },
)
async def ask_for_batch(
    study: Name, wanted: AskIn, request: Request, resources: ResourcesDep, tx: CanAsk, ask_limit: AskLimit
) -> Response:
    begin = partial(preview, answer=_preview) if wanted.preview else partial(ask, answer=_batch)
    with ask_limit.slot(tx.actor.key.id, "More workers ask than the server can answer soon. Try again."):
        job = await run_short(partial(begin, resources, tx, study, wanted.form()))
        if await finished(job, request, wanted.wait):
            return respond(job.future.result())
    job.demand.promise()
    location = f"/v1/studies/{study}/batches?worker={wanted.worker}&state=open"
    return respond(answer(ComputingOut(), 202, location=location, retry_after="5"))


@router.get("/batches", summary="The history of batches")
def list_batches(
    study: Name,
    tx: CanRead,
    state: BatchState | None = None,
    worker: Annotated[Name | None, Query()] = None,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> BatchPage:
    """Without their suggestions; `after` continues a page."""
    found, page = tx.read(batches.list_batches, study, after, limit, state, worker)
    following = page[-1].number if len(page) == limit else None
    return BatchPage(batches=tuple(batch_brief(found, batch) for batch in page), next=following)


@router.get("/batches/{number}", summary="Read a batch", response_model=BatchOut, responses=_NOT_FOUND)
def read_batch(study: Name, number: BatchNumber, tx: CanRead, resources: ResourcesDep) -> BatchOut:
    """With its suggestions, why each was chosen, and how it was computed."""
    return batch_out(tx.read(batches.read_batch, resources, study, number))


async def sheet_layout(
    plate: Annotated[
        str | None, Query(pattern=r"^[1-9][0-9]?x[1-9][0-9]?$", description="Rows and columns of a plate, as in 8x12.")
    ] = None,
    order_by: Annotated[str | None, Query(max_length=200, description="A column, to save changeovers.")] = None,
) -> SheetLayout:
    rows, columns = map(int, plate.split("x")) if plate else (None, None)
    return SheetLayout(order_by, rows, columns)


@router.get(
    "/batches/{number}/sheet",
    summary="The batch as a sheet to print and fill in; CSV or .xlsx",
    response_class=StreamingResponse,
    responses=_NOT_FOUND
    | {
        200: {
            "content": {kind: {"schema": {"type": "string"}} for kind in ("text/csv", XLSX)},
            "description": "A sheet",
        }
    },
)
async def read_sheet(  # noqa: PLR0913, PLR0917  (query parameters)
    study: Name,
    number: BatchNumber,
    tx: CanRead,
    resources: ResourcesDep,
    run_long: RunLong,
    layout: Annotated[SheetLayout, Depends(sheet_layout)],
    decimal: Literal["point", "comma"] = "point",
    bom: Annotated[bool, Query(description="Begin with a byte order mark, for some spreadsheet programs.")] = False,
    format: Literal["csv", "xlsx"] = "csv",  # noqa: A002
) -> Response:
    """One row per measurement, with an empty cell for each value. Send the same file back as a report."""
    run = run_long if format == "xlsx" else run_short

    def sheet() -> Response:
        found = tx.read(batches.read_sheet, resources, study, number)
        header, rows = layout.of(*sheet_of(*found, abandoned=layout.rows is None))
        return _sheet(f"{study}-batch-{number}", header, rows, format, comma=decimal == "comma", bom=bom)

    return await run(sheet)


def _sheet(
    name: str,
    header: list[str],
    rows: Iterator[Sequence[CellValue]],
    format_: Literal["csv", "xlsx"],
    *,
    comma: bool,
    bom: bool,
) -> Response:
    if format_ == "xlsx":
        return download(lambda path: write_xlsx(path, header, rows), XLSX, f"{name}.xlsx")
    pieces = chain(["\ufeff" if bom else ""], csv_text(header, rows, comma=comma))
    headers = {"content-disposition": f'attachment; filename="{name}.csv"'}
    return StreamingResponse(pieces, media_type="text/csv; charset=utf-8", headers=headers)


@router.post(
    "/batches/{number}/close",
    summary="Give up what is still pending",
    response_model=BatchOut,
    responses=WRITES | _NOT_FOUND,
)
def close_batch(
    study: Name,
    number: BatchNumber,
    resources: ResourcesDep,
    tx: CanAsk,
    reason: Annotated[Reason | None, Query()] = None,
) -> Response:
    """The suggestions without a result are abandoned. A result that arrives later still counts."""
    return respond(tx.write_once(batches.close, resources, study, number, reason, answer=_batch))


@router.get("/suggestions", summary="What is on a worker's bench", response_model=BenchOut)
async def list_suggestions(
    study: Name,
    tx: CanRead,
    resources: ResourcesDep,
    run_long: RunLong,
    state: SuggestionState = SuggestionState.PENDING,
    worker: Annotated[Name | None, Query()] = None,
) -> Response:
    """What is pending, of one worker or of all."""

    def read() -> Response:
        with resources.memory.reserve(tx.read(batches.bench_bytes, study, state)):
            return respond(answer(bench_out(tx.read(batches.bench, resources, study, state, worker))))

    return await run_long(read)


@router.post(
    "/suggestions/{suggestion}/swap",
    summary="Replace a pending suggestion by the next best candidate",
    response_model=BatchOut,
    responses=WRITES
    | documented("not-found", "study-not-found", "suggestion-not-found")
    | documented("study-not-active", "suggestion-not-pending", "terms-unmet", "candidates-exhausted", "conflict"),
)
async def swap_suggestion(
    study: Name, suggestion: SuggestionPath, wanted: SwapIn, resources: ResourcesDep, tx: CanAsk, run_long: RunLong
) -> Response:
    """The old suggestion is abandoned with your reason; the new one gets the next rank of the same batch."""
    form = SwapForm(suggestion, wanted.reason, wanted.switch_off)
    return respond(await run_long(partial(swap, resources, tx, study, form, _batch)))


def _batch(details: BatchDetails) -> Answer:
    return answer(batch_out(details), 201 if details.new else 200)


def _preview(previewed: Preview) -> Answer:
    return answer(preview_out(previewed))
