"""A study's candidates as one table: find by key, read rows and columns, copy nothing that is not asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.domain.candidates import Column
from app.domain.studies import Study
from app.services.arrays import ArrayCache
from app.storage import candidates as rows
from app.storage import texts
from app.storage.candidates import Block, Unavailable

Array = NDArray[Any]
Value = float | bool | str | None


@dataclass(frozen=True)
class Candidate:
    number: int
    key: str
    features: dict[str, Value]
    attributes: dict[str, Value]
    available: bool
    reason: str | None


class CandidateSet:
    """The candidates of one study at one moment; candidate i is row i over all blocks."""

    def __init__(self, connection: Connection, arrays: ArrayCache, study: Study) -> None:
        self._connection = connection
        self._study = study
        self._arrays = arrays
        self._blocks = rows.blocks(connection, study)
        self._features = [column for column in study.columns if column.role == "feature"]
        self._attributes = [column for column in study.columns if column.role == "attribute"]

    @cached_property
    def unavailable(self) -> dict[int, Unavailable]:
        return rows.unavailable(self._connection, self._study)

    def __len__(self) -> int:
        return sum(block.rows for block in self._blocks)

    def find(self, key: str) -> int | None:
        """The candidate with this key."""
        for block in self._blocks:
            found = self._find_in(block, key)
            if found is not None:
                return block.first + found
        return None

    def find_all(self, keys: Iterable[str]) -> dict[str, int]:
        """The candidates of those keys that there are."""
        found = ((key, self.find(key)) for key in keys)
        return {key: number for key, number in found if number is not None}

    @property
    def has_keys(self) -> bool:
        """Whether they have keys of their own, not just their numbers."""
        return bool(self._blocks) and self._blocks[0].arrays["keys"] is not None

    def those_known(self, keys: Sequence[str]) -> list[int]:
        """The places of the keys that are candidates' already."""
        if not self.has_keys or not keys:
            return []
        wanted, places = texts.index(keys)
        maybe = np.zeros(len(keys), dtype=bool)
        for block in self._blocks:
            maybe |= np.isin(wanted, self._load(block.arrays["keys"]["hashes"]))
        return [place for place in sorted(places[maybe].tolist()) if self.find(keys[place]) is not None]

    def keys(self, numbers: Sequence[int] | Array) -> list[str]:
        return [str(text) for text in self._gather(numbers, self._keys_in)]

    def read(self, numbers: Sequence[int] | Array) -> list[Candidate]:
        """Some candidates, whole."""
        keys, kept = self.keys(numbers), {part: self._rows(part, numbers) for part in ("numbers", "codes")}
        features = [
            (column.name, _shown(column, kept[_part_of(column)][:, self._places[column.name]]))
            for column in self._features
        ]
        attributes = [(column.name, self.values(column, numbers)) for column in self._attributes]
        return [
            Candidate(
                int(number),
                keys[i],
                {name: values[i] for name, values in features},
                {name: values[i] for name, values in attributes},
                available=int(number) not in self.unavailable,
                reason=switched.reason if (switched := self.unavailable.get(int(number))) else None,
            )
            for i, number in enumerate(numbers)
        ]

    def values(self, column: Column, numbers: Sequence[int] | Array) -> list[Value]:
        """One column of some candidates, as people see it."""
        if column.role == "attribute" and column.kind == "text":
            return list(self._gather(numbers, lambda block, local: self._attribute_texts(block, column, local)))
        return _shown(column, self.column(column)[np.asarray(numbers, dtype=np.intp)])

    def column(self, column: Column) -> Array:
        """One column of all candidates as an array: numbers (booleans as 0 and 1), or codes into the levels."""
        return _joined([self._column_in(block, column) for block in self._blocks])

    @cached_property
    def numbers(self) -> Array:
        """(candidates, number and boolean features)"""
        return self._stacked("numbers")

    @cached_property
    def codes(self) -> Array:
        """(candidates, text features)"""
        return self._stacked("codes")

    @cached_property
    def _places(self) -> dict[str, int]:
        """The place of every feature among those that are kept with it."""
        parts = (
            [column.name for column in self._features if _part_of(column) == part] for part in ("numbers", "codes")
        )
        return {name: place for names in parts for place, name in enumerate(names)}

    def _stacked(self, part: str) -> Array:
        return _joined([self._load(block.arrays[part]) for block in self._blocks])

    def _rows(self, part: str, numbers: Sequence[int] | Array) -> Array:
        """The numbers or the codes of some candidates."""
        rows_ = self._gather(numbers, lambda block, local: self._load(block.arrays[part])[local])
        return np.array(rows_).reshape(len(numbers), sum(_part_of(column) == part for column in self._features))

    def _column_in(self, block: Block, column: Column) -> Array:
        if column.role == "attribute":
            stored = block.arrays["attributes"][column.name]
            if "numbers" in stored:
                return self._load(stored["numbers"])
            return np.full(block.rows, np.nan)
        return self._load(block.arrays[_part_of(column)])[:, self._places[column.name]]

    def _attribute_texts(self, block: Block, column: Column, local: Array) -> list[str | None]:
        stored = block.arrays["attributes"][column.name]
        if "ends" not in stored:  # every one of this block is missing
            return [None] * len(local)
        return texts.unpack(self._load(stored["ends"]), self._load(stored["content"]), local)

    def _keys_in(self, block: Block, local: Array) -> list[str | None]:
        stored = block.arrays["keys"]
        if stored is None:
            return [str(block.first + int(row) + 1) for row in local]
        return texts.unpack(self._load(stored["ends"]), self._load(stored["content"]), local)

    def _find_in(self, block: Block, key: str) -> int | None:
        stored = block.arrays["keys"]
        if stored is None:
            number = int(key) - 1 - block.first if key.isascii() and key.isdigit() and len(key) < 10 else -1
            return number if 0 <= number < block.rows and key == str(block.first + number + 1) else None
        hashes, rows_, ends, content = (self._load(stored[part]) for part in ("hashes", "rows", "ends", "content"))
        return texts.find(hashes, rows_, ends, content, key)

    def _gather(self, numbers: Sequence[int] | Array, read: Any) -> list[Any]:
        """Read rows that may lie in several blocks, and put them back in the order asked for."""
        wanted = np.asarray(numbers, dtype=np.intp)
        gathered: list[Any] = [None] * len(wanted)
        bounds = [block.first for block in self._blocks] + [len(self)]
        for block, (first, last) in zip(self._blocks, pairwise(bounds), strict=True):
            places = np.flatnonzero((wanted >= first) & (wanted < last))
            for place, value in zip(places, read(block, wanted[places] - first), strict=True):
                gathered[place] = value
        return gathered

    def _load(self, digest: str) -> Array:
        return self._arrays.load(self._connection, digest)


def _part_of(column: Column) -> str:
    """Where a feature is kept."""
    return "codes" if column.kind == "text" else "numbers"


def _shown(column: Column, raw: Array) -> list[Value]:
    """Values as they are kept to values as people see them; NaN is nothing."""
    if column.kind == "text":
        return [column.levels[code] for code in raw.tolist()]
    as_seen = bool if column.kind == "boolean" else float
    return [None if value != value else as_seen(value) for value in raw.tolist()]  # noqa: PLR0124


def _joined(parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
