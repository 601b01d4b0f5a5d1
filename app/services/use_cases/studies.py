"""Studies: create, find, change, delete."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from sqlalchemy import Connection

from app.domain.access import Actor, Role, Scope
from app.domain.audit import AuditAction
from app.domain.errors import (
    KeyNotFound,
    PreconditionFailed,
    StudyExists,
    StudyGone,
    StudyNotFound,
)
from app.domain.events import AccessGranted, AccessWithdrawn, StudyChanged, StudyCreated
from app.domain.quantities import must_measure_the_same
from app.domain.studies import Configuration, Study, StudyState
from app.failpoints import reach
from app.modelling.engine_settings import check_configuration
from app.services.filters import FilteredTable
from app.services.resources import Resources
from app.storage import audit, keys, ledger, observations
from app.storage import studies as rows
from app.storage.candidate_set import CandidateSet

ANY_VERSION = None


def create(connection: Connection, actor: Actor, name: str, configuration: Configuration) -> tuple[Study, bool]:
    """The study, and whether it is new. The same request again returns it; another configuration is a conflict."""
    check_configuration(configuration)
    study = rows.create(connection, name, configuration)
    if study is None:
        existing = find(connection, actor, name)
        before_failures = replace(configuration, failures=None)  # a study of before 0.2 says nothing about failures
        if not any(rows.was_requested_as(connection, existing, same) for same in (configuration, before_failures)):
            raise StudyExists
        return existing, False
    study = ledger.append(connection, study, actor, StudyCreated(configuration))
    if actor.key.role is not Role.ADMIN:
        study = ledger.append(connection, study, actor, AccessGranted(actor.key.id))
    return study, True


def find(connection: Connection, actor: Actor, name: str) -> Study:
    """The study, if the key may see it."""
    return _visible(connection, actor, rows.find(connection, name))


def lock(connection: Connection, actor: Actor, name: str) -> Study:
    """As `find`, and locked until this transaction ends."""
    study = _visible(connection, actor, rows.lock(connection, name))
    reach("locked")
    return study


def list_studies(
    connection: Connection, actor: Actor, state: StudyState | None, after: int, limit: int
) -> tuple[Study, ...]:
    granted_to = None if actor.key.may(Scope.KEYS) else actor.key.id
    return rows.page(connection, granted_to, state, after, limit)


def count_by_state(connection: Connection, _actor: Actor) -> dict[str, int]:
    """How many studies there are in each state, for whoever runs the server."""
    return rows.count_by_state(connection)


def change(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    version: int | None,
    state: StudyState | None,
    settings: Callable[[Configuration], Configuration],
    reason: str | None,
) -> Study:
    """Change the state, the settings, or both, as one event; `version` is the one that the caller saw."""
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
    _keep_measured(connection, study, changed.configuration)
    _must_be_conditions(connection, resources, study, changed.configuration)
    return ledger.append(connection, study, actor, StudyChanged(changed.state, changed.configuration), reason)


def grant(connection: Connection, actor: Actor, name: str, key_id: str) -> Study:
    """Let a key see the study; its role says what it may do there."""
    study = lock(connection, actor, name)
    if keys.find(connection, key_id) is None:
        raise KeyNotFound
    if rows.is_granted(connection, key_id, study):
        return study
    audit.append(connection, actor, AuditAction.ACCESS_GIVEN, {"study": name, "key": key_id})
    return ledger.append(connection, study, actor, AccessGranted(key_id))


def withdraw(connection: Connection, actor: Actor, name: str, key_id: str) -> Study:
    """Withdraw a grant, effective with the next request."""
    study = lock(connection, actor, name)
    if not rows.is_granted(connection, key_id, study):
        raise KeyNotFound
    audit.append(connection, actor, AuditAction.ACCESS_TAKEN, {"study": name, "key": key_id})
    return ledger.append(connection, study, actor, AccessWithdrawn(key_id))


def _keep_measured(connection: Connection, study: Study, changed: Configuration) -> None:
    """Results are stored under the names of the quantities, so what is measured stays once there are results."""
    if observations.last_number(connection, study) > 0:
        must_measure_the_same(study.configuration, changed)


def _must_be_conditions(connection: Connection, resources: Resources, study: Study, changed: Configuration) -> None:
    """Refuse conditions for all asks that the list cannot be asked about; without a list, its uploader decides."""
    if changed.where == study.configuration.where or not study.columns:
        return
    candidates = CandidateSet(connection, resources.arrays, study)
    state = partial(resources.ledger_states.read, connection, study.id, study.seq)
    FilteredTable(candidates, study.columns, state).meeting(changed.where, "/where")


def _visible(connection: Connection, actor: Actor, study: Study | None) -> Study:
    if study is None or not (actor.key.may(Scope.KEYS) or rows.is_granted(connection, actor.key.id, study)):
        raise StudyNotFound
    if study.state is StudyState.DELETED:
        raise StudyGone
    return study


def must_exist(study: Study | None) -> Study:
    if study is None:
        raise StudyNotFound
    return study
