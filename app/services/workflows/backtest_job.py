"""The job of a backtest: simulate studies in the background, tell how far it is, and store what came out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from time import monotonic

import structlog
from sqlalchemy import Connection

from app.compute.simulations import SimulationFailed, StoredTask
from app.domain import backtests as domain
from app.domain.access import Actor
from app.domain.backtests import Backtest, BacktestPlan, BacktestState
from app.domain.clock import stamp
from app.domain.errors import Finding, Invalid, Missing, Overloaded
from app.domain.studies import Configuration
from app.modelling.backtesting import good_enough, result_of
from app.modelling.simulating import KnownTable
from app.services.resources import Resources
from app.services.transactions import Answer, ReadTransactions, WriteTransactions
from app.storage import backtests as rows
from app.storage.backtests import Owner

MOST_ACTIVE = 50  # that wait or run, of everybody
HEARTBEAT_SECONDS = 20.0
SILENT = timedelta(minutes=3)  # a backtest that runs says more often how far it is
LONGEST_WAIT = timedelta(hours=12)
STOPPED = "The server was stopped before it was finished. Start it again."


@dataclass(frozen=True)
class BacktestForm:
    """What was asked for; None: as the settings and the results suggest."""

    settings: Callable[[Configuration], Configuration]
    seeds: int
    batch_sizes: tuple[int, ...]
    measurements: int | None = None
    within: float | None = None


RenderBacktest = Callable[[Backtest], Answer]
AddBacktest = Callable[[Connection, Actor], Backtest]


def plan_of(table: KnownTable, configuration: Configuration, form: BacktestForm) -> BacktestPlan:
    """The plan with everything decided; refused if it is too large, or too little is known."""
    known = len(table.ends)
    if known < domain.FEWEST_CANDIDATES:
        message = f"Results of at least {domain.FEWEST_CANDIDATES} candidates are needed, and {known} have some."
        raise Invalid([Finding("few-results", message)])
    most = min(form.measurements or 100, int(table.counts.sum()) if table.has_repeats else known)
    within = good_enough(configuration.objective, table) if form.within is None else form.within
    plan = BacktestPlan(configuration, form.seeds, form.batch_sizes, most, within)
    if plan.runs * most > domain.MOST_STEPS:
        message = f"This would simulate {plan.runs * most:,} measurements. Choose at most {domain.MOST_STEPS:,} in all."
        raise Invalid([Finding("too-much", message, pointer="/seeds")])
    return plan


def begin(
    resources: Resources,
    tx: WriteTransactions,
    owner: Owner,
    table: KnownTable,
    plan: BacktestPlan,
    add: AddBacktest,
    answer: RenderBacktest,
) -> Answer:
    """Store the backtest that `add` makes, and start its job; the repetition of a request starts nothing."""
    task = StoredTask(table, plan)  # on the disk, since many may wait
    started: list[Backtest] = []

    def store(connection: Connection, actor: Actor) -> Backtest:
        if count_active(connection) >= MOST_ACTIVE:
            raise Overloaded("Too many backtests run or wait already. Try again later.")
        started.append(add(connection, actor))
        return started[-1]

    stored = tx.write_once(store, answer=answer)
    for backtest in started[-1:]:
        key = ("backtest", owner.id, backtest.number)
        watch = _Watch(ReadTransactions(tx.database, tx.actor), owner, backtest.number)
        resources.backtests.start(tx.actor.key.id, key, _run, resources, watch, task, plan)
    return stored


def count_active(connection: Connection, owner: Owner | None = None) -> int:
    """How many wait or run, of an owner or of everybody, but for those whose server went away."""
    moment = datetime.now(UTC)
    alive_since = {state: stamp(moment - patience) for state, patience in _patience().items()}
    return rows.count_active(connection, alive_since, owner)


def _patience() -> dict[BacktestState, timedelta]:
    """How long a backtest may say nothing."""
    return {BacktestState.RUNNING: SILENT, BacktestState.WAITING: LONGEST_WAIT}


def found(backtest: Backtest | None) -> Backtest:
    if backtest is None:
        raise Missing("There is no backtest of this number.")
    return as_seen(backtest)


def as_seen(backtest: Backtest) -> Backtest:
    """A backtest whose server went away will never be finished."""
    patience = _patience().get(backtest.state)
    if patience is None or datetime.now(UTC) - datetime.fromisoformat(backtest.updated_at) < patience:
        return backtest
    return replace(backtest, state=BacktestState.FAILED, problem=STOPPED)


def _run(resources: Resources, watch: "_Watch", task: StoredTask, plan: BacktestPlan) -> None:
    """The job: simulate, tell how far it is, and store what came out."""
    try:
        runs = resources.simulations.run(task, plan, watch.proceed) if watch.proceed(0) else None
        if runs is not None:
            result = rows.result_text(result_of(task.table(), plan, runs))
            watch.move(BacktestState.FINISHED, done=plan.runs, result=result)
    except SimulationFailed as error:
        watch.move(BacktestState.FAILED, problem=str(error))
    except Exception:  # nobody waits for this job: what went wrong must be seen where people look
        structlog.get_logger().exception("a backtest failed")
        watch.move(BacktestState.FAILED, problem="An error of the server; its log says more.")
    finally:
        task.discard()


class _Watch:
    """Writes how far a backtest is, and reads whether somebody has cancelled it."""

    def __init__(self, tx: ReadTransactions, owner: Owner, number: int) -> None:
        self._tx = tx
        self._owner, self._number = owner, number
        self._told, self._told_at = -1, 0.0

    def proceed(self, done: int) -> bool:
        if done != self._told or monotonic() - self._told_at > HEARTBEAT_SECONDS:
            self._told, self._told_at = done, monotonic()
            self.move(BacktestState.RUNNING, done=done)
        backtest = self._tx.read(lambda connection, _actor: rows.find(connection, self._owner, self._number))
        return backtest is not None and backtest.state in rows.ACTIVE

    def move(self, state: BacktestState, **values: object) -> None:
        """Unless it was cancelled."""

        def write(connection: Connection, _actor: Actor) -> None:
            rows.move(connection, self._owner, self._number, state, **values)

        self._tx.record(write)
