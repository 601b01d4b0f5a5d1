"""Statements that every report runs find their rows by an index, so a report costs the same however long the study is.

SQLite has no statistics here, as on a server: it would rather walk along an index that gives the order.
"""

from typing import Any

import pytest

from app.storage import batches, observations
from app.storage.database import Database
from app.storage.prepared import Prepared
from tests.conftest import on_sqlite

STATEMENTS: dict[str, tuple[Prepared, dict[str, Any], str]] = {
    "results of candidates": (observations._RECORDED_OF, {"candidates": [1]}, "(study_id=? AND candidate=?)"),
    "results of batches": (observations._OF_BATCHES, {"batches": [1]}, "(study_id=? AND batch=?)"),
    "results with references": (observations._WITH_REFS, {"refs": ["a"]}, "(study_id=? AND ref=?)"),
    "measured suggestions": (observations._COMPLETED, {"batches": [1]}, "(study_id=? AND batch=?)"),
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
