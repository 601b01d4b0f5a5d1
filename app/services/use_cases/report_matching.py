"""Match each reported value with its candidate, its suggestion and its replicate, or recognise it as a repeat.

A report by suggestion fills that suggestion's replicates. A report by key fills the oldest pending suggestion of the
candidate; if none is pending, the result was not requested, and is welcome all the same.

A sheet names a candidate in several ways at once: by suggestion, by key and by its conditions. They must agree, or the
row is refused: a column that was sorted alone must not move results to other candidates.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from sqlalchemy import Connection

from app.domain.batches import Suggestion, SuggestionId
from app.domain.candidates import Candidate
from app.domain.errors import AlreadyObserved, Finding, Invalid
from app.domain.observations import Outcome, Report, keys_of
from app.domain.quantities import agrees, outside_limits, pointer_part, resolve
from app.domain.studies import Study
from app.services.foresight import ResultsAtHead
from app.services.resources import Resources
from app.services.use_cases.plausibility import Plausibility
from app.services.use_cases.repeats import Match, MatchStatus, RepeatedReports
from app.services.use_cases.report_contradictions import finding_at, other_conditions, other_key
from app.services.use_cases.stored_results import Earlier, Sameness, StoredResults
from app.storage import batches, ledger, observations
from app.storage.candidate_set import CandidateSet, known_blocks

OUTSIDE_LIMITS = (
    "Nothing was stored: some values are outside the limits of their quantities. To store them all the same, send"
    " `outside_limits=accept`."
)


class ReportMatcher:
    """Matches the reports of one call, one after the other; each sees what those before it filled."""

    def __init__(
        self,
        connection: Connection,
        resources: Resources,
        study: Study,
        reports: Sequence[Report],
        stored: ResultsAtHead,
        *,
        digest: str | None = None,
        all_new: bool = False,
        corrects: bool = False,
    ) -> None:
        self._connection = connection
        self._study = study
        self._digest = digest
        self._all_new = all_new
        self._reports = reports
        self._configuration = study.configuration
        self._has_several = len(study.configuration.quantities) > 1
        blocks = known_blocks(connection, resources.arrays, study)
        self._candidates = CandidateSet(connection, resources.arrays, study, blocks)
        keys = keys_of(reports)
        self._numbers = stored.numbers
        self._results = StoredResults(stored, keys)
        refs = {report.ref for report in reports if report.ref is not None}
        with_refs = observations.with_refs(connection, study, refs)
        self._refs = {ref: self._results.of(observation) for ref, observation in with_refs.items()}
        self._before = resources.recent_results.of(connection, study)
        self._next_number = self._before.next_number
        self._repeats = RepeatedReports(connection, study, self._next_number, corrects=corrects)
        self._plausibility = Plausibility.by_quantity(study.configuration, [v for _, v in self._before.latest])
        self._equal_rows: Counter[Sameness] = Counter()
        self._loaded: set[SuggestionId] = set()
        self._suggestions: dict[SuggestionId, Suggestion] = {}
        self._filled: dict[SuggestionId, dict[int, Earlier]] = {}  # by replicate
        self._load(report.suggestion for report in reports if report.suggestion is not None)
        self._errors: list[Finding] = []
        self._conflicts: list[Finding] = []
        self._warnings: list[Finding] = []
        self._outside_limits: list[Finding] = []
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
        for offset, outcome in enumerate(report.outcomes):
            values = resolve(self._configuration, outcome)
            if isinstance(values, Finding):
                pointer = _pointer(report, values.pointer or "", offset)
                self._errors.append(replace(values, row=report.row, pointer=pointer))
                return
            yield from self._match_outcome(report, suggestion, candidate, key, values, offset)

    def refuse_if_any_is_wrong(self, *, outside_limits: bool = False) -> None:
        """Raise what was found; values outside the limits of a quantity are refused unless they were confirmed."""
        if self._errors:
            raise Invalid(self._errors)
        if self._conflicts:
            raise AlreadyObserved(self._conflicts)
        if self._outside_limits and not outside_limits:
            raise Invalid(self._outside_limits, OUTSIDE_LIMITS)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        if not self._recognised:
            return (*self._warnings, *self._outside_limits)
        results = "1 result was" if self._recognised == 1 else f"{self._recognised:,} results were"
        message = f"{results} reported before and not stored again. To store new measurements, send `duplicates=new`."
        return (Finding("reported-before", message), *self._warnings, *self._outside_limits)

    def _match_outcome(
        self, report: Report, suggestion: Suggestion | None, candidate: int, key: str, values: Outcome, offset: int
    ) -> Iterator[Match]:
        suggestion = suggestion or self._pending_of(candidate)
        earlier = self._refs.get(report.ref) if report.ref is not None and offset == 0 else None
        if report.suggestion is None and report.ref is None:
            earlier = self._recognise(report, suggestion, candidate, values)
            if earlier is None and self._has_several and not self._all_new:
                since = 0 if suggestion is None or self._is_sent_again else self._issued.get(suggestion.id.batch, 0)
                earlier = self._results.completed_by(candidate, values, report.measured_at, since)
                earlier = earlier or self._results.lacking(candidate, values)
        slot, replicate = None, None
        if suggestion is not None and earlier is None:
            slot, replicate = suggestion.id, self._replicate(report, suggestion, offset)
            if replicate is None:
                return
            earlier = self._filled[slot].get(replicate)
        if earlier is not None:
            yield from self._match_repeat(report, key, candidate, values, earlier)
            return
        self._judge(report, values, suggestion)
        yield self._record(
            Match(report, "recorded", candidate, key, self._next_number, values, slot, replicate), offset
        )

    def _judge(self, report: Report, values: Outcome, suggestion: Suggestion | None) -> None:
        """Collect what is odd about new values."""
        for name, message in outside_limits(self._configuration, values):
            place = f"/values/{pointer_part(name)}"
            pointer = _pointer(report, place) if self._has_several else report.pointer
            self._outside_limits.append(Finding("outside-limits", message, report.row, name, pointer))
        why = suggestion.why if suggestion and self._configuration.is_plain else None
        for name, measured in values.items():
            implausible = self._plausibility[name].finding(measured.value, why, report)
            if implausible is not None:
                self._warnings.append(implausible)

    def _record(self, match: Match, offset: int) -> Match:
        """Remember a new result, so that later reports of this call see it."""
        new = Earlier(self._next_number, match.candidate, match.values, match.suggestion, match.replicate)
        self._results.add(new)
        self._next_number += 1
        if match.suggestion is not None and match.replicate is not None:
            self._filled[match.suggestion][match.replicate] = new
        if match.report.ref is not None and offset == 0:
            self._refs[match.report.ref] = new
        return match

    def _match_repeat(
        self, report: Report, key: str, candidate: int, values: Outcome, earlier: Earlier
    ) -> Iterator[Match]:
        """The same values again are harmless, and more quantities complete the result. Any other needs a correction."""
        match = Match(
            report,
            "duplicate",
            candidate,
            key,
            earlier.observation,
            values,
            earlier.suggestion,
            earlier.replicate,
        )
        repeat = self._repeats.match(match, earlier)
        if isinstance(repeat, Finding):
            self._conflicts.append(repeat)
            return
        if repeat.status == "duplicate":
            self._recognised += 1
        else:
            suggestion = self._suggestions.get(earlier.suggestion) if earlier.suggestion else None
            self._judge(report, repeat.values, suggestion if repeat.status == "recorded" else None)
        yield repeat

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
        """Whether it has all its replicates, including those of this call; what was retracted does not count."""
        filled = self._filled[suggestion.id].values()
        return sum(not earlier.retracted for earlier in filled) >= suggestion.replicates

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
        if by_suggestion and (len(report.outcomes) > 1 or suggestion.replicates == 1):
            return offset + 1
        if not by_suggestion or report.ref is not None:
            filled = self._filled[suggestion.id]
            return next(number for number in range(1, len(filled) + 2) if number not in filled)
        message = (
            f"{suggestion.replicates} measurements were requested: give all of them as `replicates`, "
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
        numbers |= {self._numbers[key] for key in keys_of(self._reports) if key in self._numbers}
        return {candidate.number: candidate for candidate in self._candidates.read(sorted(numbers))}

    def _suggestion_of(self, report: Report, candidate: int) -> Suggestion | None:
        """The suggestion whose id became a date: the candidate's oldest pending one, else its newest."""
        message = "The suggestion's id had become a date. The row was matched by its key."
        self._warnings.append(finding_at(report, "id-became-date", message, "suggestion"))
        pending = self._pending_of(candidate)
        if pending is not None:
            return pending
        issued = batches.suggestions_for(self._connection, self._study, [candidate])
        self._load(suggestion.id for suggestion in issued[-1:])
        return issued[-1] if issued else None

    def _recognise(self, report: Report, pending: Suggestion | None, candidate: int, values: Outcome) -> Earlier | None:
        """The stored result that this one repeats: n equal rows of a call repeat n equal stored results."""
        if self._all_new or self._results.are_none:
            return None
        pairs = tuple(sorted((name, measured.value) for name, measured in values.items()))
        same = (candidate, pairs, report.measured_at)
        equal = [
            observation
            for observation in self._results.with_values(same)
            if (pending is None or observation.seq > self._issued.get(pending.id.batch, 0) or self._is_sent_again)
            and agrees(observation.values, values)
        ]
        position = self._equal_rows[same]
        self._equal_rows[same] += 1
        return self._results.of(equal[position]) if position < len(equal) else None

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
        pending = self._before.pending
        self._load(suggestion.id for suggestion in pending if suggestion.replicates > 1)
        for suggestion in pending:
            self._filled.setdefault(suggestion.id, {})  # with one replicate, pending means that it has no result
            by_candidate[suggestion.candidate].append(suggestion)
        return by_candidate

    def _pending_of(self, candidate: int) -> Suggestion | None:
        """The oldest suggestion of this candidate that still lacks a value."""
        suggestions = self._pending.get(candidate, ())
        return next((s for s in suggestions if len(self._filled[s.id]) < s.replicates), None)

    def _load(self, ids: Iterable[SuggestionId]) -> None:
        """Read suggestions that were not read yet, and their results."""
        missing = set(ids) - self._loaded
        self._loaded |= missing
        for suggestion in batches.suggestions_with(self._connection, self._study, missing):
            self._suggestions[suggestion.id] = suggestion
            self._filled[suggestion.id] = {}
        for observation in observations.answering(self._connection, self._study, missing):
            if observation.suggestion is not None and observation.replicate is not None:
                self._filled[observation.suggestion][observation.replicate] = self._results.of(observation)


def _pointer(report: Report, place: str, offset: int | None = None) -> str | None:
    """Where a value stands in a JSON report; `place` is where it stands if the report has no replicates."""
    if report.row:
        return None
    if len(report.outcomes) > 1:
        number = "" if offset is None else f"/{offset}"
        place = f"/replicates{number}{place.removeprefix('/values').removeprefix('/value')}"
    return f"{report.pointer or ''}{place}"
