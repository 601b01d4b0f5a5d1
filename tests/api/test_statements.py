"""How much the requests that come all the time ask of the database: most of what a statement costs is Python."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest
from sqlalchemy import Connection, event

from app.api import admissions
from app.services.resources import Resources
from app.storage import prepared
from tests.api.lab import Lab


@pytest.fixture
def statements(resources: Resources, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every statement but those that begin and end transactions (the look at the schema begins one), as they come."""
    seen: list[str] = []
    monkeypatch.setattr(admissions, "SECONDS", 60.0)  # as if everything happened within a second

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if not statement.startswith("BEGIN"):
            seen.append(statement)

    execute = prepared._execute

    def noted(connection: Connection, text: str, *rest: object, **options: bool) -> object:
        if not any(word in text for word in ("SAVEPOINT", "alembic_version")):
            seen.append(text)
        return execute(connection, text, *rest, **options)

    monkeypatch.setattr(prepared, "_execute", noted)
    database = resources.database  # PostgreSQL's two engines are one
    engines = {engine.pool: engine for engine in (database.reader, database.writer)}.values()
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    yield seen
    for engine in engines:
        event.remove(engine, "before_cursor_execute", note)


def test_a_report_takes_six_statements(lab: Lab, statements: list[str]) -> None:
    lab.begin().report(candidate="MeOH-40", value=0.2)  # the keys are read once
    statements.clear()
    lab.report(candidate="MeOH-50", value=0.3)
    assert len(statements) <= 6


@pytest.fixture
def rows_read(resources: Resources, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each prepared statement gives, as they come."""
    counts: list[int] = []
    tuples = prepared.Prepared.tuples

    def counted(*arguments: Any) -> list[tuple[Any, ...]]:
        rows = tuples(*arguments)
        counts.append(len(rows))
        return rows

    monkeypatch.setattr(prepared.Prepared, "tuples", counted)
    return counts


def test_a_report_reads_no_more_rows_when_its_candidate_was_measured_often(lab: Lab, rows_read: list[int]) -> None:
    lab.begin(repeats="allowed").report(candidate="MeOH-40", value=-1.0)
    rows_read.clear()
    assert lab.report(candidate="MeOH-40", value=-2.0).status_code == 201
    rarely_measured = sum(rows_read)
    lab.send({"observations": [{"key": "MeOH-40", "value": number / 7} for number in range(300)]})
    lab.report(candidate="MeOH-40", value=-3.0)  # after a call of many, the newest results are read once
    rows_read.clear()
    assert lab.report(candidate="MeOH-40", value=-4.0).status_code == 201
    assert sum(rows_read) <= rarely_measured
    assert lab.report(candidate="MeOH-40", value=100 / 7).json()["results"][0]["status"] == "duplicate"


def test_a_report_of_a_suggestion_reads_no_more_rows_when_its_batch_is_large(lab: Lab, rows_read: list[int]) -> None:
    lab.begin().measure(lab.batch(max_size=3))
    read = []
    for size in (3, 12):
        batch = lab.batch(min_size=size, max_size=size)
        for suggestion in batch["suggestions"]:
            rows_read.clear()
            assert lab.report(suggestion=suggestion["suggestion"], value=0.5).status_code == 201
        read.append(sum(rows_read))
    assert read[0] == read[1]


def test_a_report_of_a_batch_takes_as_many_however_large_it_is(lab: Lab, statements: list[str]) -> None:
    lab.begin().measure(lab.batch(max_size=6))
    taken = []
    for size in (2, 6):
        batch = lab.batch(max_size=size, min_size=size)
        statements.clear()
        lab.measure(batch)
        # PostgreSQL is sent the rows of a table in parts of fifty values, without waiting in between
        texts = ["INSERT INTO observations" if "INTO observations" in text else text for text in statements]
        taken.append(len([text for text, _ in groupby(texts)]))
    assert taken[0] == taken[1] <= 12


def test_an_ask_takes_sixteen_statements(lab: Lab, statements: list[str]) -> None:
    lab.begin().work(2)
    statements.clear()
    lab.batch()
    assert len(statements) <= 16
