"""The database: short transactions to read and to write, and its failures as refusals of the domain."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from sqlalchemy import Connection, Engine, QueuePool, make_url
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.domain.errors import DatabaseBusy, DatabaseDamaged, OutcomeUnknown, SchemaChanged, StorageFull, Unavailable
from app.domain.heads import Head
from app.failpoints import reach
from app.storage import dialects
from app.storage.database_file import DatabaseFile
from app.storage.prepared import WAITING, first_row, send_waiting
from app.storage.remembered_heads import RememberedHeads
from app.storage.waiting_rows import WaitingRows, waiting_rows
from app.storage.writer_turns import WriterTurns

SCHEMA_SECONDS = 1.0
# What the `info` of a connection holds of its transaction.
_NEW_HEADS = "new heads"
_ADMITTED = "admitted keys"
_LOCKED = "locked studies"
_FORESEEN = "foreseen"


def note_head(connection: Connection, study_id: int, head: Head) -> None:
    """Note a head that is the newest once this transaction is committed."""
    connection.info.get(_NEW_HEADS, {})[study_id] = head


def admitted_keys(connection: Connection) -> set[str]:
    """The keys that were found to stand in this transaction, which writes; each is looked up once."""
    admitted: set[str] = connection.info.get(_ADMITTED, set())
    return admitted


def locked_studies(connection: Connection) -> dict[str, Any]:
    """The studies, by name, that this group of writes has locked, as its last event left them."""
    locked: dict[str, Any] = connection.info.get(_LOCKED, {})
    return locked


def begin_group(connection: Connection, *, together: bool) -> None:
    """From here to the end of the transaction, a study is locked and read once (it changes by events alone), and rows
    wait: for those of the other writes if they are to be sent `together`, else to the end of their own write.
    """
    connection.info.update({_LOCKED: {}, _FORESEEN: {}, WAITING: WaitingRows(together=together)})


def foreseen(connection: Connection) -> dict[Hashable, Any]:
    """What was read at the beginning of a group of writes for all of them; only while that group runs."""
    read: dict[Hashable, Any] = connection.info.get(_FORESEEN, {})
    return read


@dataclass(frozen=True)
class Attempt:
    """What a part of a transaction gave, or why it failed."""

    value: Any = None
    error: Exception | None = None


def attempt(connection: Connection, part: Callable[[Connection], Any]) -> Attempt:
    """Do a part of a group's transaction; if it fails, it is undone alone, unless the whole transaction is lost."""
    notes = {name: dict(connection.info.get(name, {})) for name in (_NEW_HEADS, _LOCKED, _FORESEEN)}
    waiting = waiting_rows(connection)
    try:
        with _translated():
            waiting.begin(connection)
            value = part(connection)
            waiting.keep(connection)
    except Exception as error:
        if waiting.has_failed or connection.invalidated:
            raise
        try:
            waiting.undo(connection)
        except SQLAlchemyError:  # some failures end a transaction, or the connection
            raise error from None
        connection.info.update(notes)
        return Attempt(error=error)
    return Attempt(value)


class ExpectedSchema:
    """Refuses to write to the schema of another version, looked at again after some seconds.

    SQLite answers in microseconds, so it is asked every time; for PostgreSQL it would be one more round trip.
    """

    def __init__(self, revision: str, seconds: float) -> None:
        self._revision = revision
        self._seconds = seconds
        self._due = 0.0

    def must_be_that_of(self, connection: Connection) -> None:
        if monotonic() < self._due:
            return
        found = first_row(connection, "SELECT version_num FROM alembic_version")
        if found is None or found[0] != self._revision:
            raise SchemaChanged
        self._due = monotonic() + self._seconds


@dataclass(frozen=True)
class Database:
    reader: Engine
    writer: Engine
    remembered: RememberedHeads | None = None
    file: DatabaseFile | None = None  # of SQLite
    schema: ExpectedSchema | None = None  # writes need exactly this one
    turns: WriterTurns | None = None  # of the processes that write to the file

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent snapshot; never blocks a writer."""
        with _translated(), self.reader.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """All or nothing. When the block ends without an exception, everything in it is durable."""
        with _translated(), self.writer.connect() as connection, self.turns.turn() if self.turns else nullcontext():
            transaction = connection.begin()
            self._must_be_ours(connection)
            connection.info.update({_NEW_HEADS: {}, _ADMITTED: set()})
            try:
                yield connection
                send_waiting(connection)
                heads = connection.info[_NEW_HEADS]
            except BaseException:
                _roll_back(connection)
                raise
            finally:
                _forget(connection)
            reach("before-commit")
            try:
                transaction.commit()
            except DBAPIError as error:
                connection.invalidate()
                raise _meaning(error, committing=True) from error
            self._must_be_in_place(connection)
            if self.file is not None:
                self.file.note_heads(heads)
            if self.remembered is not None and heads:
                self.remembered.remember(heads)
            reach("committed")

    @property
    def pools(self) -> set[QueuePool]:
        """The connections: PostgreSQL has one pool for reading and writing."""
        return {engine.pool for engine in (self.reader, self.writer) if isinstance(engine.pool, QueuePool)}

    def must_be_in_place(self) -> None:
        """Raise if the file of the database is no longer the one that was opened."""
        if self.file is not None:
            self.file.must_be_in_place()

    def _must_be_in_place(self, connection: Connection) -> None:
        self.must_be_in_place()
        if self.file is not None:
            self.file.log_must_be_in_place(connection)

    def _must_be_ours(self, connection: Connection) -> None:
        self._must_be_in_place(connection)
        if self.schema is not None:
            self.schema.must_be_that_of(connection)

    @contextmanager
    def rehearse(self) -> Iterator[Connection]:
        """As `write`, but everything in it is undone: for dry runs."""
        with _translated(), self.writer.connect() as connection, self.turns.turn() if self.turns else nullcontext():
            connection.begin()
            try:
                yield connection
            finally:
                _roll_back(connection)

    def dispose(self) -> None:
        self.reader.dispose()
        self.writer.dispose()
        if self.remembered is not None:
            self.remembered.close()
        if self.file is not None:
            self.file.release()
        if self.turns is not None:
            self.turns.close()


def open_database(
    address: str, connections: int = 10, heads_file: Path | None = None, schema: str | None = None
) -> Database:
    """Connect to `sqlite:///path` or `postgresql://…`; nothing is created or migrated here.

    With `heads_file`, the newest heads are remembered there. With `schema`, nothing is written to any other one.
    """
    url = make_url(address)
    remembered = RememberedHeads(heads_file) if heads_file else None
    if url.get_backend_name() == "sqlite":
        first_heads = remembered.every if remembered else dict[int, Head]
        file = DatabaseFile(Path(url.database or ""), dialects.sqlite_driver(), first_heads)
        engines = dialects.sqlite_engines(url, connections, file.must_be_in_place)
        turns = WriterTurns(file.file, dialects.BUSY_MILLISECONDS / 1000)
        return Database(*engines, remembered, file, ExpectedSchema(schema, 0) if schema else None, turns)
    expected = ExpectedSchema(schema, SCHEMA_SECONDS) if schema else None
    database = Database(*dialects.postgresql_engines(url, connections), remembered, None, expected)
    try:
        with _translated():
            dialects.refuse_unsafe(database.writer)
    except BaseException:
        database.dispose()
        raise
    return database


def _forget(connection: Connection) -> None:
    """What was noted of a transaction must not reach the next one of this connection, which may only read."""
    if not connection.invalidated:  # its notes went with it
        for note in (_NEW_HEADS, _ADMITTED, _LOCKED, _FORESEEN, WAITING):
            connection.info.pop(note, None)


def _roll_back(connection: Connection) -> None:
    try:
        connection.rollback()
    except SQLAlchemyError:
        connection.invalidate()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except PoolTimeout as error:
        raise DatabaseBusy from error
    except DBAPIError as error:
        raise _meaning(error, committing=False) from error


# SQLite's messages when its file is damaged; also a bit of the schema's own text may be another.
_DAMAGE = (
    *("malformed", "not a database", "could not decode to utf-8", "unsupported file format"),
    *("no such table", "no such column"),
)
# What SQLSTATEs (PostgreSQL) and the driver's messages (SQLite) mean to the caller.
_FAILURES: tuple[tuple[type[Unavailable], tuple[str, ...], tuple[str, ...]], ...] = (
    (StorageFull, ("53100",), ("disk is full", "no space left")),
    (DatabaseDamaged, ("XX001", "XX002"), _DAMAGE),
    (DatabaseBusy, ("40", "53300", "55P03", "57014"), ("database is locked", "database table is locked")),
)
_UNREACHABLE: tuple[tuple[str, ...], tuple[str, ...]] = (
    ("08", "53", "57P", "58"),
    ("unable to open database", "disk i/o error", "readonly database"),
)


def _meaning(error: DBAPIError, *, committing: bool) -> Exception:
    state = getattr(error.orig, "sqlstate", None) or ""
    words = str(error.orig).lower()

    def says(states: tuple[str, ...], phrases: tuple[str, ...]) -> bool:
        return state.startswith(states) if state else any(phrase in words for phrase in phrases)

    for refusal, states, phrases in _FAILURES:
        if says(states, phrases):
            return refusal()
    if committing:
        return OutcomeUnknown()
    gone = error.connection_invalidated or _server_said_nothing(error) or says(*_UNREACHABLE)
    return Unavailable() if gone else error


def _server_said_nothing(error: DBAPIError) -> bool:
    """PostgreSQL gives each of its failures a SQLSTATE; a failure without one is the connection's."""
    return isinstance(error, OperationalError | InterfaceError) and getattr(error.orig, "sqlstate", "") is None
