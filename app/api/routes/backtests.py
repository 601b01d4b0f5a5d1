"""/v1/studies/{study}/backtests"""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanManage, CanRead, ResourcesDep, RunLong
from app.api.responses import answer, respond
from app.api.routes import COMMON, OF_A_STUDY, WRITES
from app.api.schemas.backtests import BacktestIn, BacktestOut, BacktestPageOut, backtest_out
from app.api.schemas.shape import Name
from app.domain.backtests import Backtest
from app.services.transactions import Answer
from app.services.workflows import backtest as backtests

router = APIRouter(
    prefix="/v1/studies/{study}/backtests", tags=["backtests"], route_class=StrictRoute, responses=COMMON | OF_A_STUDY
)

BacktestNumber = Annotated[int, Path(ge=1, lt=2**31, description="The number of the backtest.")]


@router.post(
    "",
    summary="Simulate studies on what this one has measured",
    response_model=BacktestOut,
    responses=WRITES | {201: {"model": BacktestOut, "description": "Started"}},
)
async def start_backtest(
    study: Name, wanted: BacktestIn, tx: CanManage, resources: ResourcesDep, run_long: RunLong
) -> Response:
    """Runs in the background. It pretends to know nothing, asks for batches and looks the results up, again and
    again.
    """
    return respond(await run_long(partial(backtests.start, resources, tx, study, wanted.form(), _started)))


@router.get("", summary="The backtests of a study")
def list_backtests(
    study: Name,
    tx: CanRead,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> BacktestPageOut:
    """Each with its plan and how far it is."""
    page = tx.read(backtests.list_backtests, study, after, limit)
    shown = tuple(backtest_out(backtest) for backtest in page)
    return BacktestPageOut(backtests=shown, next=page[-1].number if len(page) == limit else None)


@router.get("/{number}", summary="A backtest: how far it is, and what came out")
def read_backtest(study: Name, number: BacktestNumber, tx: CanRead) -> BacktestOut:
    """Once it has ended: how many measurements it takes to come close to the best, with an interval, beside random
    choice.
    """
    return backtest_out(tx.read(backtests.read, study, number))


@router.post(
    "/{number}/cancel",
    summary="End a backtest; one that has ended stays as it is",
    response_model=BacktestOut,
    responses=WRITES,
)
def cancel_backtest(study: Name, number: BacktestNumber, tx: CanManage) -> Response:
    """Its process ends, and it stays listed as cancelled."""
    return respond(tx.write_once(backtests.cancel, study, number, answer=_shown))


def _started(backtest: Backtest) -> Answer:
    return answer(backtest_out(backtest), 201)


def _shown(backtest: Backtest) -> Answer:
    return answer(backtest_out(backtest))
