"""Report what was measured: one transaction that checks, appends events and updates the tables."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.errors import Finding, Invalid
from app.domain.events import (
    AbandonedMeasurement,
    FailedMeasurement,
    MeasurementsAbandoned,
    MeasurementsFailed,
    ObservationsReported,
    ReportedObservation,
    StudyEvent,
)
from app.domain.observations import Measured, Report
from app.domain.studies import Study
from app.services.resources import Resources
from app.services.use_cases import studies
from app.services.use_cases.report_matching import Match, ReportMatcher
from app.storage import ledger

OBSERVATIONS_PER_EVENT = 1_000
EXTREME = 1e100


@dataclass(frozen=True)
class ReportReceipt:
    """What became of each report, in order, and what seemed odd."""

    matches: tuple[Match, ...]
    warnings: tuple[Finding, ...]


def report(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    reports: Sequence[Report],
    skip_repeated: bool,
) -> ReportReceipt:
    """Store reports, all or none. A result is never too late: only a deleted study refuses it."""
    study = studies.lock(connection, actor, name)
    matcher = ReportMatcher(connection, resources, study, reports, skip_repeated=skip_repeated)
    matches = tuple(match for report in reports for match in matcher.match(report))
    matcher.refuse_if_any_is_wrong()
    for event in _events(study, matches):
        study = ledger.append(connection, study, actor, event)
    return ReportReceipt(matches, (*matcher.warnings, *_extremes(matches)))


def must_not_be_empty(reports: Sequence[Report]) -> None:
    if not reports:
        message = "No row has a value or a failure. Fill in the column `value`, or say why in `failed`."
        raise Invalid([Finding("no-observations", message)])


def _events(study: Study, matches: Sequence[Match]) -> list[StudyEvent]:
    objective = study.configuration.objective.name
    recorded = [_observation(match, objective) for match in matches if match.status == "recorded"]
    events: list[StudyEvent] = [
        ObservationsReported(tuple(recorded[start : start + OBSERVATIONS_PER_EVENT]))
        for start in range(0, len(recorded), OBSERVATIONS_PER_EVENT)
    ]
    failures = tuple(_failure(match) for match in matches if match.status == "failed")
    abandoned = tuple(_abandoned(match) for match in matches if match.status == "abandoned")
    if failures:
        events.append(MeasurementsFailed(failures))
    if abandoned:
        events.append(MeasurementsAbandoned(abandoned))
    return events


def _observation(match: Match, objective: str) -> ReportedObservation:
    assert match.observation is not None and match.value is not None  # noqa: S101, PT018  (narrows for mypy)
    return ReportedObservation(
        observation=match.observation,
        candidate=match.candidate,
        values={objective: Measured(match.value)},
        suggestion=match.suggestion,
        replicate=match.replicate,
        ref=match.report.ref,
        measured_at=match.report.measured_at,
        measured_by=match.report.measured_by,
        note=match.report.note,
    )


def _failure(match: Match) -> FailedMeasurement:
    assert match.report.failed is not None  # noqa: S101  (narrows for mypy)
    failed = match.report.failed
    return FailedMeasurement(match.candidate, match.key, failed.reason, failed.retry, match.suggestion)


def _abandoned(match: Match) -> AbandonedMeasurement:
    return AbandonedMeasurement(match.candidate, match.key, match.report.abandoned, match.suggestion)


def _extremes(matches: Sequence[Match]) -> list[Finding]:
    message = "This value is extremely large. It was stored as it is; correct it if it is a typing error."
    return [
        Finding("extreme-value", message, row=match.report.row)
        for match in matches
        if match.value is not None and abs(match.value) > EXTREME
    ]
