"""INSERT … ON CONFLICT DO NOTHING, in the words of either database."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

_INSERTS: Mapping[str, Callable[[Table], Any]] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}

Row = Mapping[str, Any]


def insert_if_absent(connection: Connection, table: Table, row: Row) -> bool:
    """Insert a row unless its key is there; whether it was inserted."""
    return connection.execute(_returning(connection.dialect.name, table), row).first() is not None


def insert_missing(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert those rows whose keys are not there."""
    if rows:
        connection.execute(_insert(connection.dialect.name, table), rows)


@cache
def _insert(dialect: str, table: Table) -> Any:
    return _INSERTS[dialect](table).on_conflict_do_nothing()


@cache
def _returning(dialect: str, table: Table) -> Any:
    return _insert(dialect, table).returning(table.primary_key.columns[0])
