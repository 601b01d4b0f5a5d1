"""Backtests on the wire."""

from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field

from app.api.schemas.forks import ForkSettings
from app.api.schemas.shape import Request, Shape
from app.api.schemas.studies import StudySettings, settings_of
from app.domain.backtests import LIST_DAYS, MOST_SEEDS, MOST_SIZES, Backtest, BacktestState
from app.domain.clock import stamp
from app.domain.limits import MOST_MEASUREMENTS
from app.services.workflows.backtest_job import BacktestForm


class BacktestIn(Request):
    """What to simulate; everything has a default."""

    seeds: int = Field(default=10, ge=1, le=MOST_SEEDS, description="How many studies to simulate for each batch size.")
    batch_sizes: list[int] = Field(
        default=[5], min_length=1, max_length=MOST_SIZES, description="Sizes to compare.", examples=[[1, 5, 20]]
    )
    measurements: int | None = Field(
        default=None, ge=1, le=MOST_MEASUREMENTS, description="Of each study; by default 100, or all that are known."
    )
    within: float | None = Field(
        default=None,
        ge=0,
        description="How close to the best known value is good enough, in the unit of the objective; by default 5 % of "
        "the range of the known values.",
    )
    configuration: ForkSettings = Field(default=ForkSettings(), description="Settings that differ from the study's.")

    def form(self) -> BacktestForm:
        sizes = tuple(dict.fromkeys(max(1, min(size, MOST_MEASUREMENTS)) for size in self.batch_sizes))
        return BacktestForm(self.configuration.over, self.seeds, sizes, self.measurements, self.within)


class NeededOut(Shape):
    """Measurements until good enough; null: more than were simulated. Four of five further studies: `low` to `high`."""

    low: int | None
    median: int | None
    high: int | None
    reached: float = Field(description="The share of the simulated studies that came so far.")


class CurvePointOut(Shape):
    measurements: int
    low: float
    median: float
    high: float


class SimulatedChoiceOut(Shape):
    choice: Literal["study", "random"]
    batch_size: int | None
    needed: NeededOut
    curve: tuple[CurvePointOut, ...] = Field(description="The best so far: median, and four fifths of the studies.")
    words: str


class BacktestResultOut(Shape):
    candidates: int = Field(description="Whose results are known: the studies were simulated on these.")
    best: float
    within: float
    choices: tuple[SimulatedChoiceOut, ...]


class SimulationsOut(Shape):
    number: int
    state: BacktestState
    seeds: int
    batch_sizes: tuple[int, ...]
    measurements: int
    within: float
    configuration: StudySettings
    done: int = Field(description="Simulated studies so far.")
    total: int = Field(description="Simulated studies at the end.")
    created_at: str
    updated_at: str
    result: BacktestResultOut | None
    problem: str | None = Field(description="Why it failed.")


class BacktestOut(SimulationsOut):
    seq: int = Field(description="The last event of the ledger that it knows.")


class ListBacktestOut(SimulationsOut):
    expires_at: str = Field(description="When it is dropped.")


class BacktestPageOut(Shape):
    backtests: tuple[BacktestOut, ...]
    next: int | None = Field(description="Pass as `after` for the next page; null at the end.")


class ListBacktestPageOut(Shape):
    backtests: tuple[ListBacktestOut, ...]
    next: int | None = Field(description="Pass as `after` for the next page; null at the end.")


def backtest_out(backtest: Backtest) -> BacktestOut:
    return BacktestOut(**dict(_simulations_out(backtest)), seq=backtest.seq)


def list_backtest_out(backtest: Backtest) -> ListBacktestOut:
    expires_at = stamp(datetime.fromisoformat(backtest.created_at) + timedelta(days=LIST_DAYS))
    return ListBacktestOut(**dict(_simulations_out(backtest)), expires_at=expires_at)


def _simulations_out(backtest: Backtest) -> SimulationsOut:
    plan = backtest.plan
    return SimulationsOut(
        number=backtest.number,
        state=backtest.state,
        seeds=plan.seeds,
        batch_sizes=plan.batch_sizes,
        measurements=plan.measurements,
        within=plan.within,
        configuration=settings_of(plan.configuration),
        done=backtest.done,
        total=plan.runs,
        created_at=backtest.created_at,
        updated_at=backtest.updated_at,
        result=None if backtest.result is None else BacktestResultOut.model_validate(backtest.result),
        problem=backtest.problem,
    )
