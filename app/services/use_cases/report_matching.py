"""Match each reported value with its candidate, its suggestion and its replicate, or recognise it as a repeat.

A report by suggestion fills that suggestion's replicates. A report by key fills the oldest pending suggestion of the
candidate; if none is pending, the result was not requested, and is welcome all the same.

A sheet names a candidate in several ways at once: by suggestion, by key and by its conditions. They must agree, or the
row is refused: a column that was sorted alone must not move results to other candidates.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sqlalchemy import Connection

from app.domain.batches import Suggestion, SuggestionId, SuggestionState
from app.domain.candidates import Candidate
from app.domain.errors import AlreadyObserved, Finding, Invalid
from app.domain.observations import Observation, ObservationKind, Report
from app.domain.studies import Study
from app.services.resources import Resources
from app.services.use_cases.plausibility import Plausibility
from app.services.use_cases.report_contradictions import finding_at, other_conditions, other_key
from app.storage import batches, ledger, observations
from app.storage.candidate_set import CandidateSet

MatchStatus = Literal["recorded", "duplicate", "failed", "abandoned"]
LATEST = 50
"""Results that a new value is compared with."""


@dataclass(frozen=True)
class Match:
    """What becomes of one reported value, failure or abandonment."""

    report: Report
    status: MatchStatus
    candidate: int
    key: str
    observation: int | None = None
    value: float | None = None
    suggestion: SuggestionId | None = None
    replicate: int | None = None


@dataclass(frozen=True)
class _Earlier:
    """A result that is stored already, or that an earlier report of the same call brought."""

    observation: int | None
    candidate: int
    value: float
    suggestion: SuggestionId | None
    replicate: int | None
    retracted: bool = False


class ReportMatcher:
    """Matches the reports of one call, one after the other; each sees what those before it filled."""

    def __init__(
        self,
        connection: Connection,
        resources: Resources,
        study: Study,
        reports: Sequence[Report],
        *,
        digest: str | None = None,
        all_new: bool = False,
    ) -> None:
        self._connection = connection
        self._study = study
        self._digest = digest
        self._all_new = all_new
        self._reports = reports
        self._objective = study.configuration.objective.name
        self._candidates = CandidateSet(connection, resources.arrays, study)
        keys = {report.candidate for report in reports if report.candidate is not None}
        self._numbers = self._candidates.find_all(keys)
        refs = {report.ref for report in reports if report.ref is not None}
        stored = observations.with_refs(connection, study, refs)
        self._refs = {ref: self._stored(observation) for ref, observation in stored.items()}
        latest = observations.latest(connection, study, LATEST)
        self._next_number = latest[0].number + 1 if latest else 1
        self._first_number = self._next_number
        self._plausibility = Plausibility([self._stored(observation).value for observation in latest])
        self._repeats: Counter[tuple[int, float, str | None]] = Counter()
        self._loaded_batches: set[int] = set()
        self._suggestions: dict[SuggestionId, Suggestion] = {}
        self._filled: dict[SuggestionId, dict[int, _Earlier]] = {}  # by replicate
        self._load(report.suggestion.batch for report in reports if report.suggestion is not None)
        self._errors: list[Finding] = []
        self._conflicts: list[Finding] = []
        self._warnings: list[Finding] = []
        self._recognised = 0

    def match(self, report: Report) -> Iterator[Match]:
        """One match per value. Errors are collected, so that one answer names them all."""
        suggestion = self._suggestion(report)
        if report.suggestion is not None and suggestion is None:
            return
        candidate = suggestion.candidate if suggestion else self._candidate(report)
        if candidate is None or self._contradicts_itself(report, suggestion, candidate):
            return
        if report.mangled:
            suggestion = self._suggestion_of(report, candidate)
        key = self._candidates.keys([candidate])[0] if report.candidate is None else report.candidate
        if report.failed is not None or report.abandoned is not None:
            yield from self._match_without_value(report, suggestion, candidate, key)
            return
        for offset, value in enumerate(report.values):
            yield from self._match_value(report, suggestion, candidate, key, value, offset)

    def refuse_if_any_is_wrong(self) -> None:
        if self._errors:
            raise Invalid(self._errors)
        if self._conflicts:
            raise AlreadyObserved(self._conflicts)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        if not self._recognised:
            return tuple(self._warnings)
        results = "1 result was" if self._recognised == 1 else f"{self._recognised:,} results were"
        message = f"{results} reported before and not stored again. To store new measurements, send `duplicates=new`."
        return (Finding("reported-before", message), *self._warnings)

    def _match_value(
        self, report: Report, suggestion: Suggestion | None, candidate: int, key: str, value: float, offset: int
    ) -> Iterator[Match]:
        suggestion = suggestion or self._pending_of(candidate)
        earlier = self._refs.get(report.ref) if report.ref is not None and offset == 0 else None
        if report.suggestion is None and report.ref is None:
            earlier = self._recognise(report, suggestion, candidate, value)
        slot, replicate = None, None
        if suggestion is not None and earlier is None:
            slot, replicate = suggestion.id, self._replicate(report, suggestion, offset)
            if replicate is None:
                return
            earlier = self._filled[slot].get(replicate)
        if earlier is not None:
            yield from self._match_repeat(report, key, candidate, value, earlier)
            return
        implausible = self._plausibility.finding(value, suggestion.why if suggestion else None, report)
        if implausible is not None:
            self._warnings.append(implausible)
        yield self._record(Match(report, "recorded", candidate, key, self._next_number, value, slot, replicate), offset)

    def _record(self, match: Match, offset: int) -> Match:
        """Remember a new result, so that later reports of this call see it."""
        assert match.value is not None  # noqa: S101  (narrows for mypy)
        self._next_number += 1
        new = _Earlier(match.observation, match.candidate, match.value, match.suggestion, match.replicate)
        if match.suggestion is not None and match.replicate is not None:
            self._filled[match.suggestion][match.replicate] = new
        if match.report.ref is not None and offset == 0:
            self._refs[match.report.ref] = new
        return match

    def _match_repeat(
        self, report: Report, key: str, candidate: int, value: float, earlier: _Earlier
    ) -> Iterator[Match]:
        """The same value again is harmless. Another value, or one for a retracted result, needs a correction."""
        number = earlier.observation
        if not earlier.retracted and earlier.candidate == candidate and earlier.value == value:
            self._recognised += 1
            yield Match(report, "duplicate", candidate, key, number, value, earlier.suggestion, earlier.replicate)
            return
        subject = str(report.suggestion) if report.suggestion else key
        state = "already has a result" if not earlier.retracted else "has a result that was retracted"
        if number is not None and number < self._first_number:
            call = f"POST /v1/studies/{self._study.name}/observations/{number}/corrections with the value and a reason"
            message = f"{subject} {state} (observation {number}). To change it: {call}."
        else:
            message = f"{subject} is reported twice in this request, with different values. Send one of them."
        self._conflicts.append(finding_at(report, "already-observed", message))

    def _match_without_value(
        self, report: Report, suggestion: Suggestion | None, candidate: int, key: str
    ) -> Iterator[Match]:
        suggestion = suggestion or self._pending_of(candidate)
        status: MatchStatus = "failed" if report.failed else "abandoned"
        if suggestion is None:
            yield Match(report, status, candidate, key)
        elif self._is_measured(suggestion):
            message = f"{suggestion.id} has a result. To report a failure instead, retract that result first."
            self._conflicts.append(finding_at(report, "already-observed", message))
        else:
            yield Match(report, status, candidate, key, suggestion=suggestion.id)

    def _is_measured(self, suggestion: Suggestion) -> bool:
        """Whether it has all its replicates, including those of this call."""
        filled = self._filled[suggestion.id]
        return suggestion.state is SuggestionState.OBSERVED or len(filled) >= suggestion.replicates

    def _suggestion(self, report: Report) -> Suggestion | None:
        if report.suggestion is None:
            return None
        suggestion = self._suggestions.get(report.suggestion)
        if suggestion is None:
            message = "The study has no such suggestion. Use an id from the batch, such as B3-S1."
            self._errors.append(finding_at(report, "unknown-suggestion", message, "suggestion"))
        return suggestion

    def _candidate(self, report: Report) -> int | None:
        if report.candidate is None:
            return None
        number = self._numbers.get(report.candidate)
        if number is None:
            message = "The study has no candidate with this key. Check its spelling."
            self._errors.append(finding_at(report, "unknown-candidate", message, "key"))
        return number

    def _replicate(self, report: Report, suggestion: Suggestion, offset: int) -> int | None:
        """The replicate as stated; else counted from the first value; else the next one that is free."""
        if report.replicate is not None:
            return report.replicate + offset
        by_suggestion = report.suggestion is not None or report.mangled
        if by_suggestion and (len(report.values) > 1 or suggestion.replicates == 1):
            return offset + 1
        if not by_suggestion or report.ref is not None:
            filled = self._filled[suggestion.id]
            return next(number for number in range(1, len(filled) + 2) if number not in filled)
        message = (
            f"{suggestion.replicates} measurements were requested: give all of them as `values`, "
            "or say which `replicate` this is."
        )
        self._errors.append(finding_at(report, "which-replicate", message, "replicate"))
        return None

    def _contradicts_itself(self, report: Report, suggestion: Suggestion | None, candidate: int) -> bool:
        """Whether the row's key or conditions are those of another candidate."""
        finding = None
        if suggestion is not None and report.candidate is not None and self._numbers.get(report.candidate) != candidate:
            [own_key] = self._candidates.keys([candidate])
            finding = other_key(report, suggestion, own_key, is_known=report.candidate in self._numbers)
        elif report.conditions:
            finding = other_conditions(report, suggestion, self._described[candidate])
        if finding is not None:
            self._errors.append(finding)
        return finding is not None

    @cached_property
    def _described(self) -> dict[int, Candidate]:
        """The candidates whose conditions the reports state."""
        numbers = {s.candidate for r in self._reports if r.suggestion and (s := self._suggestions.get(r.suggestion))}
        numbers |= set(self._numbers.values())
        return {candidate.number: candidate for candidate in self._candidates.read(sorted(numbers))}

    def _suggestion_of(self, report: Report, candidate: int) -> Suggestion | None:
        """The suggestion whose id became a date: the candidate's oldest pending one, else its newest."""
        message = "The suggestion's id had become a date. The row was matched by its key."
        self._warnings.append(finding_at(report, "id-became-date", message, "suggestion"))
        pending = self._pending_of(candidate)
        if pending is not None:
            return pending
        issued = batches.suggestions_for(self._connection, self._study, [candidate])
        self._load({suggestion.id.batch for suggestion in issued[-1:]})
        return issued[-1] if issued else None

    def _recognise(self, report: Report, pending: Suggestion | None, candidate: int, value: float) -> _Earlier | None:
        """The stored result that this one repeats: n equal rows of a call repeat n equal stored results."""
        if self._all_new:
            return None
        same = (candidate, value, report.measured_at)
        equal = [
            observation
            for observation in self._stored_results.get(same, ())
            if pending is None or observation.seq > self._issued.get(pending.id.batch, 0) or self._is_sent_again
        ]
        position = self._repeats[same]
        self._repeats[same] += 1
        return self._stored(equal[position]) if position < len(equal) else None

    @cached_property
    def _stored_results(self) -> dict[tuple[int, float, str | None], list[Observation]]:
        """What the candidates named by key gave before this call, by candidate, value and moment."""
        results: dict[tuple[int, float, str | None], list[Observation]] = defaultdict(list)
        for observation in observations.recorded_of(self._connection, self._study, self._numbers.values()):
            value = observation.values[self._objective].value
            results[observation.candidate, value, observation.measured_at].append(observation)
        return results

    @cached_property
    def _issued(self) -> dict[int, int]:
        """The event that issued each batch with something pending: an older result does not answer it."""
        numbers = {suggestion.id.batch for pending in self._pending.values() for suggestion in pending}
        return {batch.number: batch.seq for batch in batches.with_numbers(self._connection, self._study, numbers)}

    @cached_property
    def _is_sent_again(self) -> bool:
        """Whether the same file was sent before."""
        return self._digest is not None and ledger.has_digest(self._connection, self._study.id, self._digest)

    @cached_property
    def _pending(self) -> dict[int, list[Suggestion]]:
        """The pending suggestions of each candidate, oldest first."""
        by_candidate: dict[int, list[Suggestion]] = defaultdict(list)
        pending = batches.suggestions_in(self._connection, self._study, SuggestionState.PENDING)
        self._load({suggestion.id.batch for suggestion in pending if suggestion.replicates > 1})
        for suggestion in pending:
            self._filled.setdefault(suggestion.id, {})  # with one replicate, pending means that it has no result
            by_candidate[suggestion.candidate].append(suggestion)
        return by_candidate

    def _pending_of(self, candidate: int) -> Suggestion | None:
        """The oldest suggestion of this candidate that still lacks a value."""
        suggestions = self._pending.get(candidate, ())
        return next((s for s in suggestions if len(self._filled[s.id]) < s.replicates), None)

    def _load(self, numbers: Iterable[int]) -> None:
        """Read the suggestions and the results of batches that were not read yet."""
        missing = set(numbers) - self._loaded_batches
        self._loaded_batches |= missing
        for suggestion in batches.suggestions_of(self._connection, self._study, missing):
            self._suggestions[suggestion.id] = suggestion
            self._filled[suggestion.id] = {}
        for observation in observations.of_suggestions(self._connection, self._study, missing):
            if observation.suggestion is not None and observation.replicate is not None:
                self._filled[observation.suggestion][observation.replicate] = self._stored(observation)

    def _stored(self, observation: Observation) -> _Earlier:
        return _Earlier(
            observation.number,
            observation.candidate,
            observation.values[self._objective].value,
            observation.suggestion,
            observation.replicate,
            retracted=observation.kind is ObservationKind.RETRACTED,
        )
