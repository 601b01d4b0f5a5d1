"""A report about a result that is there: a repeat, more of it, a correction, or a value where one was retracted."""

from dataclasses import dataclass, field, replace
from typing import Literal

from sqlalchemy import Connection

from app.domain.batches import SuggestionId
from app.domain.errors import Finding
from app.domain.events import ObservationRetracted
from app.domain.observations import Outcome, Report
from app.domain.quantities import adds_to, agrees, changes
from app.domain.studies import Study
from app.services.use_cases.report_contradictions import finding_at
from app.services.use_cases.stored_results import Earlier
from app.storage import ledger, observations

MatchStatus = Literal["recorded", "completed", "corrected", "duplicate", "failed", "abandoned"]


@dataclass(frozen=True)
class Match:
    """What becomes of one reported outcome, failure or abandonment.

    An outcome makes the next `version` of an observation if it completes it, because some of its quantities came later,
    if it corrects it, or if the observation had been retracted.
    """

    report: Report
    status: MatchStatus
    candidate: int
    key: str
    observation: int | None = None
    values: Outcome = field(default_factory=dict)
    suggestion: SuggestionId | None = None
    replicate: int | None = None
    version: int = 1
    replaced: Outcome = field(default_factory=dict)  # by a correction


class RepeatedReports:
    """Decides what a report changes in a result, and notes it there for the next report of the call."""

    def __init__(self, connection: Connection, study: Study, first_new: int, *, corrects: bool) -> None:
        self._connection, self._study = connection, study
        self._first_new = first_new  # the number of the first observation that the call brings
        self._corrects = corrects

    def match(self, match: Match, earlier: Earlier) -> Match | Finding:
        """What becomes of it, or why it is refused."""
        missing = adds_to(earlier.values, match.values)
        if earlier.candidate != match.candidate:
            return self._conflict(match, earlier)
        if earlier.retracted and self._may_count_again(match, earlier):
            return self._report_again(match, earlier)
        if not earlier.retracted and missing is not None:
            return self._complete(match, earlier, missing) if missing else match
        if not earlier.retracted and self._corrects and not earlier.is_settled:
            return self._correct(match, earlier)
        return self._conflict(match, earlier)

    def _may_count_again(self, match: Match, earlier: Earlier) -> bool:
        """Whether a report fills the place of a retracted result.

        What was retracted by itself was found wrong: yesterday's sheet, sent again with more rows, must not bring it
        back. A new value is welcome, and so is everything after a whole upload was retracted.
        """
        versions = observations.versions(self._connection, self._study, earlier.observation)
        if self._corrects or not any(agrees(version.values, match.values) for version in versions):
            return True
        retraction = ledger.event_at(self._connection, self._study.id, versions[-1].seq)
        return isinstance(retraction, ObservationRetracted) and retraction.upload is not None

    @staticmethod
    def _report_again(match: Match, earlier: Earlier) -> Match:
        """Give a retracted result the values of a new report."""
        earlier.values, earlier.retracted, earlier.is_settled = match.values, False, True
        earlier.version += 1
        return replace(match, status="recorded", version=earlier.version)

    @staticmethod
    def _complete(match: Match, earlier: Earlier, missing: Outcome) -> Match:
        """Give a result the quantities that it lacks."""
        earlier.values = {**earlier.values, **missing}
        earlier.version += 1
        return replace(match, status="completed", values=missing, version=earlier.version)

    @staticmethod
    def _correct(match: Match, earlier: Earlier) -> Match:
        """Give a result other values."""
        values = changes(earlier.values, match.values)
        replaced = {name: earlier.values[name] for name in values if name in earlier.values}
        earlier.values, earlier.is_settled = {**earlier.values, **values}, True
        earlier.version += 1
        return replace(match, status="corrected", values=values, version=earlier.version, replaced=replaced)

    def _conflict(self, match: Match, earlier: Earlier) -> Finding:
        report, number = match.report, earlier.observation
        subject = str(report.suggestion) if report.suggestion else match.key
        if earlier.is_settled or number >= self._first_new:
            message = f"{subject} is reported twice in this request, with different values. Send one of them."
            return finding_at(report, "already-observed", message)
        state = "already has a result" if not earlier.retracted else "had just this result, which was retracted"
        aim = "change it" if not earlier.retracted else "let it count again"
        call = f"POST /v1/studies/{self._study.name}/observations/{number}/corrections with the value and a reason"
        message = (
            f"{subject} {state} (observation {number}). To {aim}, send the same again with `corrections=accept` and a"
            f" `reason`, or {call}."
        )
        return finding_at(report, "already-observed", message)
