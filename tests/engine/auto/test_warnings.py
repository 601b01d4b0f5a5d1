"""What a user is told about a table before the first measurement."""

import numpy as np
import pytest
from hypothesis import given

from app.engine.auto import FeatureColumn, TableWarning, table_warnings
from tests.engine.auto.strategies import Table, tables


def warnings_of(*columns: list[float]) -> list[TableWarning]:
    """For columns of numbers named c0, c1, …"""
    numbers = np.array(columns, dtype=float).T
    named = [FeatureColumn(f"c{i}", "number") for i in range(len(columns))]
    return table_warnings(named, numbers, np.zeros((len(numbers), 0), dtype=np.int32))


def texts(levels: int, rows: int) -> list[TableWarning]:
    """For one text column with so many levels."""
    columns = [FeatureColumn("ligand", "text", tuple(f"level {i}" for i in range(levels)))]
    codes = (np.arange(rows) % levels).astype(np.int32)[:, None]
    return table_warnings(columns, np.zeros((rows, 0)), codes)


def test_nearly_duplicate_columns_are_named_once_with_the_column_they_repeat() -> None:
    first = np.arange(1.0, 11) ** 1.3
    duplicates = warnings_of(first.tolist(), (10 * first).tolist(), (-3 * first).tolist(), [1.0, 0.0] * 5)
    assert [(warning.code, warning.column) for warning in duplicates] == [
        ("nearly-duplicate-column", "c1"),
        ("nearly-duplicate-column", "c2"),
    ]
    assert all("almost the same as c0" in warning.message for warning in duplicates)


def test_columns_are_compared_as_the_model_reads_them() -> None:
    """In their logarithms, a column that spans decades and its square are the same; the numbers themselves are not."""
    decades, units = np.geomspace(1, 100, 10), np.linspace(1, 4, 10)
    assert [warning.column for warning in warnings_of(decades.tolist(), (decades**2).tolist())] == ["c1"]
    assert warnings_of(units.tolist(), (units**2).tolist()) == []


@pytest.mark.parametrize(
    ("levels", "rows", "warned"), [(2, 10, False), (6, 11, True), (6, 12, False), (50, 900, False), (51, 900, True)]
)
def test_a_text_with_many_levels_for_its_candidates_is_named(levels: int, rows: int, warned: bool) -> None:
    expected = [("many-levels", "ligand")] if warned else []
    assert [(warning.code, warning.column) for warning in texts(levels, rows)] == expected


def test_a_short_table_is_no_evidence() -> None:
    assert warnings_of([1.0, 2.0], [3.0, 5.0]) == []
    assert texts(levels=9, rows=9) == []


def test_columns_that_say_something_of_their_own_are_not_mentioned() -> None:
    rng = np.random.default_rng(0)
    assert warnings_of(*rng.random((6, 40)).tolist()) == []


def test_a_long_table_is_compared_in_part() -> None:
    values = np.random.default_rng(0).random(50_000)
    assert [warning.column for warning in warnings_of(values.tolist(), (3 * values).tolist())] == ["c1"]


@given(tables(max_rows=20))
def test_no_table_is_too_odd_to_be_looked_at(table: Table) -> None:
    columns, numbers, codes = table
    names = {column.name for column in columns}
    assert {warning.column for warning in table_warnings(columns, numbers, codes)} <= names
