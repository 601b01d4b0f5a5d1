"""Promise 13: the same steps on SQLite and on PostgreSQL get the same answers, to the last bit of every batch."""

from contextlib import AbstractContextManager, ExitStack
from unittest.mock import patch

from app.storage import observations
from tests.databases import DIALECTS, Databases
from tests.reliability import lab
from tests.reliability.promise import Budget, Count, Promise
from tests.reliability.story.telling import tell


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    with ExitStack() as stack:
        addresses = [stack.enter_context(databases.fresh(dialect)) for dialect in DIALECTS]
        return tell(budget, seed, [[stack.enter_context(lab.opened(address))] for address in addresses])


def _inexact() -> AbstractContextManager[object]:
    """Values read from the column that is for sorting: SQLite has no −0.0 there."""

    def observation(row: object) -> object:
        return read(_Swapped(row))

    read = observations._observation
    return patch.object(observations, "_observation", observation)


class _Swapped:
    def __init__(self, row: object) -> None:
        self._mapping = {**row._mapping, "exact": repr(row._mapping["value"])}  # type: ignore[attr-defined]
        self.kind = row.kind  # type: ignore[attr-defined]


PROMISE = Promise(
    number=13,
    words="SQLite and PostgreSQL behave alike",
    tested="The stories of promise 5, each told to a server on either database; all answers are compared.",
    unit="stories",
    full=20_000,
    prove=_prove,
    teeth={"values read from a REAL column": _inexact},
    short=1,
    parallel=True,
    share=3,
)
