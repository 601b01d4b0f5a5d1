"""Group commit: writes that arrive while a commit is under way share the next one.

A thread takes what waits, does all of it in one transaction, commits, and only then answers. A write that is refused is
undone alone. All writes of a group become durable together, in the order in which they came.

What the writes read is read for all of them at once (`foresight.py`), and the rows that they leave are sent together
(`app/storage/waiting_rows.py`). If the database refuses such rows, nobody knows whose they are: then everything is done
again, each write in a savepoint of its own.

SQLite has one writer, so all studies share one line. On PostgreSQL each study has a line of its own: a study that
somebody else holds locked keeps nobody waiting but its own reporters.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from app.domain.errors import Overloaded, Unavailable
from app.failpoints import reach
from app.services.foresight import ReadAhead
from app.storage import studies
from app.storage.database import Attempt, Database, attempt, begin_group

T = TypeVar("T")

MOST_IN_GROUP = 64
MOST_SECONDS = 10.0  # a write that has waited so long for its group is refused
EVERY_STUDY = ""


@dataclass(frozen=True)
class WaitingWrite:
    """A write that waits for its group, and who waits for its answer."""

    need: ReadAhead
    work: Callable[[Connection], Any]
    answer: asyncio.Future[Any]
    context: Context = field(default_factory=copy_context)  # with what the log tells of the request
    since: float = field(default_factory=monotonic)

    def run(self, connection: Connection) -> Any:
        if monotonic() - self.since > MOST_SECONDS:
            raise Overloaded
        return self.context.run(self.work, connection)


class GroupCommit:
    """The lines of writes that wait, and the threads that commit them."""

    def __init__(
        self,
        database: Database,
        threads: int,
        most_waiting: int,
        foresee: Callable[[Connection, Sequence[ReadAhead]], None] = lambda _connection, _needs: None,
    ) -> None:
        self._database = database
        self._foresee = foresee
        self._has_one_writer = database.file is not None
        self._threads = ThreadPoolExecutor(1 if self._has_one_writer else threads, thread_name_prefix="commit")
        self._most_waiting = most_waiting
        self._lines: dict[str, deque[WaitingWrite]] = {}
        self._lock = Lock()

    async def write(self, need: ReadAhead, work: Callable[[Connection], T]) -> T:
        """What the work gives, once it is durable. Once it has begun, it is not given up."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        waiting = WaitingWrite(need, work, answer)
        name = EVERY_STUDY if self._has_one_writer else need.study
        with self._lock:
            if sum(map(len, self._lines.values())) >= self._most_waiting:
                raise Overloaded
            if name in self._lines:
                self._lines[name].append(waiting)
            else:
                self._lines[name] = deque([waiting])
                self._threads.submit(self._commit_next, name)
        return await answer

    @property
    def line(self) -> int:
        """How many writes wait."""
        with self._lock:
            return sum(map(len, self._lines.values()))

    def close(self) -> None:
        """Finish what waits."""
        self._threads.shutdown(wait=True)

    def _commit_next(self, name: str) -> None:
        """Commit one group of a line; the next one after the groups of other lines."""
        with self._lock:
            line = self._lines[name]
            group = [line.popleft() for _ in range(min(len(line), MOST_IN_GROUP))]
        try:
            _answer(group, self._commit(name, group))
        finally:
            with self._lock:
                if line:
                    self._threads.submit(self._commit_next, name)
                else:
                    del self._lines[name]

    def _commit(self, name: str, group: Sequence[WaitingWrite]) -> list[Attempt]:
        """What came of each write, once all that succeeded are durable; if the commit fails, they all have failed."""
        try:
            return self._commit_group(name, group, together=True)
        except _NobodysFailure:
            return self._commit_group(name, group, together=False)

    def _commit_group(self, name: str, group: Sequence[WaitingWrite], *, together: bool) -> list[Attempt]:
        attempts: list[Attempt] = []
        try:
            with self._database.write() as connection:
                begin_group(connection, together=together)
                if name != EVERY_STUDY:  # before any Idempotency-Key, or two processes could wait for each other
                    studies.lock(connection, name)
                if together:
                    self._read_ahead(connection, group)
                for waiting in group:
                    attempts.append(_attempt(connection, waiting, alone=len(group) == 1))
                    reach("grouped")
        except Exception as error:
            if together and isinstance(error, DBAPIError | _NobodysFailure):
                raise _NobodysFailure from error
            unknown = Attempt(error=error)
            attempts = [made if made.error else unknown for made in attempts]
            return attempts + [unknown] * (len(group) - len(attempts))
        return attempts

    def _read_ahead(self, connection: Connection, group: Sequence[WaitingWrite]) -> None:
        try:
            self._foresee(connection, [waiting.need for waiting in group])
        except Unavailable:
            raise
        except Exception as error:  # what is damaged is the trouble of those alone who ask for it
            raise _NobodysFailure from error


class _NobodysFailure(Exception):
    """A group failed before its commit, and nobody knows by whose write."""


def _attempt(connection: Connection, waiting: WaitingWrite, *, alone: bool) -> Attempt:
    """A write that is alone in its transaction needs no savepoint: if it fails, the transaction does."""
    return Attempt(waiting.run(connection)) if alone else attempt(connection, waiting.run)


def _answer(group: Sequence[WaitingWrite], attempts: Sequence[Attempt]) -> None:
    """Tell the event loop everything at once."""
    answers = [(waiting.answer, made) for waiting, made in zip(group, attempts, strict=True)]
    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        group[0].answer.get_loop().call_soon_threadsafe(_set_all, answers)


def _set_all(answers: Sequence[tuple[asyncio.Future[Any], Attempt]]) -> None:
    for answer, made in answers:
        if answer.cancelled():
            continue
        if made.error is not None:
            answer.set_exception(made.error)
        else:
            answer.set_result(made.value)
