"""Where each reported value belongs: its candidate, its suggestion, its replicate; or that it came before.

A report by suggestion fills that suggestion's replicates. A report by key fills the oldest suggestion that waits for
this candidate; if none waits, it is unsolicited, and welcome.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sqlalchemy import Connection

from app.domain.batches import Suggestion, SuggestionState
from app.domain.errors import AlreadyObserved, Invalid
from app.domain.findings import Finding
from app.domain.observations import Kind, Observation
from app.domain.reports import Report
from app.domain.studies import Study
from app.services.candidate_set import CandidateSet
from app.services.resources import Resources
from app.storage import batches, observations

Status = Literal["recorded", "duplicate", "skipped", "failed", "abandoned"]
Place = tuple[int, int]


@dataclass(frozen=True)
class Placed:
    """What becomes of one reported value, or of one failure."""

    report: Report
    status: Status
    candidate: int
    key: str
    observation: int | None = None
    value: float | None = None
    batch: int | None = None
    rank: int | None = None
    replicate: int | None = None

    @property
    def reason(self) -> str | None:
        return self.report.failed.reason if self.report.failed else self.report.abandoned


class Placing:
    """Places the reports of one call, one after the other; each sees what those before it filled."""

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
        self._reports = reports
        self._skip_repeated = skip_repeated
        self._candidates = CandidateSet(connection, resources.arrays, study)
        self._numbers = self._candidates.find_all({one.candidate for one in reports if one.candidate is not None})
        self._refs: dict[str, Observation | Placed] = dict(
            observations.with_refs(connection, study, {one.ref for one in reports if one.ref is not None})
        )
        self._next = observations.last_number(connection, study) + 1
        self._loaded: set[int] = set()  # batches
        self._suggestions: dict[Place, Suggestion] = {}
        self._filled: dict[Place, dict[int, Observation | Placed]] = {}
        self._load(one.suggestion[0] for one in reports if one.suggestion is not None)
        self._errors: list[Finding] = []
        self._conflicts: list[Finding] = []
        self.warnings: list[Finding] = []

    def place(self, report: Report) -> Iterator[Placed]:
        """One `Placed` per value; errors are collected, so that one answer names them all."""
        suggestion = self._suggestion(report)
        candidate = suggestion.candidate if suggestion else self._candidate(report)
        if candidate is None:
            return
        key = report.candidate or self._candidates.keys([candidate])[0]
        if report.failed is not None or report.abandoned is not None:
            yield from self._lost(report, suggestion, candidate, key)
            return
        for offset, value in enumerate(report.values):
            yield from self._value(report, suggestion, candidate, key, value, offset)

    def refuse_if_any_is_wrong(self) -> None:
        if self._errors:
            raise Invalid(self._errors)
        if self._conflicts:
            raise AlreadyObserved(self._conflicts)

    def _value(
        self, report: Report, suggestion: Suggestion | None, candidate: int, key: str, value: float, offset: int
    ) -> Iterator[Placed]:
        suggestion = suggestion or self._waiting_for(candidate)
        earlier = self._under_ref(report, offset)
        place, replicate = None, None
        if suggestion is not None and earlier is None:
            place = (suggestion.batch, suggestion.rank)
            replicate = self._replicate(report, suggestion, offset)
            if replicate is None:
                return
            earlier = self._filled[place].get(replicate)
        if earlier is not None:
            yield from self._again(report, key, candidate, value, earlier)
            return
        if place is None and self._looks_repeated(report, candidate, value):
            if self._skip_repeated:
                yield Placed(report, "skipped", candidate, key, value=value)
                return
            self.warnings.append(
                Finding("looks-repeated", "The same value of the same candidate is there already.", row=report.row)
            )
        yield self._record(report, candidate, key, value, place, replicate, offset)

    def _record(
        self,
        report: Report,
        candidate: int,
        key: str,
        value: float,
        place: Place | None,
        replicate: int | None,
        offset: int,
    ) -> Placed:
        batch, rank = place or (None, None)
        placed = Placed(report, "recorded", candidate, key, self._next, value, batch, rank, replicate)
        self._next += 1
        if place is not None and replicate is not None:
            self._filled[place][replicate] = placed
        if report.ref is not None and offset == 0:
            self._refs[report.ref] = placed
        return placed

    def _again(
        self, report: Report, key: str, candidate: int, value: float, earlier: Observation | Placed
    ) -> Iterator[Placed]:
        """The same again is harmless; another value, or one that was retracted, is a correction: it wants a reason."""
        number = earlier.observation if isinstance(earlier, Placed) else earlier.number
        if isinstance(earlier, Observation) and earlier.kind is Kind.RETRACTED:
            message = f"Observation {number} was retracted here; correct it, with a reason, and it stands again."
            self._conflicts.append(Finding("already-observed", message, row=report.row))
        elif earlier.candidate == candidate and earlier.value == value:
            place = (earlier.batch, earlier.rank, earlier.replicate)
            yield Placed(report, "duplicate", candidate, key, number, value, *place)
        else:
            message = f"Observation {number} stands here with another value; correct it, with a reason."
            self._conflicts.append(Finding("already-observed", message, row=report.row))

    def _lost(self, report: Report, suggestion: Suggestion | None, candidate: int, key: str) -> Iterator[Placed]:
        suggestion = suggestion or self._waiting_for(candidate)
        status: Status = "failed" if report.failed else "abandoned"
        if suggestion is None:
            yield Placed(report, status, candidate, key)
        elif self._is_measured(suggestion):
            self._conflicts.append(Finding("already-observed", "It was measured; retract that first.", row=report.row))
        else:
            yield Placed(report, status, candidate, key, batch=suggestion.batch, rank=suggestion.rank)

    def _is_measured(self, suggestion: Suggestion) -> bool:
        """Whether all its replicates are there, those of this call counted."""
        filled = self._filled[suggestion.batch, suggestion.rank]
        return suggestion.state is SuggestionState.OBSERVED or len(filled) >= suggestion.replicates

    def _suggestion(self, report: Report) -> Suggestion | None:
        if report.suggestion is None:
            return None
        found = self._suggestions.get(report.suggestion)
        if found is None:
            self._errors.append(Finding("unknown-suggestion", "The study has no such suggestion.", row=report.row))
        return found

    def _candidate(self, report: Report) -> int | None:
        if report.candidate is None:
            return None
        found = self._numbers.get(report.candidate)
        if found is None:
            self._errors.append(Finding("unknown-candidate", "The study has no such candidate.", row=report.row))
        return found

    def _replicate(self, report: Report, suggestion: Suggestion, offset: int) -> int | None:
        """Said; by suggestion counted from its first value; by key (or under a ref) the next one that is free."""
        if report.replicate is not None:
            return report.replicate + offset
        if report.candidate is None and (len(report.values) > 1 or suggestion.replicates == 1):
            return offset + 1
        if report.candidate is not None or report.ref is not None:
            filled = self._filled[suggestion.batch, suggestion.rank]
            return next(n for n in range(1, len(filled) + 2) if n not in filled)
        message = f"{suggestion.replicates} measurements are wanted: give `values`, or say which `replicate` this is."
        self._errors.append(Finding("which-replicate", message, row=report.row))
        return None

    def _under_ref(self, report: Report, offset: int) -> Observation | Placed | None:
        return self._refs.get(report.ref) if report.ref is not None and offset == 0 else None

    def _looks_repeated(self, report: Report, candidate: int, value: float) -> bool:
        if report.ref is not None or report.measured_at is not None:
            return False
        return value in self._standing.get(candidate, ())

    @cached_property
    def _standing(self) -> dict[int, set[float]]:
        """The values that the candidates reported by key had before this call."""
        values: dict[int, set[float]] = defaultdict(set)
        for candidate, value in observations.values_of(self._connection, self._study, self._numbers.values()):
            values[candidate].add(value)
        return values

    @cached_property
    def _waiting(self) -> dict[int, list[Suggestion]]:
        waiting: dict[int, list[Suggestion]] = defaultdict(list)
        pending = batches.suggestions_in(self._connection, self._study, SuggestionState.PENDING)
        self._load({one.batch for one in pending if one.replicates > 1})
        for one in pending:
            self._filled.setdefault((one.batch, one.rank), {})  # one that waits for a single value has none
            waiting[one.candidate].append(one)
        return waiting

    def _waiting_for(self, candidate: int) -> Suggestion | None:
        """The oldest suggestion of this candidate that still wants a value."""
        return next(
            (
                one
                for one in self._waiting.get(candidate, ())
                if len(self._filled[one.batch, one.rank]) < one.replicates
            ),
            None,
        )

    def _load(self, numbers: Iterable[int]) -> None:
        """Read batches that were not read yet, and what their suggestions were answered."""
        missing = set(numbers) - self._loaded
        self._loaded |= missing
        for one in batches.suggestions_of(self._connection, self._study, missing):
            self._suggestions[one.batch, one.rank] = one
            self._filled[one.batch, one.rank] = {}
        for seen in observations.of_suggestions(self._connection, self._study, missing):
            if seen.batch is not None and seen.rank is not None and seen.replicate is not None:
                self._filled[seen.batch, seen.rank][seen.replicate] = seen
