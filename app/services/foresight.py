"""What the reports of a group will ask the database for, read for all of them at once when the group begins.

It is kept with the connection until the transaction ends. What is known of the results of a study belongs to a head of
its ledger: after a report that changes more than it says here, the next one reads for itself.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.domain.observations import Observation
from app.domain.studies import Study
from app.storage import answers, observations, studies
from app.storage.array_cache import ArrayCache
from app.storage.candidate_set import CandidateSet, known_blocks
from app.storage.database import foreseen


@dataclass(frozen=True)
class ReadAhead:
    """What one write will ask for: the answer of its token, and results of some candidates, named by key."""

    study: str
    candidates: Collection[str] = ()
    token: tuple[str, str] | None = None  # the id of its API key, and the Idempotency-Key


class ResultsAtHead:
    """The candidates with some keys, where they exist, and their results at one head, oldest first."""

    def __init__(self, connection: Connection, study: Study, keys: Collection[str], numbers: Mapping[str, int]) -> None:
        self._connection, self._study = connection, study
        self._head, self._keys = study.head, keys
        self.numbers = numbers
        self._by_candidate: dict[int, list[Observation]] | None = None

    @property
    def by_candidate(self) -> dict[int, list[Observation]]:
        """Read when it is first asked for."""
        if self._by_candidate is None:
            self._by_candidate = {number: [] for number in self.numbers.values()}
            for observation in observations.recorded_of(self._connection, self._study, self._by_candidate):
                self._by_candidate[observation.candidate].append(observation)
        return self._by_candidate

    def values(self, candidates: Iterable[int], quantity: str) -> Iterable[tuple[int, float]]:
        """The values of a quantity, each after its candidate; if the results were not read, only these are."""
        read = self._by_candidate
        if read is None:
            return observations.values_of(self._connection, self._study, candidates, quantity)
        return (
            (candidate, result.values[quantity].value)
            for candidate in set(candidates)
            for result in read[candidate]
            if quantity in result.values
        )

    def hold(self, study: Study, keys: Collection[str]) -> bool:
        """Whether these are the results of the candidates with these keys."""
        return self._head == study.head and all(
            key in self._keys and (key not in self.numbers or self.numbers[key] in self.by_candidate) for key in keys
        )

    def follow(self, study: Study, keys: Iterable[str]) -> None:
        """The candidates with these keys have further results, and nothing else has happened to the study."""
        self._head = study.head
        if self._by_candidate is not None:
            for key in keys:
                self._by_candidate.pop(self.numbers[key], None)


def foresee(arrays: ArrayCache, connection: Connection, needs: Sequence[ReadAhead]) -> None:
    """Read what the writes of a group need. A study that does not exist needs nothing."""
    keys: dict[str, set[str]] = defaultdict(set)
    for need in needs:
        keys[need.study].update(need.candidates)
    for name, asked in keys.items():
        study = studies.lock(connection, name)
        if study is not None:
            results = foreseen(connection)[study.id] = read_results(connection, arrays, study, asked)
            _ = results.by_candidate
    answers.foresee(connection, [need.token for need in needs if need.token is not None])


def read_results(connection: Connection, arrays: ArrayCache, study: Study, keys: Collection[str]) -> ResultsAtHead:
    candidates = CandidateSet(connection, arrays, study, known_blocks(connection, arrays, study))
    return ResultsAtHead(connection, study, keys, candidates.find_all(keys))


def foreseen_results(connection: Connection, study: Study, keys: Collection[str]) -> ResultsAtHead | None:
    """What was read of the candidates with these keys, if it still holds."""
    results: ResultsAtHead | None = foreseen(connection).get(study.id)
    return results if results is not None and results.hold(study, keys) else None
