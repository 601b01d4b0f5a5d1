"""The results that a study has while reports are matched: stored before this call, or brought by it."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from app.domain.batches import SuggestionId
from app.domain.observations import Observation, ObservationKind, Outcome
from app.domain.quantities import adds_to
from app.services.foresight import ResultsAtHead

Sameness = tuple[int, tuple[tuple[str, float], ...], str | None]
"""Candidate, values and moment: what makes two reports of a call equal."""


@dataclass
class Earlier:
    """A result that is stored already, or that an earlier report of the same call brought; later ones complete it."""

    observation: int
    candidate: int
    values: Outcome
    suggestion: SuggestionId | None
    replicate: int | None
    retracted: bool = False
    version: int = 1
    is_settled: bool = False  # by this call: it gave the values, so another one cannot give others


class StoredResults:
    """Results by number, so that each is completed in one place, and those of some candidates by what they gave."""

    def __init__(self, stored: ResultsAtHead, keys: Collection[str]) -> None:
        self._stored = stored
        self._candidates = {stored.numbers[key] for key in keys if key in stored.numbers}
        self._known: dict[int, Earlier] = {}
        self._new: list[Earlier] = []

    def of(self, observation: Observation) -> Earlier:
        """A stored observation, with what this call added to it."""
        stored = Earlier(
            observation.number,
            observation.candidate,
            observation.values,
            observation.suggestion,
            observation.replicate,
            observation.kind is ObservationKind.RETRACTED,
            observation.version,
        )
        return self._known.setdefault(observation.number, stored)

    def add(self, new: Earlier) -> None:
        """A result that this call brings."""
        self._new.append(new)

    def with_values(self, same: Sameness) -> list[Observation]:
        """The stored observations with this candidate, moment and first value, oldest first."""
        candidate, pairs, moment = same
        return self._by_value.get((candidate, pairs[:1], moment), [])

    @property
    def are_none(self) -> bool:
        """Whether nothing is stored for the candidates, so that no report can repeat it."""
        return not self._by_candidate

    def completed_by(self, candidate: int, values: Outcome, moment: str | None, since: int) -> Earlier | None:
        """The oldest result, stored by an event after `since`, that has some of these values and lacks the others."""
        for observation in self._by_candidate.get(candidate, ()):
            earlier = self.of(observation)
            lacking = adds_to(earlier.values, values)
            if lacking and len(lacking) < len(values) and observation.measured_at == moment and observation.seq > since:
                return earlier
        return None

    def lacking(self, candidate: int, values: Outcome) -> Earlier | None:
        """The oldest result of a candidate that lacks all of these quantities."""
        stored = [self.of(observation) for observation in self._by_candidate.get(candidate, ())]
        for earlier in (*stored, *self._new):
            if earlier.candidate == candidate and values.keys().isdisjoint(earlier.values):
                return earlier
        return None

    @cached_property
    def _by_candidate(self) -> dict[int, list[Observation]]:
        """What the candidates gave before this call, oldest first."""
        stored = self._stored.of_candidates(self._candidates)
        return {candidate: stored[candidate] for candidate in self._candidates if stored[candidate]}

    @cached_property
    def _by_value(self) -> dict[Sameness, list[Observation]]:
        """The same by candidate, moment and each single value."""
        results: dict[Sameness, list[Observation]] = defaultdict(list)
        for observation in chain.from_iterable(self._by_candidate.values()):
            for name, measured in observation.values.items():
                results[observation.candidate, ((name, measured.value),), observation.measured_at].append(observation)
        return results
