"""Delete a study, restore it while that is possible, and erase it for good."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from app.domain.access import Actor, Scope
from app.domain.audit import AuditAction
from app.domain.clock import stamp
from app.domain.errors import Finding, Invalid, StudyExists, StudyGone, StudyNotFound
from app.domain.events import ForkStarted, StudyChanged, StudyDeleted, StudyErased, StudyRestored
from app.domain.studies import Study, StudyState
from app.services.use_cases import studies
from app.storage import audit, erasing, ledger
from app.storage import studies as rows


@dataclass(frozen=True)
class DeletedStudy:
    """A study that can be restored until `erased_at`. `address` is its name, or `~` and a number if that is taken."""

    name: str
    address: str
    deleted_at: str
    deleted_by: str
    reason: str | None
    erased_at: str


@dataclass(frozen=True)
class Purged:
    """What is left to do, and the arrays that nothing of this study names any more."""

    study: Study
    copies: tuple[str, ...]  # studies that hold copies of its results
    arrays: frozenset[str]


def delete(connection: Connection, actor: Actor, name: str, confirm: str | None, reason: str | None) -> Study:
    """Stop showing the study. It can be restored for a while, and its name can be used again."""
    study = studies.lock(connection, actor, name)
    _must_be_meant(study.name, confirm)
    study.must_be_able_to_become(StudyState.DELETED)
    audit.append(connection, actor, AuditAction.STUDY_REMOVED, {"study": name, "reason": reason})
    return ledger.append(connection, study, actor, StudyDeleted(), reason)


def restore(connection: Connection, actor: Actor, address: str, reason: str | None) -> Study:
    """Show a deleted study again, in the state that it had; refused if another study has its name by now."""
    study = _deleted(connection, actor, rows.lock(connection, address))
    if study.sealed_as is not None:
        if not rows.take_name_back(connection, study):
            raise StudyExists("Another study has this name by now. Delete that one first.")
        study = studies.must_exist(rows.lock(connection, study.sealed_as))
    audit.append(connection, actor, AuditAction.STUDY_RESTORED, {"study": study.name, "reason": reason})
    return ledger.append(connection, study, actor, StudyRestored(_state_before(connection, study)), reason)


def purge(connection: Connection, actor: Actor, address: str, confirm: str | None, reason: str | None) -> Purged:
    """Erase a study at once, deleted or not."""
    study = studies.must_exist(rows.lock(connection, address))
    _must_be_meant(address, confirm)
    if study.state is not StudyState.DELETED:
        study = ledger.append(connection, study, actor, StudyDeleted(), reason)
    if _is_erased(connection, study):
        raise StudyGone
    copies = erasing.copies_of(connection, study)
    audit.append(connection, actor, AuditAction.STUDY_ERASED, {"study": study.ledger_name, "reason": reason})
    study = ledger.append(connection, study, actor, StudyErased(), reason)
    return Purged(study, copies, frozenset(erasing.erase(connection, study)))


def list_deleted(connection: Connection, actor: Actor, days: int) -> list[DeletedStudy]:
    """The deleted studies that this key may see and that are not erased yet."""
    listed = []
    for study in rows.deleted(connection):
        entry = next(ledger.read(connection, study.id, study.seq - 1, 1))
        sees = actor.key.may(Scope.KEYS) or rows.is_granted(connection, actor.key.id, study)
        if sees and entry.type == StudyDeleted.type:
            erased_at = stamp(datetime.fromisoformat(entry.recorded_at) + timedelta(days=days))
            moment, reason = entry.recorded_at, entry.reason
            listed.append(DeletedStudy(study.ledger_name, study.name, moment, entry.actor, reason, erased_at))
    return listed


def _deleted(connection: Connection, actor: Actor, study: Study | None) -> Study:
    """A deleted study that this key may see and that is not erased."""
    if study is None or not (actor.key.may(Scope.KEYS) or rows.is_granted(connection, actor.key.id, study)):
        raise StudyNotFound
    if study.state is not StudyState.DELETED:
        raise StudyExists("The study is not deleted.")
    if _is_erased(connection, study):
        raise StudyGone("The study was erased and cannot be restored.")
    return study


def _is_erased(connection: Connection, study: Study) -> bool:
    return bool(ledger.of_types(connection, study.id, (StudyErased.type,)))


def _state_before(connection: Connection, study: Study) -> StudyState:
    types = (StudyChanged.type, ForkStarted.type, StudyRestored.type)
    for entry in reversed(ledger.of_types(connection, study.id, types)):
        event = entry.event()
        return event.state if isinstance(event, StudyChanged | StudyRestored) else StudyState.ACTIVE
    return StudyState.ACTIVE


def _must_be_meant(name: str, confirm: str | None) -> None:
    if confirm != name:
        message = "This deletes the study. Write its name here, to show that you mean this one."
        raise Invalid([Finding("confirm", message, pointer="/confirm")])
