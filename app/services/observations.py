"""Observations as they are read."""

from collections.abc import Sequence

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.errors import CandidateNotFound
from app.domain.observations import Observation
from app.services import studies
from app.services.candidate_set import CandidateSet
from app.services.correct import Corrected, correct, history, retract
from app.services.resources import Resources
from app.storage import observations as rows

Keyed = tuple[Observation, str]


def list_observations(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    after: int,
    limit: int,
    *,
    every_version: bool,
    candidate: str | None,
) -> list[Keyed]:
    """Observations with their candidates' keys."""
    study = studies.find(connection, actor, name)
    candidates = CandidateSet(connection, resources.arrays, study)
    number = None
    if candidate is not None:
        number = candidates.find(candidate)
        if number is None:
            raise CandidateNotFound
    found = rows.page(connection, study, after, limit, every_version=every_version, candidate=number)
    return _keyed(candidates, found)


def versions(connection: Connection, actor: Actor, resources: Resources, name: str, number: int) -> list[Keyed]:
    """Every version of one observation, oldest first."""
    found = history(connection, actor, name, number)
    study = studies.find(connection, actor, name)
    return _keyed(CandidateSet(connection, resources.arrays, study), found)


def correct_one(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    number: int,
    version: int | None,
    value: float,
    reason: str,
) -> tuple[Corrected, str]:
    return _with_key(
        connection, actor, resources, name, correct(connection, actor, name, number, version, value, reason)
    )


def retract_one(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    number: int,
    version: int | None,
    reason: str,
) -> tuple[Corrected, str]:
    return _with_key(connection, actor, resources, name, retract(connection, actor, name, number, version, reason))


def _with_key(
    connection: Connection, actor: Actor, resources: Resources, name: str, done: Corrected
) -> tuple[Corrected, str]:
    study = studies.find(connection, actor, name)
    return done, CandidateSet(connection, resources.arrays, study).keys([done.observation.candidate])[0]


def _keyed(candidates: CandidateSet, found: Sequence[Observation]) -> list[Keyed]:
    keys = candidates.keys([one.candidate for one in found])
    return list(zip(found, keys, strict=True))
