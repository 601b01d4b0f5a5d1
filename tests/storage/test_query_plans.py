"""Statements that every report runs find their rows by an index, so a report costs the same however long the study is.

Neither database has statistics here. SQLite never has any on a server, and would rather walk along an index that gives
the order. PostgreSQL has none until it first looks at a new table, after a minute or so.
"""

from typing import Any

import pytest
from sqlalchemy import Connection, text

from app.domain.events import ObservationsReported
from app.domain.observations import Measured, ReportedObservation
from app.domain.studies import Configuration, Study
from app.storage import batches, ledger, observations, studies
from app.storage.database import Database
from app.storage.prepared import Prepared
from tests.conftest import OPERATOR, on_sqlite

STATEMENTS: dict[str, tuple[Prepared, dict[str, Any], str]] = {
    "results of candidates": (observations._RECORDED_OF, {"candidates": [1]}, "(study_id=? AND candidate=?)"),
    "equal values of candidates": (
        observations._EQUAL_VALUES,
        {"candidates": [1], "texts": ["{}"], "beginning": "{", "length": 1},
        "(study_id=? AND candidate=?)",
    ),
    "results of batches": (observations._OF_BATCHES, {"batches": [1]}, "(study_id=? AND batch=?)"),
    "results with references": (observations._WITH_REFS, {"refs": ["a"]}, "(study_id=? AND ref=?)"),
    "results by number": (observations._NUMBERED, {"numbers": [1]}, "(study_id=? AND number=?)"),
    "results of suggestions": (
        observations._ANSWERING,
        {"batches": [1], "ranks": [1]},
        "(study_id=? AND batch=? AND rank=? AND replicate>?)",
    ),
    "measured suggestions": (
        observations._COMPLETED,
        {"batches": [1], "ranks": [1]},
        "(study_id=? AND batch=? AND rank=?)",
    ),
    "suggestions by id": (
        batches._SUGGESTIONS_WITH,
        {"batches": [1], "ranks": [1]},
        "(study_id=? AND batch=? AND rank=?)",
    ),
    "pending suggestions": (batches._SUGGESTIONS_IN, {"state": "pending"}, "(study_id=? AND state=?)"),
    "suggestions of batches": (batches._SUGGESTIONS_OF, {"batches": [1]}, "(study_id=? AND batch=?)"),
    "suggestions of candidates": (batches._SUGGESTIONS_FOR, {"candidates": [1]}, "(study_id=? AND candidate=?)"),
}


def plan(database: Database, statement: Prepared, parameters: dict[str, Any]) -> list[str]:
    """What SQLite says it will do, step by step."""
    with database.read() as connection:
        text, constants = statement._compile(connection, parameters)
        named = constants | {f"{name}_1": value[0] for name, value in parameters.items() if isinstance(value, list)}
        plain = {name: value for name, value in parameters.items() if not isinstance(value, list)}
        cursor = connection.connection.cursor()
        cursor.execute(f"EXPLAIN QUERY PLAN {text}", named | plain)
        return [step[3] for step in cursor.fetchall()]


@on_sqlite
@pytest.mark.parametrize("name", STATEMENTS)
def test_rows_are_found_by_more_than_their_study(database: Database, name: str) -> None:
    statement, parameters, by = STATEMENTS[name]
    steps = plan(database, statement, {"study": 1, **parameters})
    assert any(step.endswith(by) for step in steps)
    assert [step for step in steps if step.startswith("SCAN") or step.endswith("(study_id=?)")] == []


RESULTS = 400
_ROWS_READ = text(
    "SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables"
    " WHERE relname = 'observations'"
)


@pytest.fixture
def study(database: Database) -> Study:
    """A study whose results all have references."""
    reported = tuple(
        ReportedObservation(number, number, {"value": Measured(0.5)}, None, None, f"ref {number}", None, None, None)
        for number in range(1, RESULTS + 1)
    )
    with database.write() as connection:
        made = studies.create(connection, "s", Configuration())
        assert made is not None
        return ledger.append(connection, made, OPERATOR, ObservationsReported(reported, 1, None))


def rows_read(connection: Connection) -> int:
    """How many results PostgreSQL has read in this transaction."""
    return int(connection.execute(_ROWS_READ).scalar_one())


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_a_reference_is_found_without_reading_all_results_for_each_result(database: Database, study: Study) -> None:
    with database.write() as connection:
        for number in range(1, 21):  # after the tenth, PostgreSQL keeps a plan for any parameters
            before = rows_read(connection)
            assert observations.with_refs(connection, study, [f"ref {number}"]).keys() == {f"ref {number}"}
            assert rows_read(connection) - before <= 2 * RESULTS
