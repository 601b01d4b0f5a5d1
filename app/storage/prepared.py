"""Statements that are compiled once and then run on the driver's own cursor: for what every report does.

SQLAlchemy's own `execute` takes some 50 µs of Python for a statement that SQLite answers in 5. Failures are raised as
SQLAlchemy raises them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Insert, Select, Table, Update
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler

Parameters = Mapping[str, Any]
Row = tuple[Any, ...]

WAITING = "waiting rows"
"""In the `info` of a connection: the rows that a group of writes sends later (`waiting_rows.py`)."""
VALUES_AT_ONCE = 50  # of one INSERT on PostgreSQL: psycopg reads the text of a longer one anew each time
COPIED = 100  # from so many rows on, PostgreSQL takes them by COPY

_SQLITE = sqlite.dialect(paramstyle="named")


class Prepared:
    """A statement of named parameters; `columns` are those that an INSERT or UPDATE sets.

    `listed` are the parameters of `IN (…)`: each is given a sequence. Its last item is repeated until its length is a
    power of two, which changes nothing, so that few lengths are compiled. A statement that `overtakes` does not ask for
    anything that rows in waiting could change, so they need not be sent before it.
    """

    def __init__(
        self,
        statement: Select[Any] | Insert | Update,
        columns: Sequence[str] | None = None,
        listed: Sequence[str] = (),
        *,
        overtakes: bool = False,
    ) -> None:
        self._statement = statement
        self._overtakes = overtakes
        self._columns = columns
        self._listed = listed
        self._compiled: dict[tuple[str, tuple[int, ...]], tuple[str, Parameters]] = {}
        self._names = tuple(statement.selected_columns.keys()) if isinstance(statement, Select) else ()

    def rows(self, connection: Connection, parameters: Parameters) -> list[dict[str, Any]]:
        """The rows of a SELECT, by column; truth values are numbers on SQLite."""
        names = self._names
        return [dict(zip(names, row, strict=True)) for row in self.tuples(connection, parameters)]

    def tuples(self, connection: Connection, parameters: Parameters) -> list[tuple[Any, ...]]:
        """The rows of a SELECT or of RETURNING, as the driver gives them."""
        parameters = {**parameters, **{name: _filled(parameters[name]) for name in self._listed}}
        text, constants = self._compile(connection, parameters)
        for name in self._listed:
            values = enumerate(parameters[name], start=1)
            constants = {**constants, **{f"{name}_{number}": value for number, value in values}}
        cursor = _execute(connection, text, {**constants, **parameters}, overtakes=self._overtakes)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        cursor.close()
        return rows

    def run(self, connection: Connection, parameters: Parameters) -> None:
        text, constants = self._compile(connection, parameters)
        _execute(connection, text, {**constants, **parameters}, overtakes=self._overtakes)

    def run_many(self, connection: Connection, rows: Sequence[Parameters]) -> None:
        """Run it for each of some rows, at least one."""
        text, constants = self._compile(connection, rows[0])
        values = [{**constants, **row} for row in rows] if constants else rows
        _execute(connection, text, values, many=True)

    def _compile(self, connection: Connection, parameters: Parameters) -> tuple[str, Parameters]:
        """The text in this dialect, and the values that the statement itself holds."""
        key = connection.dialect.name, tuple(len(parameters[name]) for name in self._listed)
        if key not in self._compiled:
            dialect = _SQLITE if key[0] == "sqlite" else connection.dialect
            statement = self._statement.params(parameters) if self._listed else self._statement
            options = {"render_postcompile": True} if self._listed else {}
            compiled = statement.compile(dialect=dialect, column_keys=self._columns, compile_kwargs=options)
            assert isinstance(compiled, SQLCompiler)  # noqa: S101  (narrows for mypy)
            named = ((name, bind) for bind, name in compiled.bind_names.items() if name not in parameters)
            self._compiled[key] = str(compiled), {name: bind.value for name, bind in named if not bind.required}
        return self._compiled[key]


def _filled(items: Sequence[Any]) -> Sequence[Any]:
    """The items, the last one repeated until there are 1, 2, 4, 8, …"""
    missing = (1 << (len(items) - 1).bit_length()) - len(items) if items else 0
    return [*items, *[items[-1]] * missing] if missing else items


class RowInsert:
    """Inserts rows of a table, given as values in the order of its columns.

    Columns that are empty in every row are not named: to bind None takes SQLite's driver as long as five texts.
    """

    def __init__(self, table: Table) -> None:
        self._table = table.name
        self._names = [f'"{column.name}"' for column in table.columns]
        self._nullable = [place for place, column in enumerate(table.columns) if column.nullable]
        self._heads: dict[tuple[int, ...], tuple[str, Callable[[Row], Row]]] = {}

    def run(self, connection: Connection, rows: Sequence[Row], *, in_pipeline: bool = False) -> None:
        """Insert rows, at least one."""
        empty = tuple(place for place in self._nullable if all(row[place] is None for row in rows))
        if empty not in self._heads:
            self._heads[empty] = self._head(empty)
        names, named = self._heads[empty]
        insert, width = f"INSERT INTO {self._table} ({names}) VALUES ", len(self._names) - len(empty)  # noqa: S608
        if connection.dialect.name == "sqlite":
            _execute(connection, insert + _places("?", width), map(named, rows), many=True)
        elif len(rows) >= COPIED and not in_pipeline:  # which has no COPY
            _copy(connection, f"COPY {self._table} ({names}) FROM STDIN", map(named, rows))
        else:
            size = VALUES_AT_ONCE // width
            for start in range(0, len(rows), size):
                part = rows[start : start + size]
                text = insert + ", ".join([_places("%s", width)] * len(part))
                _execute(connection, text, [value for row in part for value in named(row)])

    def _head(self, empty: tuple[int, ...]) -> tuple[str, Callable[[Row], Row]]:
        """The columns that are not empty, and a function that takes them from a row."""
        places = [place for place in range(len(self._names)) if place not in empty]
        return ", ".join(self._names[place] for place in places), itemgetter(*places)


def _places(mark: str, width: int) -> str:
    return f"({', '.join([mark] * width)})"


@contextmanager
def pipelined(connection: Connection) -> Iterator[None]:
    """Send the statements of the block without waiting for the answer of each, where the driver can."""
    if connection.dialect.name == "sqlite":
        yield
        return
    try:
        with connection.connection.driver_connection.pipeline():  # type: ignore[union-attr]
            yield
    except connection.dialect.loaded_dbapi.Error as error:
        raise _wrapped(connection, "", error) from error


def send_waiting(connection: Connection) -> None:
    """Send the rows in waiting, if there are any: the next statement may ask for them."""
    waiting = connection.info.get(WAITING)
    if waiting is not None:
        waiting.send(connection)


def run_text(connection: Connection, text: str) -> None:
    """Run a statement without parameters that is the same for both databases."""
    _execute(connection, text, ()).close()


def first_row(connection: Connection, text: str) -> Any:
    """The first row that a statement without parameters gives; None if there is none."""
    cursor = _execute(connection, text, ())
    row = cursor.fetchone()
    cursor.close()
    return row


def _execute(connection: Connection, text: str, parameters: Any, *, many: bool = False, overtakes: bool = False) -> Any:
    if not overtakes:
        send_waiting(connection)
    try:
        cursor = connection.connection.cursor()
        if many:
            cursor.executemany(text, parameters)
        else:
            cursor.execute(text, parameters)
    except connection.dialect.loaded_dbapi.Error as error:
        raise _wrapped(connection, text, error) from error
    return cursor


def _copy(connection: Connection, text: str, rows: Iterable[Row]) -> None:
    send_waiting(connection)
    try:
        with connection.connection.cursor() as cursor, cursor.copy(text) as copy:  # type: ignore[attr-defined]
            for row in rows:
                copy.write_row(row)
    except connection.dialect.loaded_dbapi.Error as error:
        raise _wrapped(connection, text, error) from error


def _wrapped(connection: Connection, text: str, error: Exception) -> BaseException:
    """The driver's error as SQLAlchemy raises it; the values of the statement are not told."""
    dialect = connection.dialect
    lost = dialect.is_disconnect(error, connection.connection.driver_connection, None)  # type: ignore[arg-type]
    return DBAPIError.instance(
        text,
        None,
        error,
        dialect.loaded_dbapi.Error,
        hide_parameters=True,
        connection_invalidated=lost,
        dialect=dialect,
    )
