"""Observations: read them, correct them, retract them. A change is a new version with a reason; the old one is kept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlalchemy import Connection

from app.domain.access import Actor, Scope
from app.domain.errors import CandidateNotFound, Denied, Finding, Invalid, ObservationNotFound, PreconditionFailed
from app.domain.events import (
    ObservationCorrected,
    ObservationRetracted,
    ObservationsReported,
    ObservationsReportedAgain,
)
from app.domain.observations import Measured, Observation, ObservationKind, Outcome
from app.domain.quantities import outside_limits, pointer_part, resolve
from app.domain.studies import Study
from app.services.resources import Resources
from app.services.use_cases import studies
from app.services.use_cases.report_matching import OUTSIDE_LIMITS
from app.storage import batches, ledger
from app.storage import observations as rows
from app.storage.candidate_set import CandidateSet


@dataclass(frozen=True)
class KeyedObservation:
    """An observation, the key of its candidate, its value of the study's first objective, and where it comes from."""

    observation: Observation
    key: str
    value: float | None
    missing: tuple[str, ...]  # quantities without a value
    origin: str | None  # the server where it was recorded, if not this one


@dataclass(frozen=True)
class Correction:
    """The values that change, and why; with `outside_limits` values outside their limits were confirmed."""

    values: Outcome
    reason: str
    outside_limits: bool = False


@dataclass(frozen=True)
class Revision:
    """The new version, and the batches that were computed with the one before: they stand."""

    current: KeyedObservation
    affected_batches: tuple[int, ...]


@dataclass(frozen=True)
class UploadRetraction:
    """The observations of one upload that count no more, and the batches that were computed with them."""

    upload: int
    observations: tuple[int, ...]
    affected_batches: tuple[int, ...]


def list_observations(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    after: int,
    limit: int,
    every_version: bool,
    candidate: str | None,
) -> list[KeyedObservation]:
    """A page of observations, of all candidates or of one."""
    study = studies.find(connection, actor, name)
    number = None
    if candidate is not None:
        number = CandidateSet(connection, resources.arrays, study).find(candidate)
        if number is None:
            raise CandidateNotFound
    page = rows.page(connection, study, after, limit, every_version=every_version, candidate=number)
    return with_keys(connection, resources, study, page)


def list_versions(
    connection: Connection, actor: Actor, resources: Resources, name: str, number: int
) -> list[KeyedObservation]:
    """Every version of one observation, oldest first."""
    study = studies.find(connection, actor, name)
    versions = rows.versions(connection, study, number)
    if not versions:
        raise ObservationNotFound
    return with_keys(connection, resources, study, versions)


def correct(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    number: int,
    version: int | None,
    correction: Correction,
) -> Revision:
    """Give some quantities of an observation other values; a retracted one counts again with them.

    `version` is the one the caller saw.
    """
    study, old = _current(connection, actor, name, number, version)
    values = _checked(study, correction)
    if old.kind is ObservationKind.RECORDED and _are_equal(old.values, values):
        return _revision(connection, resources, study, old, ())
    event = ObservationCorrected(old.number, old.version + 1, values)
    return _append(connection, actor, resources, study, old, event, correction.reason)


def retract(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    number: int,
    version: int | None,
    reason: str,
) -> Revision:
    """Let an observation count no more. `version` is the one the caller saw."""
    study, old = _current(connection, actor, name, number, version)
    if old.kind is ObservationKind.RETRACTED:
        return _revision(connection, resources, study, old, ())
    event = ObservationRetracted(old.number, old.version + 1)
    return _append(connection, actor, resources, study, old, event, reason)


def retract_upload(connection: Connection, actor: Actor, name: str, upload: int, reason: str) -> UploadRetraction:
    """Retract everything that one report recorded and that still counts, all or nothing."""
    study = studies.lock(connection, actor, name)
    reported = [result for event in _reports_of(connection, study, upload) for result in event]
    if not reported:
        raise ObservationNotFound("No report of this study has this upload number.")
    retracted = []
    for number, seq in reported:
        versions = rows.versions(connection, study, number)
        report = last_report(connection, study, versions)
        if report.seq == seq:
            _must_be_own(actor, study, report)
        if report.seq == seq and versions[-1].kind is ObservationKind.RECORDED:
            event = ObservationRetracted(number, versions[-1].version + 1, upload)
            study = ledger.append(connection, study, actor, event, reason)
            retracted.append(number)
    return UploadRetraction(upload, tuple(retracted), batches.based_on(connection, study, upload))


def _reports_of(connection: Connection, study: Study, upload: int) -> Iterator[list[tuple[int, int]]]:
    """The observations in each event of an upload, each with the event; its events follow one another."""
    for entry in ledger.read(connection, study.id, after=upload - 1):
        event = entry.event()
        if not isinstance(event, ObservationsReported | ObservationsReportedAgain) or event.upload != upload:
            return
        yield [(reported.observation, entry.seq) for reported in event.observations]


def last_report(connection: Connection, study: Study, versions: Sequence[Observation]) -> Observation:
    """The version that was reported last: the first one, or one reported again after a retraction."""
    after_retractions = [new for old, new in pairwise(versions) if old.kind is ObservationKind.RETRACTED]
    for version in reversed(after_retractions):
        if isinstance(ledger.event_at(connection, study.id, version.seq), ObservationsReportedAgain):
            return version
    return versions[0]


def must_be_allowed(connection: Connection, actor: Actor, study: Study, number: int) -> None:
    """Refuse a change of a result that another key reported, unless the role allows it."""
    _must_be_own(actor, study, last_report(connection, study, rows.versions(connection, study, number)))


def with_keys(
    connection: Connection, resources: Resources, study: Study, observations: Sequence[Observation]
) -> list[KeyedObservation]:
    candidates = [observation.candidate for observation in observations]
    keys = CandidateSet(connection, resources.arrays, study).keys(candidates)
    first, *others = [quantity.name for quantity in study.configuration.quantities]

    def keyed(observation: Observation, key: str) -> KeyedObservation:
        measured = observation.values.get(first)
        missing = tuple(name for name in (first, *others) if name not in observation.values)
        value = None if measured is None else measured.value
        return KeyedObservation(observation, key, value, missing, study.origin_of(observation.seq))

    return [keyed(observation, key) for observation, key in zip(observations, keys, strict=True)]


def _checked(study: Study, correction: Correction) -> Outcome:
    """The corrected values by the names of their quantities."""
    values = resolve(study.configuration, correction.values)
    if isinstance(values, Finding):
        raise Invalid([values])
    beyond = [
        Finding("outside-limits", message, column=name, pointer=f"/values/{pointer_part(name)}")
        for name, message in outside_limits(study.configuration, values)
    ]
    if beyond and not correction.outside_limits:
        raise Invalid(beyond, OUTSIDE_LIMITS)
    return values


def _must_be_own(actor: Actor, study: Study, reported: Observation) -> None:
    """An imported result is nobody's own: the key ids in it are those of another server."""
    own = reported.actor == actor.key.id and study.origin_of(reported.seq) is None
    if not actor.key.may(Scope.CORRECT) and not own:
        raise Denied("With this role you can correct only what the same key reported.")


def _current(
    connection: Connection, actor: Actor, name: str, number: int, version: int | None
) -> tuple[Study, Observation]:
    """The locked study, and the observation's current version if the actor may change it."""
    study = studies.lock(connection, actor, name)
    versions = rows.versions(connection, study, number)
    if not versions:
        raise ObservationNotFound
    current = versions[-1]
    _must_be_own(actor, study, last_report(connection, study, versions))
    if version is not None and version != current.version:
        raise PreconditionFailed(current=current.version)
    return study, current


def _append(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    study: Study,
    old: Observation,
    event: ObservationCorrected | ObservationRetracted,
    reason: str,
) -> Revision:
    study = ledger.append(connection, study, actor, event, reason)
    new = rows.versions(connection, study, old.number)[-1]
    return _revision(connection, resources, study, new, batches.based_on(connection, study, old.seq))


def _revision(
    connection: Connection, resources: Resources, study: Study, current: Observation, affected: tuple[int, ...]
) -> Revision:
    [keyed] = with_keys(connection, resources, study, [current])
    return Revision(keyed, affected)


def _are_equal(old: Mapping[str, Measured], new: Mapping[str, Measured]) -> bool:
    """To the last bit: −0.0 is not 0.0."""
    return all(repr(old.get(name)) == repr(measured) for name, measured in new.items())
