"""INSERT … ON CONFLICT DO NOTHING, in the words of either database."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

_INSERTS: Mapping[str, Callable[[Table], Any]] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}

Row = Mapping[str, Any]


def insert_if_absent(connection: Connection, table: Table, row: Row) -> bool:
    """Insert a row unless its key is there; whether it was inserted."""
    statement = _insert(connection, table).values(**row).returning(table.primary_key.columns[0])
    return connection.execute(statement).first() is not None


def insert_missing(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert those rows whose keys are not there."""
    if rows:
        connection.execute(_insert(connection, table), rows)


def _insert(connection: Connection, table: Table) -> Any:
    return _INSERTS[connection.dialect.name](table).on_conflict_do_nothing()
