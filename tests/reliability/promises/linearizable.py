"""Promise 5: over several processes, every answer is the one that a small model in one order would give."""

from contextlib import AbstractContextManager
from unittest.mock import patch

from app.services.transactions import WriteTransactions
from tests.reliability import lab
from tests.reliability.promise import Budget, Count, Promise, on_each_database
from tests.reliability.story.races import PAIRS, race
from tests.reliability.story.telling import tell


def _prove(budget: Budget, seed: int, address: str) -> Count:
    with lab.opened(address) as one, lab.opened(address) as other:
        other.client.headers["Authorization"] = one.client.headers["Authorization"]
        half = budget.divided(2)
        return tell(half, seed, [(one, other)]) + race(half, seed, one, other)


def _twice() -> AbstractContextManager[object]:
    """A write whose Idempotency-Key is not looked at."""
    once = WriteTransactions._once
    careless = WriteTransactions.__dataclass_fields__["token"].default

    def without_token(self: WriteTransactions, *args: object, **kwargs: object) -> object:
        object.__setattr__(self, "token", careless)
        return once(self, *args, **kwargs)  # type: ignore[arg-type]

    return patch.object(WriteTransactions, "_once", without_token)


PROMISE = Promise(
    number=5,
    words="Linearizable per study",
    tested="Stories of 50 random steps (ask, report, fail, correct, retract, close, pause, switch, repeat) told to two "
    "processes in turn and to a small model: every answer and everything that can be read is the model's; a third of "
    "the studies have two objectives, a constraint and costs. And all "
    f"{len(PAIRS)} pairs of deeds at the same time: what comes of it is what comes of one after the other.",
    unit="stories and races",
    full=5_000,
    prove=on_each_database(_prove),
    teeth={"Idempotency-Keys that are not looked at": _twice},
    short=1,
    bite=3,
    parallel=True,
    share=3,
)
