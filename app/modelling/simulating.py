"""A study on a table whose results are known, played through without a server: plain data in, plain data out.

Nothing is stored. A measurement of a candidate gives one of the values that were measured of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from app.arrays import Array, FloatArray, IndexArray
from app.domain.batches import BatchSize
from app.domain.candidates import BlockArrays, CandidateBlock, Column
from app.domain.errors import CandidatesExhausted
from app.domain.events import Basis, EarlierResults
from app.domain.studies import Configuration
from app.modelling.drafting import choose_batch
from app.modelling.ledger_state import LedgerState
from app.modelling.model import Model, RawFeatures, advance


@dataclass(frozen=True, eq=False)
class KnownTable:
    """Candidates, and what was measured of each: the values `ends[i − 1]` to `ends[i]` are those of candidate i."""

    columns: tuple[Column, ...]
    numbers: Array
    codes: Array
    values: FloatArray
    ends: IndexArray
    fingerprints: Mapping[str, Array] = field(default_factory=dict)

    @property
    def counts(self) -> IndexArray:
        """(A,) how many values there are of each candidate."""
        return np.diff(self.ends, prepend=0)

    @property
    def means(self) -> FloatArray:
        """(A,) the mean value of each candidate."""
        starts = self.ends - self.counts
        sums: FloatArray = np.add.reduceat(self.values, starts) / self.counts
        return sums

    @property
    def has_repeats(self) -> bool:
        return bool((self.counts > 1).any())


def simulate(
    table: KnownTable,
    configuration: Configuration,
    batch_size: int,
    most: int,
    borrowed: tuple[EarlierResults, ...] = (),
) -> IndexArray:
    """The candidates in the order in which a study under these settings measures them, `most` at the most.

    Its seed is that of the configuration; `borrowed` are results of earlier studies.
    """
    study = _SimulatedStudy(table, configuration, borrowed)
    while len(study.measured) < most:
        try:
            numbers = study.ask(min(batch_size, most - len(study.measured)))
        except CandidatesExhausted:
            break
        study.tell(numbers)
    return np.array(study.measured, dtype=np.intp)


class _SimulatedStudy:
    """The ledger state and the model of a study that exists nowhere else."""

    def __init__(self, table: KnownTable, configuration: Configuration, borrowed: tuple[EarlierResults, ...]) -> None:
        self._table = table
        self._rng = np.random.default_rng(configuration.seed)
        self._model: Model | None = None
        rows = len(table.numbers)
        self._state = LedgerState(
            configuration=_as_known(configuration, table),
            columns=table.columns,
            blocks=(CandidateBlock(0, rows, BlockArrays("", "")),),
            borrowed=borrowed,
        )
        self.measured: list[int] = []

    def ask(self, size: int) -> list[int]:
        """What a study would be suggested; nobody reads why, so nothing is explained."""
        self._model = advance(self._model, self._state.of_first(), self._features)
        batch = choose_batch(self._model, BatchSize(1, size)).selection
        if not len(batch.picks):
            raise CandidatesExhausted
        self._state = replace(self._state, bases=(*self._state.bases, Basis(len(self._state.bases) + 1, "")))
        return np.repeat(batch.numbers, batch.repeats).tolist()

    def tell(self, numbers: list[int]) -> None:
        ends, counts = self._table.ends[numbers], self._table.counts[numbers]
        drawn = self._table.values[ends - counts + (self._rng.random(len(numbers)) * counts).astype(np.intp)]
        self.measured += numbers
        self._state = replace(
            self._state,
            candidates=np.concatenate((self._state.candidates, np.array(numbers, dtype="<i4"))),
            values=np.concatenate((self._state.values, drawn)),
            counted=np.ones(len(self.measured), dtype="|b1"),
        )

    def _features(self, _block: CandidateBlock) -> RawFeatures:
        return self._table.numbers, self._table.codes, self._table.fingerprints


def _as_known(configuration: Configuration, table: KnownTable) -> Configuration:
    """The settings for a table without repeats: the same candidate would always give the same value."""
    if table.has_repeats or configuration.noise != "auto":
        return configuration
    return replace(configuration, noise="none")
