"""Whether a study is what its ledger says: every hash, every derived row and every array, and how to mend the rows."""

from dataclasses import dataclass

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.audit import AuditAction
from app.domain.event_arrays import digests_of
from app.domain.events import StudyErased
from app.domain.ledger import first_break
from app.domain.studies import Study
from app.services.use_cases import forks, studies
from app.storage import audit, blobs, ledger
from app.storage import studies as study_rows
from app.storage.derived import MOST_DIFFERENCES, Difference, recomputed
from app.storage.studies import LedgerRow


@dataclass(frozen=True)
class Verification:
    """How many events were checked, the first one that is missing, altered or out of place, and rows that differ."""

    events: int
    broken_at: int | None
    head: str
    differences: tuple[Difference, ...] = ()

    @property
    def sound(self) -> bool:
        return self.broken_at is None and not self.differences


def verify(connection: Connection, actor: Actor, name: str) -> Verification:
    """Compute every hash again, then every row and every array that the ledger names."""
    study = studies.find(connection, actor, name)
    broken = broken_at(connection, study)
    if broken is not None:  # nothing can be derived from it
        return Verification(study.seq, broken, study.head)
    with recomputed(connection, study) as tables:
        differences = tables.differences(connection)
    differences += _damaged_arrays(connection, study)
    differences += forks.broken_links(connection, study)
    return Verification(study.seq, None, study.head, tuple(differences[:MOST_DIFFERENCES]))


def broken_at(connection: Connection, study: Study | LedgerRow) -> int | None:
    """The first event that is missing, altered or out of place."""
    earlier = ledger.names_before(connection, study.id)
    broken = first_break(study.ledger_name, ledger.read(connection, study.id), earlier)
    last = ledger.last_seq(connection, study.id)
    if broken is None and last != study.seq:  # events are missing at the end, or there is one too many
        broken = min(last, study.seq) + 1
    if broken is None and ledger.hash_of(connection, study.id, last) != study.head:
        broken = last
    return broken


def rebuild(connection: Connection, actor: Actor, name: str) -> tuple[Difference, ...]:
    """Make the derived rows of a study anew from its ledger, deleted or not; what differed.

    A broken ledger is refused: rows made from it would hide that something is missing.
    """
    study = study_rows.lock_ledger(connection, name)
    if study is None or ledger.of_types(connection, study.id, (StudyErased.type,)):
        return ()
    broken = broken_at(connection, study)
    if broken is not None:
        raise RuntimeError(f"The ledger of {name} is broken at event {broken}. Restore a backup.")
    with recomputed(connection, study) as tables:
        differences = tables.differences(connection)
        tables.replace(connection)
    audit.append(connection, actor, AuditAction.TABLES_REBUILT, {"study": name, "differences": len(differences)})
    return tuple(differences)


def _damaged_arrays(connection: Connection, study: Study) -> list[Difference]:
    """The arrays that the ledger names and whose bytes are not what their names say."""
    digests = {digest for entry in ledger.read(connection, study.id) for digest in digests_of(entry.event())}
    return [
        Difference("blobs", f"digest {digest}", "damaged")
        for digest in sorted(digests)
        if not blobs.is_sound(connection, digest)
    ]
