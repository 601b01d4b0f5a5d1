"""Report what was measured: one transaction that checks, appends events and updates the tables."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.errors import Finding, Invalid
from app.domain.events import (
    AbandonedMeasurement,
    FailedMeasurement,
    MeasurementsAbandoned,
    MeasurementsFailed,
    ObservationCorrected,
    ObservationsReported,
    ObservationsReportedAgain,
    StudyEvent,
)
from app.domain.observations import Report, ReportedObservation, keys_of
from app.domain.studies import Study
from app.services.foresight import ResultsAtHead, foreseen_results, read_results
from app.services.recent_results import LATEST, StudyAtHead
from app.services.resources import Resources
from app.services.use_cases import studies
from app.services.use_cases.observations import must_be_allowed
from app.services.use_cases.plain_matching import PlainMatches, match_plainly
from app.services.use_cases.plausibility import IMPLAUSIBLE
from app.services.use_cases.repeats import Match
from app.services.use_cases.report_matching import ReportMatcher
from app.storage import ledger

OBSERVATIONS_PER_EVENT = 1_000
LATER = "reported later"
"""Why an observation has a new version when some of its quantities come after the others."""
AGAIN = "reported again after it was retracted"


@dataclass(frozen=True)
class ReportReceipt:
    """What became of each report, in order, and what seemed odd."""

    matches: Sequence[Match]
    warnings: tuple[Finding, ...]
    upload: int | None  # by which everything that this call recorded can be retracted


@dataclass(frozen=True)
class ReportOptions:
    """How a call wants its reports to be taken."""

    digest: str | None = None  # of the body
    all_new: bool = False  # equal values are new measurements
    refuse_implausible: bool = False
    outside_limits: bool = False  # values outside the limits of their quantity were confirmed
    corrects: bool = False  # other values of results that are stored correct them
    reason: str | None = None  # of the corrections


def report(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    reports: Sequence[Report],
    options: ReportOptions,
) -> ReportReceipt:
    """Store reports, all or none. A result is never too late: only a deleted study refuses it."""
    study = studies.lock(connection, actor, name)
    keys = keys_of(reports)
    stored = foreseen_results(connection, study, keys) or read_results(connection, resources.arrays, study, keys)
    before = resources.recent_results.of(connection, study)
    plain = match_plainly(study, before, reports, stored, all_new=options.all_new)
    matches, warnings = plain or _match(connection, actor, resources, study, reports, stored, options)
    if options.refuse_implausible:
        _refuse_implausible(warnings)
    upload = study.seq + 1 if any(match.status == "recorded" for match in matches) else None
    for event, reason in _events(matches, upload, options):
        study = ledger.append(connection, study, actor, event, reason)
    if _are_new(matches):
        _remember(resources, before, study, matches, stored)
    return ReportReceipt(matches, warnings, upload)


def _match(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    study: Study,
    reports: Sequence[Report],
    stored: ResultsAtHead,
    options: ReportOptions,
) -> tuple[tuple[Match, ...], tuple[Finding, ...]]:
    """A match for each value, and what seemed odd; raises what is wrong."""
    matcher = ReportMatcher(
        connection,
        resources,
        study,
        reports,
        stored,
        digest=options.digest,
        all_new=options.all_new,
        corrects=options.corrects,
    )
    matches = tuple(match for report in reports for match in matcher.match(report))
    matcher.refuse_if_any_is_wrong(outside_limits=options.outside_limits)
    for match in matches:
        if match.status == "corrected" and match.observation is not None:
            must_be_allowed(connection, actor, study, match.observation)
    return matches, matcher.warnings


def _are_new(matches: Sequence[Match]) -> bool:
    """Whether nothing but new results comes of them, so that the study is known without reading it again."""
    return isinstance(matches, PlainMatches) or all(
        match.status == "recorded" and match.version == 1 for match in matches
    )


def _remember(
    resources: Resources, before: StudyAtHead, study: Study, matches: Sequence[Match], stored: ResultsAtHead
) -> None:
    """What is known of the study after new results, for the reports that follow."""
    newest = [(match.observation or 0, match.values) for match in matches[-LATEST:]]
    if isinstance(matches, PlainMatches):  # so many share no transaction with others, and answer no suggestion
        resources.recent_results.add(before, study, newest, frozenset())
        return
    answered = {match.suggestion for match in matches if match.suggestion is not None}
    if all(suggestion.replicates == 1 for suggestion in before.pending if suggestion.id in answered):
        resources.recent_results.add(before, study, newest, answered)
    new = ((match.candidate, match.values.values()) for match in matches)
    stored.add(study, {(candidate, measured.value) for candidate, values in new for measured in values})


def must_not_be_empty(reports: Sequence[Report]) -> None:
    if not reports:
        message = "No row has a value or a failure. Fill in the column `value`, or say why in `failed`."
        raise Invalid([Finding("no-observations", message)])


def _refuse_implausible(warnings: Sequence[Finding]) -> None:
    implausible = [finding for finding in warnings if finding.code in IMPLAUSIBLE]
    if implausible:
        detail = (
            "Nothing was stored, because a value is implausible. Correct it; if it is right, send the request again"
            " with `implausible=accept`."
        )
        raise Invalid(implausible, detail)


def _events(
    matches: Sequence[Match], upload: int | None, options: ReportOptions
) -> Iterator[tuple[StudyEvent, str | None]]:
    """The events, each with its reason. Those of the upload come first, because it is read from its first event on."""
    if isinstance(matches, PlainMatches):
        for start in range(0, len(matches), OBSERVATIONS_PER_EVENT):
            part = matches.observations.part(start, OBSERVATIONS_PER_EVENT)  # it is read as the tuple is
            yield ObservationsReported(part, upload, options.digest), None  # type: ignore[arg-type]
        return
    recorded = [match for match in matches if match.status == "recorded"]
    for observations in _in_parts(match for match in recorded if match.version == 1):
        yield ObservationsReported(observations, upload, options.digest), None
    for observations in _in_parts(match for match in recorded if match.version > 1):
        yield ObservationsReportedAgain(observations, upload, options.digest), options.reason or AGAIN
    for match in matches:
        if match.status in ("completed", "corrected") and match.observation is not None:
            reason = LATER if match.status == "completed" else options.reason
            yield ObservationCorrected(match.observation, match.version, match.values), reason
    failures = tuple(_failure(match) for match in matches if match.status == "failed")
    abandoned = tuple(_abandoned(match) for match in matches if match.status == "abandoned")
    if failures:
        yield MeasurementsFailed(failures), None
    if abandoned:
        yield MeasurementsAbandoned(abandoned), None


def _in_parts(matches: Iterable[Match]) -> Iterator[tuple[ReportedObservation, ...]]:
    reported = [_observation(match) for match in matches]
    for start in range(0, len(reported), OBSERVATIONS_PER_EVENT):
        yield tuple(reported[start : start + OBSERVATIONS_PER_EVENT])


def _observation(match: Match) -> ReportedObservation:
    assert match.observation is not None  # noqa: S101  (narrows for mypy)
    return ReportedObservation(
        observation=match.observation,
        candidate=match.candidate,
        values=match.values,
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
