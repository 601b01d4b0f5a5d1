"""What an archive says was suggested and measured, and whether it can have been."""

from collections.abc import Collection
from dataclasses import dataclass, field

from app.domain import limits
from app.domain.batches import SuggestionId
from app.domain.ledger import LedgerEntry
from app.domain.limits import MOST_MEASUREMENTS
from app.domain.observations import ReportedObservation
from app.services.archives.entries import check_values
from app.services.archives.zip_reading import Impossible, must


@dataclass
class Reported:
    """The newest version of an observation."""

    candidate: int
    suggestion: SuggestionId | None
    replicate: int | None
    version: int = 1
    retracted: bool = False


@dataclass
class Suggested:
    """A suggestion and what became of it."""

    candidate: int
    replicates: int
    filled: dict[int, Reported] = field(default_factory=dict)  # replicate → its result
    given_up: bool = False

    @property
    def is_pending(self) -> bool:
        return not self.given_up and len(self.filled) < self.replicates

    @property
    def is_measured(self) -> bool:
        return sum(not reported.retracted for reported in self.filled.values()) >= self.replicates


class MeasuredStory:
    """The suggestions and observations of a study; each event must follow from those before it."""

    def __init__(self) -> None:
        self.suggestions: dict[SuggestionId, Suggested] = {}
        self.observations: list[Reported] = []
        self._refs: set[str] = set()

    def answered(self, suggestion: SuggestionId, candidate: int) -> Suggested:
        suggested = self.suggestions.get(suggestion)
        if suggested is None or suggested.candidate != candidate:
            raise Impossible("there is no such suggestion of this candidate")
        return suggested

    def report(self, reported: ReportedObservation, quantities: Collection[str]) -> None:
        must(reported.observation == len(self.observations) + 1, "observations are numbered 1, 2, 3")
        _check_measured(reported, quantities)
        must((reported.suggestion is None) == (reported.replicate is None), "it answers half a suggestion")
        new = Reported(reported.candidate, reported.suggestion, reported.replicate)
        if reported.suggestion is not None and reported.replicate is not None:
            suggested = self.answered(reported.suggestion, reported.candidate)
            must(1 <= reported.replicate < 2 * MOST_MEASUREMENTS, "no replicate has this number")
            must(reported.replicate not in suggested.filled, "the replicate has a result already")
            suggested.filled[reported.replicate] = new
        if reported.ref is not None:
            must(reported.ref not in self._refs, "its reference is used twice")
            self._refs.add(reported.ref)
        self.observations.append(new)

    def report_again(self, reported: ReportedObservation, quantities: Collection[str]) -> None:
        current = self._observation(reported.observation)
        must(current.retracted, "it is not retracted")
        _check_measured(reported, quantities)
        place = (current.candidate, current.suggestion, current.replicate)
        must((reported.candidate, reported.suggestion, reported.replicate) == place, "it is another measurement")
        current.version, current.retracted = current.version + 1, False

    def revise(self, entry: LedgerEntry, number: int, version: int, *, retracted: bool) -> None:
        current = self._observation(number)
        must(version == current.version + 1 and entry.reason, "it skips a version, or has no reason")
        must(not (retracted and current.retracted), "it is retracted already")
        current.version, current.retracted = version, retracted

    def give_up(self, suggestion: SuggestionId, candidate: int) -> None:
        suggested = self.answered(suggestion, candidate)
        must(not suggested.is_measured, "the suggestion has all its results")
        suggested.given_up = True

    def _observation(self, number: int) -> Reported:
        must(1 <= number <= len(self.observations), "there is no such observation")
        return self.observations[number - 1]


def _check_measured(reported: ReportedObservation, quantities: Collection[str]) -> None:
    check_values(reported.values)
    must(not set(quantities).isdisjoint(reported.values), "it reports nothing that the study measures")
    must(reported.ref is None or limits.is_line(reported.ref, 1), "it cannot have this reference")
    must(limits.is_line(reported.measured_by or ""), "nobody has this name")
    must(limits.is_text(reported.note or ""), "its note is too long")
    must(reported.measured_at is None or limits.is_moment(reported.measured_at), "this is no moment")
