"""A study's candidates as one table: find by key, read rows and columns, load only what is needed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import isnan
from typing import Literal, TypeVar

import numpy as np
from sqlalchemy import Connection, bindparam, select

from app.arrays import Array, BoolArray, FloatArray
from app.domain.candidates import BlockArrays, Candidate, CandidateBlock, CellValue, Column, Expense
from app.domain.codec import from_plain, read_json
from app.domain.studies import Study
from app.storage.array_cache import ArrayCache
from app.storage.packed_strings import (
    find_string,
    index_strings,
    numbers_containing,
    rows_containing,
    unpack_strings,
)
from app.storage.prepared import Prepared
from app.storage.tables import candidate_blocks, unavailable_candidates

T = TypeVar("T")

FeatureArray = Literal["numbers", "codes"]

_BLOCKS = Prepared(
    select(candidate_blocks)
    .where(candidate_blocks.c.study_id == bindparam("study"))
    .order_by(candidate_blocks.c.number)
)
_UNAVAILABLE = select(unavailable_candidates).where(unavailable_candidates.c.study_id == bindparam("study"))


@dataclass(frozen=True)
class Unavailability:
    """Why a candidate is switched off, and the event that did it."""

    reason: str
    seq: int


def blocks(connection: Connection, study: Study) -> tuple[CandidateBlock, ...]:
    rows = _BLOCKS.rows(connection, {"study": study.id})
    return tuple(CandidateBlock(row["first"], row["rows"], _arrays(row["arrays"]), row["stored_in"]) for row in rows)


def known_blocks(connection: Connection, arrays: ArrayCache, study: Study) -> tuple[CandidateBlock, ...]:
    """The blocks of a study as it is in the database: they change only with its version."""
    known = arrays.blocks.get(study.id)
    if known is None or known[0] != study.version:
        known = arrays.blocks[study.id] = study.version, blocks(connection, study)
    return known[1]


def read_fingerprints(connection: Connection, arrays: ArrayCache, study: Study) -> dict[str, Array]:
    """The counts of all molecules that the study has, by column."""
    *_, last = known_blocks(connection, arrays, study)
    return {name: arrays.load(connection, digest) for name, digest in last.arrays.fingerprints.items()}


@lru_cache(maxsize=256)  # every request of a study reads the same text
def _arrays(text: str) -> BlockArrays:
    return from_plain(BlockArrays, read_json(text))


def unavailable(connection: Connection, study: Study) -> dict[int, Unavailability]:
    """The candidates that are switched off."""
    rows = connection.execute(_UNAVAILABLE, {"study": study.id})
    return {row.candidate: Unavailability(row.reason, row.seq) for row in rows}


class CandidateSet:
    """The candidates of one study, now or with its `earlier` blocks; candidate i is row i over all of them."""

    def __init__(
        self,
        connection: Connection,
        arrays: ArrayCache,
        study: Study,
        earlier: tuple[CandidateBlock, ...] | None = None,
    ) -> None:
        self._connection = connection
        self._study = study
        self._arrays = arrays
        self._blocks = blocks(connection, study) if earlier is None else earlier
        self._features = [column for column in study.columns if column.role == "feature"]
        self._attributes = [column for column in study.columns if column.role == "attribute"]
        self._expenses = {column.expense: column for column in study.columns if column.expense is not None}

    @cached_property
    def unavailable(self) -> dict[int, Unavailability]:
        return unavailable(self._connection, self._study)

    def __len__(self) -> int:
        return sum(block.rows for block in self._blocks)

    def find(self, key: str) -> int | None:
        """The number of the candidate with this key."""
        for block in self._blocks:
            row = self._find_in(block, key)
            if row is not None:
                return block.first + row
        return None

    def find_all(self, keys: Iterable[str]) -> dict[str, int]:
        """The numbers of the candidates with these keys, where they exist."""
        numbers = ((key, self.find(key)) for key in keys)
        return {key: number for key, number in numbers if number is not None}

    @property
    def has_keys(self) -> bool:
        """Whether the candidates have keys of their own, not just numbers."""
        return bool(self._blocks) and self._blocks[0].arrays.keys is not None

    def positions_of_existing(self, keys: Sequence[str]) -> list[int]:
        """The positions, in `keys`, of keys that candidates have already."""
        if not self.has_keys or not keys:
            return []
        hashes, positions = index_strings(keys)
        maybe = np.zeros(len(keys), dtype=bool)
        for block in self._blocks:
            if block.arrays.keys is not None:
                maybe |= np.isin(hashes, self._load(block.arrays.keys.hashes))
        return [position for position in sorted(positions[maybe].tolist()) if self.find(keys[position]) is not None]

    def keys(self, numbers: Sequence[int] | Array) -> list[str]:
        return self._gather(numbers, self._keys_in)

    def with_key_part(self, part: str) -> BoolArray:
        """(candidates,) whose key contains a text, whatever the case of its letters."""
        return np.concatenate([np.zeros(0, dtype=bool), *(self._with_key_part(block, part) for block in self._blocks)])

    def read(self, numbers: Sequence[int] | Array) -> list[Candidate]:
        """Some candidates, whole."""
        keys = self.keys(numbers)
        stored = {name: self._feature_rows(name, numbers) for name in _FEATURE_ARRAYS}
        features = [
            (column.name, _as_shown(column, stored[_array_of(column)][:, self._positions[column.name]]))
            for column in self._features
        ]
        attributes = [(column.name, self.values(column, numbers)) for column in self._attributes]
        holders = {reservation.candidate: reservation.worker for reservation in self._study.reservations}
        expenses = {expense: self.expenses(expense)[np.asarray(numbers, dtype=np.intp)] for expense in self._expenses}
        return [
            Candidate(
                int(number),
                keys[i],
                {name: cells[i] for name, cells in features},
                {name: cells[i] for name, cells in attributes},
                available=int(number) not in self.unavailable,
                reason=switched.reason if (switched := self.unavailable.get(int(number))) else None,
                reserved_by=holders.get(int(number)),
                **{expense: float(cells[i]) for expense, cells in expenses.items()},
            )
            for i, number in enumerate(numbers)
        ]

    def values(self, column: Column, numbers: Sequence[int] | Array) -> list[CellValue]:
        """One column of some candidates, as people see it."""
        if column.role == "attribute" and column.kind == "text":
            return list(self._gather(numbers, lambda block, local: self._attribute_texts(block, column, local)))
        return _as_shown(column, self.column(column)[np.asarray(numbers, dtype=np.intp)])

    def column(self, column: Column) -> Array:
        """(candidates,) one column: numbers, with booleans as 0 and 1, or codes of the levels."""
        arrays = [self._column_in(block, column) for block in self._blocks]
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

    def has_expenses(self, expense: Expense) -> bool:
        """Whether a column says what a measurement takes."""
        return expense in self._expenses

    def expenses(self, expense: Expense) -> FloatArray:
        """(candidates,) what one measurement of each candidate takes; nothing if no column says."""
        column = self._expenses.get(expense)
        return np.zeros(len(self)) if column is None else self.column(column)

    @cached_property
    def _positions(self) -> dict[str, int]:
        """The position of every feature in the array that holds it."""
        by_array = ([c.name for c in self._features if _array_of(c) == name] for name in _FEATURE_ARRAYS)
        return {name: position for names in by_array for position, name in enumerate(names)}

    def _feature_rows(self, name: FeatureArray, numbers: Sequence[int] | Array) -> Array:
        """The rows of some candidates in one of the two feature arrays."""
        gathered = self._gather(numbers, lambda block, local: list(self._features_in(block, name)[local]))
        width = sum(_array_of(column) == name for column in self._features)
        return np.array(gathered).reshape(len(numbers), width)

    def _features_in(self, block: CandidateBlock, name: FeatureArray) -> Array:
        return self._load(block.arrays.numbers if name == "numbers" else block.arrays.codes)

    def _column_in(self, block: CandidateBlock, column: Column) -> Array:
        if column.role == "attribute":
            numbers = block.arrays.attributes[column.name].numbers
            return np.full(block.rows, np.nan) if numbers is None else self._load(numbers)
        return self._features_in(block, _array_of(column))[:, self._positions[column.name]]

    def _attribute_texts(self, block: CandidateBlock, column: Column, local: Array) -> list[str | None]:
        stored = block.arrays.attributes[column.name]
        if stored.ends is None or stored.content is None:  # this block has no text in that column
            return [None] * len(local)
        return unpack_strings(self._load(stored.ends), self._load(stored.content), local)

    def _keys_in(self, block: CandidateBlock, local: Array) -> list[str]:
        stored = block.arrays.keys
        if stored is None:
            return [str(block.first + int(row) + 1) for row in local]
        return [str(key) for key in unpack_strings(self._load(stored.ends), self._load(stored.content), local)]

    def _with_key_part(self, block: CandidateBlock, part: str) -> BoolArray:
        stored = block.arrays.keys
        if stored is None:
            return numbers_containing(block.first + 1, block.rows, part)
        return rows_containing(self._load(stored.ends), self._load(stored.content), part)

    def _find_in(self, block: CandidateBlock, key: str) -> int | None:
        stored = block.arrays.keys
        if stored is None:
            number = int(key) - 1 - block.first if key.isascii() and key.isdigit() and len(key) < 10 else -1
            return number if 0 <= number < block.rows and key == str(block.first + number + 1) else None
        index = (self._load(stored.hashes), self._load(stored.rows))
        return find_string(*index, self._load(stored.ends), self._load(stored.content), key)

    def _gather(self, numbers: Sequence[int] | Array, read: Callable[[CandidateBlock, Array], Sequence[T]]) -> list[T]:
        """Read rows that may lie in several blocks, in the order of `numbers`."""
        requested = np.asarray(numbers, dtype=np.intp)
        gathered: dict[int, T] = {}
        bounds = [block.first for block in self._blocks] + [len(self)]
        for block, (first, last) in zip(self._blocks, pairwise(bounds), strict=True):
            positions = np.flatnonzero((requested >= first) & (requested < last))
            gathered.update(zip(positions.tolist(), read(block, requested[positions] - first), strict=True))
        return [gathered[position] for position in range(len(requested))]

    def _load(self, digest: str) -> Array:
        return self._arrays.load(self._connection, digest)


_FEATURE_ARRAYS: tuple[FeatureArray, ...] = ("numbers", "codes")


def _array_of(column: Column) -> FeatureArray:
    """The array that holds a feature."""
    return "codes" if column.kind == "text" else "numbers"


def _as_shown(column: Column, stored: Array) -> list[CellValue]:
    """Stored values as people see them; NaN is a missing value."""
    if column.kind == "text":
        return [column.levels[code] for code in stored.tolist()]
    as_seen = bool if column.kind == "boolean" else float
    return [None if isnan(value) else as_seen(value) for value in stored.tolist()]
