"""Backtest a study: simulate studies on what it has measured, in the background, and keep what came out."""

import numpy as np
from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.backtests import Backtest, BacktestPlan, BacktestState
from app.domain.errors import Finding, Invalid
from app.domain.studies import Study
from app.modelling.engine_settings import check_configuration
from app.modelling.ledger_state import LedgerState
from app.modelling.simulating import KnownTable
from app.services.resources import Resources
from app.services.transactions import Answer, WriteTransactions
from app.services.use_cases import studies
from app.services.workflows.backtest_job import BacktestForm, RenderBacktest, as_seen, begin, found, plan_of
from app.storage import backtests as rows
from app.storage.backtests import of_study


def start(resources: Resources, tx: WriteTransactions, name: str, form: BacktestForm, answer: RenderBacktest) -> Answer:
    """Check the plan, store it and begin; the answer comes at once."""
    study, table, plan = tx.read(_prepare, resources, name, form)

    def add(connection: Connection, actor: Actor) -> Backtest:
        return rows.add(connection, studies.lock(connection, actor, name), plan)

    return begin(resources, tx, of_study(study.id), table, plan, add, answer)


def cancel(connection: Connection, actor: Actor, name: str, number: int) -> Backtest:
    """End a backtest; one that has ended already stays as it is."""
    owner = of_study(studies.lock(connection, actor, name).id)
    rows.move(connection, owner, number, BacktestState.CANCELLED)
    return found(rows.find(connection, owner, number))


def read(connection: Connection, actor: Actor, name: str, number: int) -> Backtest:
    return found(rows.find(connection, of_study(studies.find(connection, actor, name).id), number))


def list_backtests(connection: Connection, actor: Actor, name: str, after: int, limit: int) -> list[Backtest]:
    study = studies.find(connection, actor, name)
    return [as_seen(backtest) for backtest in rows.every(connection, of_study(study.id), after, limit)]


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
