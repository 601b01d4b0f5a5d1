"""Backtest a study: simulate studies on what it has measured, in the background, and keep what came out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from time import monotonic

import numpy as np
import structlog
from sqlalchemy import Connection

from app.compute.simulations import SimulationFailed
from app.domain import backtests as domain
from app.domain.access import Actor
from app.domain.backtests import Backtest, BacktestPlan, BacktestState
from app.domain.errors import Finding, Invalid, Missing, Overloaded
from app.domain.studies import Configuration, Study
from app.modelling.backtesting import good_enough, result_of
from app.modelling.engine_settings import check_configuration
from app.modelling.ledger_state import LedgerState
from app.modelling.simulating import KnownTable
from app.services.resources import Resources
from app.services.transactions import Answer, ReadTransactions, WriteTransactions
from app.services.use_cases import studies
from app.storage import backtests as rows

MOST_ACTIVE = 50  # that wait or run, of all studies
HEARTBEAT_SECONDS = 20.0
SILENT = timedelta(minutes=3)  # a backtest that runs says more often how far it is
LONGEST_WAIT = timedelta(hours=12)
STOPPED = "The server was stopped before it was finished. Start it again."


@dataclass(frozen=True)
class BacktestForm:
    """What was asked for; None: as the study and its results suggest."""

    settings: Callable[[Configuration], Configuration]
    seeds: int
    batch_sizes: tuple[int, ...]
    measurements: int | None = None
    within: float | None = None


RenderBacktest = Callable[[Backtest], Answer]


def start(resources: Resources, tx: WriteTransactions, name: str, form: BacktestForm, answer: RenderBacktest) -> Answer:
    """Check the plan, store it and begin; the answer comes at once."""
    study, table, plan = tx.read(_prepare, resources, name, form)
    started: list[Backtest] = []

    def store(connection: Connection, actor: Actor) -> Backtest:
        if rows.count_active(connection) >= MOST_ACTIVE:
            raise Overloaded("Too many backtests run or wait already. Try again later.")
        started.append(rows.add(connection, studies.lock(connection, actor, name), plan))
        return started[-1]

    stored = tx.write_once(store, answer=answer)
    for backtest in started[-1:]:  # none if this is the repetition of a request
        key = ("backtest", study.id, backtest.number)
        watch = _Watch(ReadTransactions(tx.database, tx.actor), study.id, backtest.number)
        resources.backtests.start(tx.actor.key.id, key, _run, resources, watch, table, plan)
    return stored


def cancel(connection: Connection, actor: Actor, name: str, number: int) -> Backtest:
    """End a backtest; one that has ended already stays as it is."""
    study = studies.lock(connection, actor, name)
    rows.move(connection, study.id, number, BacktestState.CANCELLED)
    return _found(rows.find(connection, study.id, number))


def read(connection: Connection, actor: Actor, name: str, number: int) -> Backtest:
    return _found(rows.find(connection, studies.find(connection, actor, name).id, number))


def list_backtests(connection: Connection, actor: Actor, name: str, after: int, limit: int) -> list[Backtest]:
    study = studies.find(connection, actor, name)
    return [_as_seen(backtest) for backtest in rows.every(connection, study.id, after, limit)]


def _found(backtest: Backtest | None) -> Backtest:
    if backtest is None:
        raise Missing("This study has no backtest of this number.")
    return _as_seen(backtest)


def _as_seen(backtest: Backtest) -> Backtest:
    """A backtest whose server went away will never be finished."""
    patience = {BacktestState.RUNNING: SILENT, BacktestState.WAITING: LONGEST_WAIT}.get(backtest.state)
    if patience is None or datetime.now(UTC) - datetime.fromisoformat(backtest.updated_at) < patience:
        return backtest
    return replace(backtest, state=BacktestState.FAILED, problem=STOPPED)


def _prepare(
    connection: Connection, actor: Actor, resources: Resources, name: str, form: BacktestForm
) -> tuple[Study, KnownTable, BacktestPlan]:
    study = studies.find(connection, actor, name)
    configuration = form.settings(study.configuration)
    check_configuration(configuration)
    if not configuration.is_plain or configuration.objective.name != study.configuration.objective.name:
        message = "A backtest is about one objective without constraints: the first objective of the study."
        raise Invalid([Finding("objectives", message, pointer="/configuration/objectives")])
    table = _table(connection, resources, study)
    return study, table, plan_of(table, configuration, form)


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


def _table(connection: Connection, resources: Resources, study: Study) -> KnownTable:
    state = resources.ledger_states.read(connection, study.id, study.seq).of_first()
    measured, positions = np.unique(state.candidates[state.counted], return_inverse=True)
    order = np.argsort(positions, kind="stable")
    arrays = [block.arrays for block in state.blocks]

    def load(digests: list[str]) -> np.ndarray:
        return np.concatenate([resources.arrays.load(connection, digest) for digest in digests])[measured]

    molecules = arrays[-1].fingerprints.items() if arrays else ()
    return KnownTable(
        columns=state.columns,
        numbers=load([block.numbers for block in arrays]) if arrays else np.empty((0, 0)),
        codes=load([block.codes for block in arrays]) if arrays else np.empty((0, 0), dtype="<i4"),
        values=_values(state)[order],
        ends=np.cumsum(np.bincount(positions, minlength=len(measured))),
        fingerprints={name: resources.arrays.load(connection, digest) for name, digest in molecules},
    )


def _values(state: LedgerState) -> np.ndarray:
    return np.asarray(state.values[state.counted])


def _run(resources: Resources, watch: "_Watch", table: KnownTable, plan: BacktestPlan) -> None:
    """The job: simulate, tell how far it is, and store what came out."""
    if not watch.proceed(0):
        return
    try:
        runs = resources.simulations.run(table, plan, watch.proceed)
        if runs is not None:
            result = rows.result_text(result_of(table, plan, runs))
            watch.move(BacktestState.FINISHED, done=plan.runs, result=result)
    except SimulationFailed as error:
        watch.move(BacktestState.FAILED, problem=str(error))
    except Exception:  # nobody waits for this job: what went wrong must be seen where people look
        structlog.get_logger().exception("a backtest failed")
        watch.move(BacktestState.FAILED, problem="An error of the server; its log says more.")


class _Watch:
    """Writes how far a backtest is, and reads whether somebody has cancelled it."""

    def __init__(self, tx: ReadTransactions, study_id: int, number: int) -> None:
        self._tx = tx
        self._study_id, self._number = study_id, number
        self._told, self._told_at = -1, 0.0

    def proceed(self, done: int) -> bool:
        if done != self._told or monotonic() - self._told_at > HEARTBEAT_SECONDS:
            self._told, self._told_at = done, monotonic()
            self.move(BacktestState.RUNNING, done=done)
        backtest = self._tx.read(lambda connection, _actor: rows.find(connection, self._study_id, self._number))
        return backtest is not None and backtest.state in rows.ACTIVE

    def move(self, state: BacktestState, **values: object) -> None:
        """Unless it was cancelled."""

        def write(connection: Connection, _actor: Actor) -> None:
            rows.move(connection, self._study_id, self._number, state, **values)

        self._tx.record(write)
