"""/v1/backtests: simulate studies on a list whose results are known. No study is made."""

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanExport, CanManage, ResourcesDep, RunLong
from app.api.problems import documented
from app.api.responses import answer, respond
from app.api.routes import COMMON, WRITES
from app.api.routes.backtests import BacktestNumber
from app.api.routes.candidates import BODY, CanUpload, Uploaded
from app.api.schemas.backtests import BacktestIn, ListBacktestOut, ListBacktestPageOut, list_backtest_out
from app.api.schemas.forks import ForkSettings
from app.domain.backtests import LIST_DAYS, MOST_SEEDS, MOST_SIZES, Backtest
from app.domain.limits import MOST_MEASUREMENTS
from app.services.transactions import Answer
from app.services.workflows import list_backtest as backtests
from app.services.workflows.backtest_job import BacktestForm

router = APIRouter(prefix="/v1/backtests", tags=["backtests"], route_class=StrictRoute, responses=COMMON)

SimulatedSize = Annotated[int, Query(ge=1, le=MOST_MEASUREMENTS)]


async def wanted(
    objective: Annotated[str, Query(max_length=200, description="The column of results.")] = "value",
    direction: Annotated[Literal["maximize", "minimize"], Query(description="Which results are better.")] = "maximize",
    seeds: Annotated[int, Query(ge=1, le=MOST_SEEDS, description="Studies to simulate for each batch size.")] = 10,
    batch_size: Annotated[
        list[SimulatedSize], Query(min_length=1, max_length=MOST_SIZES, description="Sizes to compare.")
    ] = [5],  # noqa: B006
    measurements: Annotated[
        int | None, Query(ge=1, le=MOST_MEASUREMENTS, description="Of each study; by default 100, or all of the list.")
    ] = None,
    within: Annotated[
        float | None,
        Query(
            ge=0, allow_inf_nan=False, description="How close to the best is good enough; by default 5 % of the range."
        ),
    ] = None,
    settings: Annotated[
        str, Query(max_length=10_000, description="Further settings of a study, as JSON.", examples=['{"seed": 7}'])
    ] = "{}",
) -> BacktestForm:
    try:
        further = ForkSettings.model_validate_json(settings)
    except ValidationError as error:
        places = [{**mistake, "loc": ("query", "settings", *mistake["loc"])} for mistake in error.errors()]
        raise RequestValidationError(places) from None
    named = ForkSettings.model_validate({"objective": objective, "direction": direction})
    plan = BacktestIn(seeds=seeds, batch_sizes=batch_size, measurements=measurements, within=within)
    form = plan.form()
    return BacktestForm(
        lambda configuration: further.over(named.over(configuration)),
        form.seeds,
        form.batch_sizes,
        form.measurements,
        form.within,
    )


@router.post(
    "",
    summary="Simulate studies on a list whose results are known",
    response_model=ListBacktestOut,
    responses=WRITES
    | documented("unsupported-media-type", "invalid-input", "invalid-candidates", "idempotency-key-reused")
    | {201: {"model": ListBacktestOut, "description": "Started"}},
    openapi_extra=BODY,
)
async def start_list_backtest(
    body: Uploaded,
    form: Annotated[BacktestForm, Depends(wanted)],
    tx: CanUpload,
    resources: ResourcesDep,
    run_long: RunLong,
) -> Response:
    """Runs in the background, and leaves no study behind. Candidates without a result are left out."""
    with resources.memory.reserve(body.memory):
        return respond(await run_long(partial(backtests.start, resources, tx, body, form, _started)))


@router.get("", summary="The backtests of lists that this key has started")
def list_list_backtests(
    tx: CanExport,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> ListBacktestPageOut:
    """Each with its plan and how far it is."""
    page = tx.read(backtests.list_backtests, after, limit)
    shown = tuple(list_backtest_out(backtest) for backtest in page)
    return ListBacktestPageOut(backtests=shown, next=page[-1].number if len(page) == limit else None)


@router.get(
    "/{number}",
    summary="A backtest of a list: how far it is, and what came out",
    description=f"Only the key that started it sees it, for {LIST_DAYS} days.",
)
def read_list_backtest(number: BacktestNumber, tx: CanExport) -> ListBacktestOut:
    return list_backtest_out(tx.read(backtests.read, number))


@router.post(
    "/{number}/cancel",
    summary="End a backtest of a list; one that has ended stays as it is",
    response_model=ListBacktestOut,
    responses=WRITES,
)
def cancel_list_backtest(number: BacktestNumber, tx: CanManage) -> Response:
    """Its process ends, and it stays listed as cancelled."""
    return respond(tx.write_once(backtests.cancel, number, answer=_shown))


def _started(backtest: Backtest) -> Answer:
    return answer(list_backtest_out(backtest), 201)


def _shown(backtest: Backtest) -> Answer:
    return answer(list_backtest_out(backtest))
