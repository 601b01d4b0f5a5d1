"""The derived tables, computed anew from the ledger: to compare them with what is stored, and to replace it.

They are computed in a temporary database of their own, by the code that wrote them in the first place. So comparing
locks nothing, and replacing is one short transaction.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import Any, Literal

from sqlalchemy import Connection, StaticPool, Table, create_engine, delete, insert, select, update

from app.domain.errors import UnreadableEvent
from app.domain.events import StudyCreated
from app.domain.ledger import LedgerEntry
from app.domain.studies import Study
from app.storage import dialects, ledger
from app.storage import studies as study_rows
from app.storage.studies import LedgerRow
from app.storage.tables import (
    api_keys,
    batches,
    candidate_blocks,
    grants,
    metadata,
    observations,
    studies,
    suggestions,
    unavailable_candidates,
)

DERIVED = (candidate_blocks, unavailable_candidates, batches, suggestions, observations)  # a parent before its children
MOST_DIFFERENCES = 100
ROWS_AT_A_TIME = 500
LONGEST_CREATION = timedelta(minutes=1)  # from the row of a study to its first event

Row = dict[str, Any]


@dataclass(frozen=True)
class Difference:
    """A row that is not what the ledger says."""

    table: str
    row: str
    what: Literal["missing", "not in the ledger", "altered", "damaged"]
    columns: tuple[str, ...] = ()


@contextmanager
def recomputed(connection: Connection, study: Study | LedgerRow) -> Iterator["Recomputed"]:
    """The tables of one study as its ledger, which must be sound, makes them."""
    engine = create_engine("sqlite://", creator=_temporary_database, poolclass=StaticPool)
    try:
        metadata.create_all(engine, tables=[studies, *DERIVED, api_keys, grants])
        with engine.connect() as scratch:
            tables = Recomputed(scratch, study)
            tables.continue_from(connection)
            yield tables
    finally:
        engine.dispose()


def _temporary_database() -> Any:
    """A private database, in memory while it is small, that nobody else sees."""
    return dialects.sqlite_driver().connect("", check_same_thread=False)


class Recomputed:
    def __init__(self, scratch: Connection, stored: Study | LedgerRow) -> None:
        self._scratch = scratch
        self._stored = stored
        self._study: Study | None = None

    def continue_from(self, connection: Connection) -> None:
        """Apply the events of the ledger that are not applied yet."""
        seen = self._study.seq if self._study else 0
        for entry in ledger.read(connection, self._stored.id, seen):
            self._study = self._apply(entry)

    def differences(self, connection: Connection) -> list[Difference]:
        """The first rows that are stored otherwise than the ledger says."""
        compared = (self._compare(connection, table) for table in (studies, *DERIVED))
        return list(islice(chain.from_iterable(compared), MOST_DIFFERENCES))

    def replace(self, connection: Connection) -> None:
        """Make the stored rows those of the ledger. What people may see (`grants`) is not derived, and stays."""
        for table in reversed(DERIVED):
            connection.execute(delete(table).where(table.c.study_id == self._stored.id))
        for table in DERIVED:
            for rows in _in_parts(_rows(self._scratch, table, self._stored.id)):
                connection.execute(insert(table), rows)
        row = next(_rows(self._scratch, studies, self._stored.id))
        connection.execute(update(studies).where(studies.c.id == self._stored.id).values(row))

    def _apply(self, entry: LedgerEntry) -> Study:
        event = entry.event()
        if self._study is None:
            if not isinstance(event, StudyCreated):
                raise UnreadableEvent("The ledger does not begin with the creation of the study.")
            created_at = _created_at(self._stored.created_at, entry.recorded_at)
            study_rows.create(self._scratch, self._stored.name, event.configuration, created_at)
            self._scratch.execute(update(studies).values(id=self._stored.id, sealed_as=self._stored.sealed_as))
            self._study = study_rows.find(self._scratch, self._stored.name)
        return ledger.move(self._scratch, self._study, entry, event)  # type: ignore[arg-type]

    def _compare(self, connection: Connection, table: Table) -> Iterator[Difference]:
        """Both sides in the order of the primary key, side by side."""
        stored = _rows(connection, table, self._stored.id)
        expected = _rows(self._scratch, table, self._stored.id)
        left, right = next(stored, None), next(expected, None)
        while left is not None or right is not None:
            key, wanted = _key(table, left), _key(table, right)
            if right is None or (left is not None and key < wanted):
                yield Difference(table.name, _named(table, left), "not in the ledger")
                left = next(stored, None)
            elif left is None or key > wanted:
                yield Difference(table.name, _named(table, right), "missing")
                right = next(expected, None)
            else:
                altered = tuple(name for name in right if not _same(left[name], right[name]))
                if altered:
                    yield Difference(table.name, _named(table, left), "altered", altered)
                left, right = next(stored, None), next(expected, None)


def _created_at(stored: str, recorded_at: str) -> str:
    """When the study was created: the moment that is stored, if it can be that of the first event."""
    try:
        before = datetime.fromisoformat(recorded_at) - datetime.fromisoformat(stored)
    except (ValueError, TypeError):
        return recorded_at
    return stored if timedelta() <= before <= LONGEST_CREATION else recorded_at


def _same(left: Any, right: Any) -> bool:
    """Equal and of one type: SQLite keeps a number in a column of texts, and the reverse."""
    return type(left) is type(right) and bool(left == right)


def _rows(connection: Connection, table: Table, study_id: int) -> Iterator[Row]:
    owner = table.c.id if table is studies else table.c.study_id
    query = select(table).where(owner == study_id).order_by(*table.primary_key.columns)
    with connection.execute(query.execution_options(yield_per=ROWS_AT_A_TIME)) as rows:
        for row in rows:
            yield dict(row._mapping)  # noqa: SLF001


def _in_parts(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while part := list(islice(rows, ROWS_AT_A_TIME)):
        yield part


def _key(table: Table, row: Row | None) -> tuple[Any, ...]:
    """The primary key, in an order that damaged rows cannot upset."""
    cells = [] if row is None else [row[column.name] for column in table.primary_key.columns]
    return tuple((type(cell).__name__, cell) for cell in cells)


def _named(table: Table, row: Row | None) -> str:
    """How people find the row: by its key, without the study."""
    columns: Sequence[str] = [column.name for column in table.primary_key.columns if column.name != "study_id"]
    return ", ".join(f"{name} {(row or {}).get(name)}" for name in columns)
