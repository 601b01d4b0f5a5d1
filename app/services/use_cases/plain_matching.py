"""The short way of matching: reports of a candidate and a value each, of which nothing is to be asked or remarked.

It gives what `report_matching.py` gives, or nothing at all if one of the reports needs a closer look there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.errors import Finding
from app.domain.observations import SOLE, Measured, PlainObservations, Report, ReportColumns
from app.domain.studies import Objective, Study
from app.services.foresight import ResultsAtHead, only_quantity
from app.services.recent_results import StudyAtHead
from app.services.use_cases.plausibility import Plausibility
from app.services.use_cases.repeats import Match


@dataclass(frozen=True)
class PlainMatches(Sequence[Match]):
    """The matches of plain reports; each is made when it is asked for."""

    reports: ReportColumns
    observations: PlainObservations

    def __len__(self) -> int:
        return len(self.reports)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        report, new = self.reports[place], self.observations[place]
        return Match(report, "recorded", new.candidate, report.candidate, new.observation, new.values)


def match_plainly(
    study: Study, before: StudyAtHead, reports: Sequence[Report], stored: ResultsAtHead, *, all_new: bool
) -> tuple[Sequence[Match], tuple[Finding, ...]] | None:
    """A match for each report, in order, and what seemed odd; None if one of them is not plain, or may be a repeat."""
    quantity = only_quantity(study)
    if quantity is None:
        return None
    plain = _Plain(quantity, study, before, stored, all_new=all_new)
    matches = plain.columns(reports) if isinstance(reports, ReportColumns) else plain.matches(reports)
    return None if matches is None else (matches, plain.warnings(matches))


class _Plain:
    def __init__(
        self, quantity: Objective, study: Study, before: StudyAtHead, stored: ResultsAtHead, *, all_new: bool
    ) -> None:
        self._name, self._limits = quantity.name, quantity.limits
        self._next_number = before.next_number
        self._pending = {suggestion.candidate for suggestion in before.pending}
        latest = [outcome for _, outcome in before.latest]
        self._plausibility = Plausibility.by_quantity(study.configuration, latest)[self._name]
        self._stored = stored
        self._all_new = all_new

    def matches(self, reports: Sequence[Report]) -> list[Match] | None:
        matches = []
        for number, report in enumerate(reports, start=self._next_number):
            key, measured = report.candidate, _only_value(report)
            candidate = None if key is None else self._stored.numbers.get(key)
            if key is None or candidate is None or measured is None:
                return None
            matches.append(Match(report, "recorded", candidate, key, number, {self._name: measured}))
        values = [match.values[self._name].value for match in matches]
        return matches if self._are_plain([match.candidate for match in matches], values) else None

    def columns(self, reports: ReportColumns) -> PlainMatches | None:
        candidates = [self._stored.numbers.get(key, -1) for key in reports.keys]
        if -1 in candidates or not self._are_plain(candidates, reports.values):
            return None
        return PlainMatches(reports, PlainObservations(self._next_number, self._name, candidates, reports.values))

    def warnings(self, matches: Sequence[Match]) -> tuple[Finding, ...]:
        """About values that are implausible."""
        if isinstance(matches, PlainMatches):
            values = matches.reports.values
            if self._plausibility.allows(min(values)) and self._plausibility.allows(max(values)):
                return ()  # the plausible values are a range without a gap
        found = (self._plausibility.finding(m.values[self._name].value, None, m.report) for m in matches)
        return tuple(finding for finding in found if finding is not None)

    def _are_plain(self, candidates: Sequence[int], values: Sequence[float]) -> bool:
        """Whether all values are within the limits, and none answers a suggestion or is stored already."""
        if not self._pending.isdisjoint(candidates):
            return False
        if self._limits is not None and not (self._limits.allow(min(values)) and self._limits.allow(max(values))):
            return False
        if self._all_new:
            return True
        return not self._stored.include_any(set(zip(candidates, values, strict=True)), self._name)


def _only_value(report: Report) -> Measured | None:
    """The value of a report that says nothing else that matters for its match."""
    beside = report.suggestion, report.replicate, report.failed, report.abandoned, report.ref
    if beside != _NOTHING or report.conditions or report.mangled or len(report.outcomes) != 1:
        return None
    [outcome] = report.outcomes
    return outcome.get(SOLE) if len(outcome) == 1 else None


_NOTHING = (None,) * 5
