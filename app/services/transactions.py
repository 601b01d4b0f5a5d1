"""Use cases in their transactions: the only place where a request's transaction is opened and committed.

A write is committed before its answer is sent. With an Idempotency-Key the answer is stored in the same transaction, so
that the same request again gets the same bytes, whatever crashed in between.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar, TypeVarTuple

from sqlalchemy import Connection

from app.domain.access import Actor, Scope
from app.domain.errors import Refusal, StudyNotFound
from app.domain.observations import Report
from app.failpoints import reach
from app.services.foresight import ReadAhead
from app.services.group_commit import GroupCommit
from app.services.use_cases.access import must_be_alive
from app.storage import answers, studies
from app.storage.answers import Answer
from app.storage.database import Database, admitted_keys

K = TypeVar("K")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

__all__ = ["Answer", "ReadTransactions", "WriteTransactions", "read_for_all"]


@dataclass(frozen=True)
class ReadTransactions:
    """Runs use cases that read, for one actor."""

    database: Database
    actor: Actor

    def read(self, use_case: Callable[[Connection, Actor, *Ts], T], *args: *Ts) -> T:
        """Run a use case on one consistent snapshot."""
        with self._reading() as connection:
            return use_case(connection, self.actor, *args)

    def record(self, use_case: Callable[[Connection, Actor, *Ts], None], *args: *Ts) -> None:
        """Record in the audit log what is about to be done. If that fails, it is not done."""
        with self.database.write() as connection:
            self._admit(connection)
            use_case(connection, self.actor, *args)

    def must_be_admitted(self) -> None:
        """Refuse a key that was admitted from memory and no longer stands."""
        with self._reading():
            pass

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self.database.read() as connection:
            self._admit(connection)
            yield connection

    def _admit(self, connection: Connection) -> None:
        """Refuse a key that was admitted from memory and has been revoked, or has expired."""
        admitted = admitted_keys(connection)
        if self.actor.remembered and self.actor.key.id not in admitted:
            must_be_alive(connection, self.actor)
            admitted.add(self.actor.key.id)


def read_for_all(
    readers: Mapping[K, ReadTransactions], use_case: Callable[[Connection, Actor, K], T]
) -> dict[K, T | Refusal]:
    """Run a use case for each of some actors on one snapshot; a refusal is that of one alone."""
    outcomes: dict[K, T | Refusal] = {}
    with next(iter(readers.values())).database.read() as connection:
        for key, reader in readers.items():
            try:
                must_be_alive(connection, reader.actor)
                outcomes[key] = use_case(connection, reader.actor, key)
            except Refusal as refusal:
                outcomes[key] = refusal
    return outcomes


@dataclass(frozen=True)
class WriteTransactions(ReadTransactions):
    """Runs use cases that write, each at most once per Idempotency-Key."""

    token: str | None = None  # the Idempotency-Key
    fingerprint: str = ""  # of the request: another request with the same token is refused
    study: str | None = None  # that the request is about

    def write_once(
        self, use_case: Callable[[Connection, Actor, *Ts], T], *args: *Ts, answer: Callable[[T], Answer]
    ) -> Answer:
        """Run a use case, make its answer, commit both; or return the answer that this token got before."""
        with self.database.write() as connection:
            return self._once(connection, use_case, *args, answer=answer)

    async def write_in_group(
        self,
        commits: GroupCommit,
        use_case: Callable[[Connection, Actor, *Ts], T],
        *args: *Ts,
        answer: Callable[[T], Answer],
        reports: Sequence[Report],
    ) -> Answer:
        """As `write_once`, in one transaction with the writes that wait at the same time.

        What is stored of what the `reports` are about is read for all of them at once.
        """
        token = None if self.token is None else (self.actor.key.id, self.token)
        need = ReadAhead(self.study or "", reports, token)
        return await commits.write(need, lambda c: self._once(c, use_case, *args, answer=answer))

    def _once(
        self,
        connection: Connection,
        use_case: Callable[[Connection, Actor, *Ts], T],
        *args: *Ts,
        answer: Callable[[T], Answer],
    ) -> Answer:
        self._admit(connection)
        if self.token is None:
            return answer(use_case(connection, self.actor, *args))
        owner = self.actor.key.id
        stored_answer = answers.claim(connection, owner, self.token, self.fingerprint)
        if stored_answer is not None:
            self._must_still_see(connection)
            return stored_answer
        reach("claimed")
        new_answer = answer(use_case(connection, self.actor, *args))
        answers.store(connection, owner, self.token, self.fingerprint, new_answer)
        return new_answer

    def dry_run(
        self, use_case: Callable[[Connection, Actor, *Ts], T], *args: *Ts, answer: Callable[[T], Answer]
    ) -> Answer:
        """Run the whole use case in a transaction that is rolled back; the answer tells what it would have done."""
        with self.database.rehearse() as connection:
            self._admit(connection)
            return answer(use_case(connection, self.actor, *args))

    def stored_answer(self) -> Answer | None:
        """The answer that this token got before: checked first where the work is long, or refused the second time."""
        with self._reading() as connection:
            return self._stored_answer(connection)

    def read_unless_answered(self, use_case: Callable[[Connection, Actor, *Ts], T], *args: *Ts) -> Answer | T:
        """The stored answer, or else what the use case reads on the same snapshot."""
        with self._reading() as connection:
            stored_answer = self._stored_answer(connection)
            return use_case(connection, self.actor, *args) if stored_answer is None else stored_answer

    def _stored_answer(self, connection: Connection) -> Answer | None:
        if self.token is None:
            return None
        stored_answer = answers.find(connection, self.actor.key.id, self.token, self.fingerprint)
        if stored_answer is not None:
            self._must_still_see(connection)
        return stored_answer

    def _must_still_see(self, connection: Connection) -> None:
        """Refuse a key whose access was withdrawn since: an answer may tell about the study."""
        study = studies.find(connection, self.study) if self.study else None
        if study is None or self.actor.key.may(Scope.KEYS):
            return
        if not studies.is_granted(connection, self.actor.key.id, study):
            raise StudyNotFound
