"""A use case in its transaction: the only place where one is opened and committed.

A write commits before its answer is sent. With an Idempotency-Key the answer is kept in the same transaction, so
that the same request again gets the same bytes, whatever crashed in between.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.answers import Answer
from app.domain.clock import stamp
from app.failpoints import reach
from app.storage import answers, sweeping
from app.storage.database import Database

P = ParamSpec("P")
T = TypeVar("T")

UseCase = Callable[Concatenate[Connection, Actor, P], T]


@dataclass(frozen=True)
class Reading:
    """Runs a use case on one snapshot."""

    database: Database
    actor: Actor

    def __call__(self, use_case: UseCase[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with self.database.read() as connection:
            return use_case(connection, self.actor, *args, **kwargs)


@dataclass(frozen=True)
class Writing(Reading):
    """Runs a use case at most once: its effects and its answer are committed together."""

    token: str | None = None  # the Idempotency-Key
    fingerprint: str = ""  # of the request: another request under the same token is refused

    def kept(self) -> Answer | None:
        """The answer that this token got before: for what would be long work, or would be refused, the second time."""
        with self.database.read() as connection:
            return self._kept(connection)

    def kept_or(self, use_case: UseCase[P, T], *args: P.args, **kwargs: P.kwargs) -> Answer | T:
        """As `kept`, else what the use case finds, on the same snapshot."""
        with self.database.read() as connection:
            kept = self._kept(connection)
            return use_case(connection, self.actor, *args, **kwargs) if kept is None else kept

    def _kept(self, connection: Connection) -> Answer | None:
        if self.token is None:
            return None
        return answers.find(connection, self.actor.key.id, self.token, self.fingerprint)

    def once(self, render: Callable[[T], Answer], use_case: UseCase[P, T], *args: P.args, **kwargs: P.kwargs) -> Answer:
        """Carry out, render, commit; or the answer that this token got before."""
        with self.database.write() as connection:
            if self.token is None:
                return render(use_case(connection, self.actor, *args, **kwargs))
            owner = self.actor.key.id
            kept = answers.claim(connection, owner, self.token, self.fingerprint)
            if kept is not None:
                return kept
            reach("claimed")
            answer = render(use_case(connection, self.actor, *args, **kwargs))
            answers.keep(connection, owner, self.token, answer)
            return answer


def forget_old_answers(database: Database, days: int) -> int:
    """Drop the kept answers that are older; how many there were."""
    before = _days_ago(days)
    with database.read() as connection:
        if not answers.are_kept(connection, before):
            return 0
    with database.write() as connection:
        return answers.forget(connection, before)


def sweep_blobs(database: Database) -> int:
    """Drop arrays that nothing names since yesterday; how many there were."""
    return sweeping.sweep(database, _days_ago(1))


def _days_ago(days: int) -> str:
    return stamp(datetime.now(UTC) - timedelta(days=days))
