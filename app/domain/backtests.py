"""Backtests: simulated studies on candidates whose results are known. "How many experiments will I need?" """

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from app.domain.studies import Configuration

MOST_SEEDS = 100
MOST_SIZES = 5
MOST_STEPS = 20_000  # simulated measurements of one backtest
FEWEST_CANDIDATES = 3
MOST_LISTED = 100_000  # candidates of a list that belongs to no study
MOST_LISTED_CELLS = 5_000_000
MOST_OF_A_KEY = 3  # backtests of lists that wait or run
LIST_DAYS = 30  # that the backtest of a list is kept
SHARE = 0.8  # of simulated studies that an interval is about


class BacktestState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"  # `problem` says why


@dataclass(frozen=True)
class BacktestPlan:
    """What to simulate: each batch size with each seed, up to so many measurements."""

    configuration: Configuration
    seeds: int
    batch_sizes: tuple[int, ...]
    measurements: int
    within: float  # of the best value: that is good enough, in the unit of the objective

    @property
    def runs(self) -> int:
        return self.seeds * len(self.batch_sizes)


@dataclass(frozen=True)
class Needed:
    """How many measurements it takes until the best so far is good enough; None: more than were simulated.

    Four of five further studies are expected between `low` and `high`.
    """

    low: int | None
    median: int | None
    high: int | None
    reached: float  # the share of the simulated studies that came so far


@dataclass(frozen=True)
class CurvePoint:
    """The best value so far after some measurements, over the simulated studies."""

    measurements: int
    low: float
    median: float
    high: float


@dataclass(frozen=True)
class SimulatedChoice:
    """What one way of choosing achieved."""

    choice: Literal["study", "random"]
    batch_size: int | None  # random choice has none
    needed: Needed
    curve: tuple[CurvePoint, ...]
    words: str


@dataclass(frozen=True)
class BacktestResult:
    candidates: int  # whose results are known
    best: float
    within: float
    choices: tuple[SimulatedChoice, ...]


@dataclass(frozen=True)
class Backtest:
    """A backtest of a study or of a list: what was asked for, how far it is, and what came out."""

    number: int
    state: BacktestState
    plan: BacktestPlan
    done: int  # simulated studies
    created_at: str
    updated_at: str
    result: BacktestResult | None = None
    problem: str | None = None
    seq: int = 0  # the last event of the study's ledger that it knows
