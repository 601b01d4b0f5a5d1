"""Correct or retract an observation: a new version with a reason; the old one is kept."""

from dataclasses import dataclass, replace

from sqlalchemy import Connection

from app.domain.access import Actor, Scope
from app.domain.errors import Denied, ObservationNotFound, PreconditionFailed
from app.domain.observations import Kind, Observation
from app.domain.studies import Study
from app.services import studies
from app.storage import batches, ledger, observations


@dataclass(frozen=True)
class Corrected:
    observation: Observation
    affected_batches: tuple[int, ...]  # computed with the version before; they stand, the next one uses the new value


def correct(
    connection: Connection, actor: Actor, name: str, number: int, version: int | None, value: float, reason: str
) -> Corrected:
    """Another value; a retracted observation stands again with it."""
    study, old = _current(connection, actor, name, number, version)
    if old.kind is Kind.RECORDED and repr(old.value) == repr(value):
        return Corrected(old, ())
    return _supersede(connection, actor, study, old, replace(old, kind=Kind.RECORDED, value=value, reason=reason))


def retract(
    connection: Connection, actor: Actor, name: str, number: int, version: int | None, reason: str
) -> Corrected:
    """It does not count any more."""
    study, old = _current(connection, actor, name, number, version)
    if old.kind is Kind.RETRACTED:
        return Corrected(old, ())
    return _supersede(connection, actor, study, old, replace(old, kind=Kind.RETRACTED, reason=reason))


def history(connection: Connection, actor: Actor, name: str, number: int) -> list[Observation]:
    """Every version of an observation, oldest first."""
    versions = observations.versions(connection, studies.find(connection, actor, name), number)
    if not versions:
        raise ObservationNotFound
    return versions


def _current(
    connection: Connection, actor: Actor, name: str, number: int, version: int | None
) -> tuple[Study, Observation]:
    study = studies.lock(connection, actor, name)
    versions = observations.versions(connection, study, number)
    if not versions:
        raise ObservationNotFound
    current = versions[-1]
    if not actor.key.may(Scope.CORRECT) and versions[0].actor != actor.key.id:
        raise Denied("This role corrects only what the same key reported.")
    if version is not None and version != current.version:
        raise PreconditionFailed(current=current.version)
    return study, current


def _supersede(connection: Connection, actor: Actor, study: Study, old: Observation, changed: Observation) -> Corrected:
    version = old.version + 1
    payload: dict[str, object] = {"observation": old.number, "version": version}
    if changed.kind is Kind.RECORDED:
        payload["value"] = changed.value
    event = "observation-retracted" if changed.kind is Kind.RETRACTED else "observation-corrected"
    study = ledger.append(connection, study, actor, event, payload, changed.reason)
    new = observations.versions(connection, study, old.number)[-1]
    return Corrected(new, batches.based_on(connection, study, old.seq))
