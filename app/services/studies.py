"""Studies: create, find, change, delete."""

from collections.abc import Callable
from dataclasses import asdict, replace

from sqlalchemy import Connection

from app.domain.access import Actor, Role, Scope
from app.domain.errors import KeyNotFound, PreconditionFailed, StudyDeleted, StudyExists, StudyNotFound
from app.domain.studies import Configuration, Study, StudyState
from app.failpoints import reach
from app.services.bridge.checks import check_configuration
from app.storage import keys, ledger
from app.storage import studies as rows

ANY_VERSION = None


def create(connection: Connection, actor: Actor, name: str, configuration: Configuration) -> tuple[Study, bool]:
    """The study and whether it is new. The same request again finds it; another configuration is a conflict."""
    check_configuration(configuration)
    study = rows.create(connection, name, configuration)
    if study is None:
        existing = find(connection, actor, name)
        if not rows.was_requested_as(connection, existing, configuration):
            raise StudyExists
        return existing, False
    study = ledger.append(connection, study, actor, "study-created", {"configuration": asdict(configuration)})
    if actor.key.role is not Role.ADMIN:
        study = ledger.append(connection, study, actor, "access-granted", {"key": actor.key.id})
    return study, True


def find(connection: Connection, actor: Actor, name: str) -> Study:
    """The study, if the key may see it."""
    return _visible(connection, actor, rows.find(connection, name))


def lock(connection: Connection, actor: Actor, name: str) -> Study:
    """As `find`, and nobody else changes it until this transaction ends."""
    study = _visible(connection, actor, rows.lock(connection, name))
    reach("locked")
    return study


def list_studies(
    connection: Connection, actor: Actor, state: StudyState | None, after: int, limit: int
) -> tuple[Study, ...]:
    granted_to = None if actor.key.may(Scope.KEYS) else actor.key.id
    return rows.page(connection, granted_to, state, after, limit)


def change(
    connection: Connection,
    actor: Actor,
    name: str,
    version: int | None,
    state: StudyState | None,
    settings: Callable[[Configuration], Configuration],
    reason: str | None,
) -> Study:
    """Another state, other settings, or both, as one event; `version` is the one the caller saw."""
    study = lock(connection, actor, name)
    if version is not ANY_VERSION and version != study.version:
        raise PreconditionFailed(current=study.version)
    changed = replace(study, configuration=settings(study.configuration))
    check_configuration(changed.configuration)
    if state is not None and state is not study.state:
        study.must_be_able_to_become(state)
        changed = replace(changed, state=state)
    if changed == study:
        return study
    payload = {"state": changed.state, "configuration": asdict(changed.configuration)}
    return ledger.append(connection, study, actor, "study-changed", payload, reason)


def delete(connection: Connection, actor: Actor, name: str, reason: str | None) -> Study:
    """A tombstone: everything is kept, nothing is shown any more, and the name stays taken."""
    study = lock(connection, actor, name)
    study.must_be_able_to_become(StudyState.DELETED)
    return ledger.append(connection, study, actor, "study-deleted", {}, reason)


def grant(connection: Connection, actor: Actor, name: str, key_id: str) -> Study:
    """Let a key see the study; what it may do there its role says."""
    study = lock(connection, actor, name)
    if keys.find(connection, key_id) is None:
        raise KeyNotFound
    if rows.is_granted(connection, key_id, study):
        return study
    return ledger.append(connection, study, actor, "access-granted", {"key": key_id})


def withdraw(connection: Connection, actor: Actor, name: str, key_id: str) -> Study:
    """Take a grant back, effective with the next request."""
    study = lock(connection, actor, name)
    if not rows.is_granted(connection, key_id, study):
        raise KeyNotFound
    return ledger.append(connection, study, actor, "access-withdrawn", {"key": key_id})


def _visible(connection: Connection, actor: Actor, study: Study | None) -> Study:
    if study is None or not (actor.key.may(Scope.KEYS) or rows.is_granted(connection, actor.key.id, study)):
        raise StudyNotFound
    if study.state is StudyState.DELETED:
        raise StudyDeleted
    return study
