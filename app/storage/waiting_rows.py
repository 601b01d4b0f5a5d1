"""Rows that the writes of a group leave to its end, where many of them go to the database with one statement.

A plain report changes the database by rows of a few tables. In a group these rows wait here, and are sent before the
commit. Every statement that could see them sends them first, so it sees what was written before it. A write that leaves
only rows needs no savepoint either: if it is refused, its rows are dropped.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from app.failpoints import reach
from app.storage.prepared import WAITING, Parameters, Prepared, Row, RowInsert, pipelined, run_text


@dataclass
class _Rows:
    """Rows by the statement that inserts them, and the last update of each thing."""

    inserts: dict[RowInsert, list[Row]] = field(default_factory=dict)
    updates: dict[tuple[Prepared, Hashable], Parameters] = field(default_factory=dict)

    def add(self, later: "_Rows") -> None:
        for statement, rows in later.inserts.items():
            self.inserts.setdefault(statement, []).extend(rows)
        self.updates |= later.updates

    def send(self, connection: Connection) -> None:
        """In any order: none of these rows refers to another one."""
        if not self.inserts and not self.updates:
            return
        with pipelined(connection):
            for statement, rows in self.inserts.items():
                statement.run(connection, rows, in_pipeline=True)
                reach("sent")
            for (update, _), row in self.updates.items():
                update.run(connection, row)
                reach("sent")
        self.inserts, self.updates = {}, {}


class WaitingRows:
    """The rows of the writes before, and those of the write under way, which can still be undone."""

    def __init__(self, *, together: bool) -> None:
        self._together = together
        self._before, self._own = _Rows(), _Rows()
        self._is_part = self._has_savepoint = self._is_sending = False
        self.has_failed = False  # to send rows of several writes: nobody knows whose was wrong

    def begin(self, connection: Connection) -> None:
        """A write begins that can be undone alone."""
        self._is_part = True
        if not self._together:
            self.send(connection)

    def keep(self, connection: Connection) -> None:
        """The write has succeeded."""
        if self._has_savepoint:
            self.send(connection)
            run_text(connection, "RELEASE SAVEPOINT part")
        self._before.add(self._own)
        self._end()

    def undo(self, connection: Connection) -> None:
        """The write has failed."""
        self._own = _Rows()
        if self._has_savepoint:
            run_text(connection, "ROLLBACK TO SAVEPOINT part")
            run_text(connection, "RELEASE SAVEPOINT part")
        self._end()

    def insert(self, statement: RowInsert, rows: Sequence[Row]) -> None:
        self._own.inserts.setdefault(statement, []).extend(rows)

    def update(self, statement: Prepared, thing: Hashable, row: Parameters) -> None:
        """Update a thing; of several updates of the same one, only the last is sent."""
        self._own.updates[statement, thing] = row

    def send(self, connection: Connection) -> None:
        """Send everything. A write that goes on after this may fail in the database, so it gets its savepoint."""
        if self._is_sending:
            return
        self._is_sending = True
        try:
            self.has_failed = True
            self._before.send(connection)
            if self._is_part and not self._has_savepoint:
                run_text(connection, "SAVEPOINT part")
                self._has_savepoint = True
            self.has_failed = False
            self._own.send(connection)
        finally:
            self._is_sending = False

    def _end(self) -> None:
        self._own, self._is_part, self._has_savepoint = _Rows(), False, False


def waiting_rows(connection: Connection) -> WaitingRows:
    """Those of the group that this transaction is."""
    waiting: WaitingRows = connection.info[WAITING]
    return waiting


def insert_rows(connection: Connection, statement: RowInsert, rows: Sequence[Row]) -> None:
    """Insert rows, at least one: at the end of the group if there is one."""
    waiting: WaitingRows | None = connection.info.get(WAITING)
    if waiting is None:
        statement.run(connection, rows)
    else:
        waiting.insert(statement, rows)


def update_later(connection: Connection, statement: Prepared, thing: Hashable, row: Parameters) -> None:
    """Update a thing: at the end of the group if there is one."""
    waiting: WaitingRows | None = connection.info.get(WAITING)
    if waiting is None:
        statement.run(connection, row)
    else:
        waiting.update(statement, thing, row)
