"""What the reports of a group will ask the database for, read for all of them at once when the group begins.

It is kept with the connection until the transaction ends. What is known of the results of a study belongs to a head of
its ledger: after a report that changes more than it says here, the next one reads for itself.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from sqlalchemy import Connection

from app.domain.observations import SOLE, Observation, Report, keys_of
from app.domain.studies import Objective, Study
from app.storage import answers, observations, studies
from app.storage.array_cache import ArrayCache
from app.storage.candidate_set import CandidateSet, known_blocks
from app.storage.database import foreseen

Value = tuple[int, float]
"""A candidate, and a value that it gave."""


@dataclass(frozen=True)
class ReadAhead:
    """What one write will ask for: the answer of its token, and what is stored of what it reports."""

    study: str
    reports: Sequence[Report] = ()
    token: tuple[str, str] | None = None  # the id of its API key, and the Idempotency-Key


class ResultsAtHead:
    """The candidates with some keys, where they exist, and their results at one head; read when they are asked for."""

    def __init__(self, connection: Connection, study: Study, keys: Set[str], numbers: Mapping[str, int]) -> None:
        self._connection, self._study = connection, study
        self._head, self._keys = study.head, keys
        self.numbers = numbers
        self._by_candidate: dict[int, list[Observation]] = {}
        self._compared: set[Value] = set()
        self._stored: set[Value] = set()

    def of_candidates(self, candidates: Iterable[int]) -> Mapping[int, list[Observation]]:
        """The results of some candidates, oldest first."""
        missing = set(candidates) - self._by_candidate.keys()
        if missing:
            self._by_candidate |= {number: [] for number in missing}
            for observation in observations.recorded_of(self._connection, self._study, missing):
                self._by_candidate[observation.candidate].append(observation)
        return self._by_candidate

    def include_any(self, values: Set[Value], quantity: str) -> bool:
        """Whether one of these values of a quantity is stored."""
        missing = values - self._compared
        if missing:
            self._stored |= observations.stored_among(self._connection, self._study, quantity, missing)
            self._compared |= missing
        return not self._stored.isdisjoint(values)

    def hold(self, study: Study, keys: Set[str]) -> bool:
        """Whether these are the results of the candidates with these keys."""
        return self._head == study.head and keys <= self._keys

    def add(self, study: Study, values: Set[Value]) -> None:
        """These values of the study's quantity are stored now, and nothing else has happened to it."""
        self._head = study.head
        self._compared |= values
        self._stored |= values
        for candidate, _ in values:
            self._by_candidate.pop(candidate, None)


def only_quantity(study: Study) -> Objective | None:
    """The study's quantity, if there is only one: then a result is little but its value."""
    quantities = study.configuration.quantities
    return quantities[0] if len(quantities) == 1 else None


def foresee(arrays: ArrayCache, connection: Connection, needs: Sequence[ReadAhead]) -> None:
    """Read what the writes of a group need. A study that does not exist needs nothing."""
    reports: dict[str, list[Report]] = defaultdict(list)
    for need in needs:
        reports[need.study].extend(need.reports)
    for name, coming in reports.items():
        study = studies.lock(connection, name)
        if study is not None:
            results = foreseen(connection)[study.id] = read_results(connection, arrays, study, keys_of(coming))
            _read_ahead(study, results, coming)
    answers.foresee(connection, [need.token for need in needs if need.token is not None])


def _read_ahead(study: Study, results: ResultsAtHead, reports: Sequence[Report]) -> None:
    quantity = only_quantity(study)
    if quantity is None:
        results.of_candidates(results.numbers.values())
        return
    named = [(results.numbers.get(report.candidate or ""), report.outcomes) for report in reports]
    results.include_any(
        {
            (candidate, outcome[SOLE].value)
            for candidate, outcomes in named
            if candidate is not None
            for outcome in outcomes
            if SOLE in outcome
        },
        quantity.name,
    )


def read_results(connection: Connection, arrays: ArrayCache, study: Study, keys: Set[str]) -> ResultsAtHead:
    candidates = CandidateSet(connection, arrays, study, known_blocks(connection, arrays, study))
    return ResultsAtHead(connection, study, keys, candidates.find_all(keys))


def foreseen_results(connection: Connection, study: Study, keys: Set[str]) -> ResultsAtHead | None:
    """What was read of the candidates with these keys, if it still holds."""
    results: ResultsAtHead | None = foreseen(connection).get(study.id)
    return results if results is not None and results.hold(study, keys) else None
