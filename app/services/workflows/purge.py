"""Erase studies: the rows in one transaction, then the arrays that no other study names."""

from collections.abc import Callable

import structlog

from app.domain.access import Actor
from app.domain.clock import now
from app.domain.errors import Refusal
from app.services.transactions import Answer, WriteTransactions
from app.services.use_cases import deletion
from app.services.use_cases.access import SERVER
from app.services.use_cases.deletion import Purged
from app.storage import erasing, sweeping
from app.storage.database import Database

RenderPurged = Callable[[Purged], Answer]


def purge(tx: WriteTransactions, address: str, confirm: str | None, reason: str | None, answer: RenderPurged) -> Answer:
    """Erase a study now. If the process dies before the arrays are dropped, the next start drops them."""
    purged: list[Purged] = []

    def render(erased: Purged) -> Answer:
        purged.append(erased)
        return answer(erased)

    given = tx.write_once(deletion.purge, address, confirm, reason, answer=render)
    for erased in purged:
        _drop_arrays(tx.database, erased)
    return given


def erase_due(database: Database, days: int) -> int:
    """Erase the studies that were deleted so many days ago; how many there were."""
    actor = Actor(SERVER, "erasing")
    tx = WriteTransactions(database, actor)
    due = [study for study in tx.read(deletion.list_deleted, days) if study.erased_at <= now()]
    for study in due:
        try:
            purge(tx, study.address, study.address, "deleted long ago", lambda _: Answer(204))
        except Refusal as refusal:  # restored or erased meanwhile, or the database is away
            structlog.get_logger().warning("not erased", study=study.name, cause=repr(refusal))
    return len(due)


def _drop_arrays(database: Database, erased: Purged) -> None:
    sweeping.drop(database, erased.arrays)
    erasing.empty_log(database)
