"""Backtest a list whose results are known: nothing of it is stored but the plan and what came out, for a while."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sqlalchemy import Connection

from app.arrays import Array, FloatArray, IndexArray
from app.domain import backtests as domain
from app.domain.access import Actor
from app.domain.backtests import Backtest, BacktestState
from app.domain.candidates import ColumnKind, ColumnRole
from app.domain.errors import Finding, Invalid, Overloaded
from app.domain.studies import Configuration
from app.modelling.engine_settings import check_configuration
from app.modelling.simulating import KnownTable
from app.services.intake.columns import Declared
from app.services.intake.findings import refuse
from app.services.intake.limits import IntakeLimits
from app.services.intake.molecules import with_molecules
from app.services.intake.uploads import Upload, read_table
from app.services.resources import Resources
from app.services.transactions import Answer, WriteTransactions
from app.services.workflows.backtest_job import (
    BacktestForm,
    RenderBacktest,
    as_seen,
    begin,
    count_active,
    found,
    plan_of,
)
from app.storage import backtests as rows
from app.storage.backtests import of_key


def start(
    resources: Resources, tx: WriteTransactions, upload: Upload, form: BacktestForm, answer: RenderBacktest
) -> Answer:
    """Read the list, check the plan, store it and begin; the answer comes at once."""
    stored_answer = tx.stored_answer()
    if stored_answer is not None:
        return stored_answer
    configuration = configuration_of(form)
    table, _warnings = read_known(upload, configuration.objective.name, _limits(resources))
    plan = plan_of(table, configuration, form)
    key_id = tx.actor.key.id

    def add(connection: Connection, _actor: Actor) -> Backtest:
        backtest = rows.add_of_list(connection, key_id, plan)  # which waits for other requests of the key
        if count_active(connection, of_key(key_id)) > domain.MOST_OF_A_KEY:
            message = f"{domain.MOST_OF_A_KEY} backtests of this key run or wait already. Cancel one, or wait."
            raise Overloaded(message)
        return backtest

    return begin(resources, tx, of_key(key_id), table, plan, add, answer)


def cancel(connection: Connection, actor: Actor, number: int) -> Backtest:
    """End a backtest; one that has ended already stays as it is."""
    owner = of_key(actor.key.id)
    rows.move(connection, owner, number, BacktestState.CANCELLED)
    return found(rows.find(connection, owner, number))


def read(connection: Connection, actor: Actor, number: int) -> Backtest:
    return found(rows.find(connection, of_key(actor.key.id), number))


def list_backtests(connection: Connection, actor: Actor, after: int, limit: int) -> list[Backtest]:
    """Those that the key has started itself."""
    return [as_seen(backtest) for backtest in rows.every(connection, of_key(actor.key.id), after, limit)]


def read_known(upload: Upload, objective: str, limits: IntakeLimits) -> tuple[KnownTable, Sequence[Finding]]:
    """The candidates of a list that have a result in the column `objective`, and what the reading noticed."""
    roles: dict[str, ColumnRole] = {**upload.declared.roles, objective: "attribute"}
    kinds: dict[str, ColumnKind] = {**upload.declared.kinds, objective: "number"}
    declared = Declared(upload.declared.key, roles, kinds, upload.declared.expenses)
    table = with_molecules(read_table(replace(upload, declared=declared), limits), upload.smiles)
    if objective not in table.attributes:
        columns = ", ".join(column.name for column in table.columns)
        message = f"The list has no column `{objective}`. Name the column of results; the list has {columns}."
        raise refuse("no-results", message)
    results: FloatArray = np.array([np.nan if v is None else v for v in table.attributes[objective]], dtype=float)
    measured = np.flatnonzero(~np.isnan(results))
    first, candidates = _alike(table.numbers[measured], table.codes[measured])
    known = KnownTable(
        columns=table.columns,
        numbers=table.numbers[measured][first],
        codes=table.codes[measured][first],
        values=results[measured][np.argsort(candidates, kind="stable")],
        ends=np.cumsum(np.bincount(candidates, minlength=len(first))),
        fingerprints=table.fingerprints,
    )
    return known, [_as_repeats(warning, len(measured) - len(first)) for warning in table.warnings]


def _alike(numbers: Array, codes: Array) -> tuple[IndexArray, IndexArray]:
    """The first row of each candidate, and the candidate of each row: rows with the same features are repeats of it."""
    features = np.column_stack((numbers, codes))
    _, first, alike = np.unique(features, axis=0, return_index=True, return_inverse=True)
    in_order = np.argsort(first)
    return first[in_order], np.argsort(in_order)[alike.ravel()]


def _as_repeats(warning: Finding, repeats: int) -> Finding:
    """What rows with the same features mean in a list of results."""
    if warning.code != "repeated-features":
        return warning
    repeat = "1 row repeats" if repeats == 1 else f"{repeats:,} rows repeat"
    message = f"{repeat} the features of an earlier row, and count as repeated measurements of the same candidate."
    return replace(warning, message=message)


def configuration_of(form: BacktestForm) -> Configuration:
    """The settings of the simulated studies; refused unless they have one objective and no constraints."""
    configuration = form.settings(Configuration())
    check_configuration(configuration)
    if not configuration.is_plain:
        message = "A backtest is about one objective without constraints."
        raise Invalid([Finding("objectives", message, pointer="/configuration/objectives")])
    return configuration


def _limits(resources: Resources) -> IntakeLimits:
    settings = resources.settings
    return IntakeLimits(
        rows=min(settings.max_candidates, domain.MOST_LISTED),
        columns=settings.max_columns,
        cells=min(settings.max_cells, domain.MOST_LISTED_CELLS),
    )
