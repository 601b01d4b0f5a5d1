"""Match each reported value with its candidate, its suggestion and its replicate, or recognise it as a repeat.

A report by suggestion fills that suggestion's replicates. A report by key fills the oldest pending suggestion of the
candidate; if none is pending, the result was not requested, and is welcome all the same.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sqlalchemy import Connection

from app.domain.batches import Suggestion, SuggestionId, SuggestionState
from app.domain.errors import AlreadyObserved, Finding, Invalid
from app.domain.observations import Observation, ObservationKind, Report
from app.domain.studies import Study
from app.services.resources import Resources
from app.storage import batches, observations
from app.storage.candidate_set import CandidateSet

MatchStatus = Literal["recorded", "duplicate", "skipped", "failed", "abandoned"]


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
        skip_repeated: bool,
    ) -> None:
        self._connection = connection
        self._study = study
        self._objective = study.configuration.objective.name
        self._skip_repeated = skip_repeated
        self._candidates = CandidateSet(connection, resources.arrays, study)
        keys = {report.candidate for report in reports if report.candidate is not None}
        self._numbers = self._candidates.find_all(keys)
        refs = {report.ref for report in reports if report.ref is not None}
        stored = observations.with_refs(connection, study, refs)
        self._refs = {ref: self._stored(observation) for ref, observation in stored.items()}
        self._next_number = observations.last_number(connection, study) + 1
        self._loaded_batches: set[int] = set()
        self._suggestions: dict[SuggestionId, Suggestion] = {}
        self._filled: dict[SuggestionId, dict[int, _Earlier]] = {}  # by replicate
        self._load(report.suggestion.batch for report in reports if report.suggestion is not None)
        self._errors: list[Finding] = []
        self._conflicts: list[Finding] = []
        self.warnings: list[Finding] = []

    def match(self, report: Report) -> Iterator[Match]:
        """One match per value. Errors are collected, so that one answer names them all."""
        suggestion = self._suggestion(report)
        candidate = suggestion.candidate if suggestion else self._candidate(report)
        if candidate is None:
            return
        key = report.candidate or self._candidates.keys([candidate])[0]
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

    def _match_value(
        self, report: Report, suggestion: Suggestion | None, candidate: int, key: str, value: float, offset: int
    ) -> Iterator[Match]:
        suggestion = suggestion or self._pending_of(candidate)
        earlier = self._refs.get(report.ref) if report.ref is not None and offset == 0 else None
        slot, replicate = None, None
        if suggestion is not None and earlier is None:
            slot, replicate = suggestion.id, self._replicate(report, suggestion, offset)
            if replicate is None:
                return
            earlier = self._filled[slot].get(replicate)
        if earlier is not None:
            yield from self._match_repeat(report, key, candidate, value, earlier)
            return
        if slot is None and self._looks_repeated(report, candidate, value):
            if self._skip_repeated:
                yield Match(report, "skipped", candidate, key, value=value)
                return
            message = "The same value of the same candidate is stored already. It was stored once more."
            self.warnings.append(Finding("looks-repeated", message, row=report.row))
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
            yield Match(report, "duplicate", candidate, key, number, value, earlier.suggestion, earlier.replicate)
            return
        subject = str(report.suggestion) if report.suggestion else key
        if earlier.retracted:
            message = f"The result of {subject} (observation {number}) was retracted. To restore it, correct it."
        else:
            message = (
                f"{subject} already has a result (observation {number}). "
                "To change it, submit a correction with a reason."
            )
        self._conflicts.append(Finding("already-observed", message, row=report.row))

    def _match_without_value(
        self, report: Report, suggestion: Suggestion | None, candidate: int, key: str
    ) -> Iterator[Match]:
        suggestion = suggestion or self._pending_of(candidate)
        status: MatchStatus = "failed" if report.failed else "abandoned"
        if suggestion is None:
            yield Match(report, status, candidate, key)
        elif self._is_measured(suggestion):
            message = f"{suggestion.id} has a result. To report a failure instead, retract that result first."
            self._conflicts.append(Finding("already-observed", message, row=report.row))
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
            message = "The study has no such suggestion. Use an id from the batch, such as 3-1."
            self._errors.append(Finding("unknown-suggestion", message, row=report.row))
        return suggestion

    def _candidate(self, report: Report) -> int | None:
        if report.candidate is None:
            return None
        number = self._numbers.get(report.candidate)
        if number is None:
            message = "The study has no candidate with this key."
            self._errors.append(Finding("unknown-candidate", message, row=report.row))
        return number

    def _replicate(self, report: Report, suggestion: Suggestion, offset: int) -> int | None:
        """The replicate as stated; else counted from the first value; else the next one that is free."""
        if report.replicate is not None:
            return report.replicate + offset
        if report.candidate is None and (len(report.values) > 1 or suggestion.replicates == 1):
            return offset + 1
        if report.candidate is not None or report.ref is not None:
            filled = self._filled[suggestion.id]
            return next(number for number in range(1, len(filled) + 2) if number not in filled)
        message = (
            f"{suggestion.replicates} measurements were requested: give all of them as `values`, "
            "or say which `replicate` this is."
        )
        self._errors.append(Finding("which-replicate", message, row=report.row))
        return None

    def _looks_repeated(self, report: Report, candidate: int, value: float) -> bool:
        if report.ref is not None or report.measured_at is not None:
            return False
        return value in self._stored_values.get(candidate, ())

    @cached_property
    def _stored_values(self) -> dict[int, set[float]]:
        """The values that the candidates named by key had before this call."""
        values: dict[int, set[float]] = defaultdict(set)
        stored = observations.values_of(self._connection, self._study, self._numbers.values())
        for candidate, measured in stored:
            values[candidate].add(measured[self._objective].value)
        return values

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
