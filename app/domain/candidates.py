"""Candidates: their columns, and the blocks of rows that a study's list consists of."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

ColumnKind: TypeAlias = Literal["number", "boolean", "text"]
ColumnRole: TypeAlias = Literal["key", "feature", "attribute"]
CellValue: TypeAlias = float | bool | str | None
Expense: TypeAlias = Literal["cost", "duration"]
"""What a measurement takes: money, or time."""


@dataclass(frozen=True)
class Fingerprint:
    """How the molecules of a column become counts: the Morgan fingerprint of RDKit, with chirality."""

    radius: int
    counts: int
    rdkit: str
    """The version of RDKit that made the first ones. The counts are stored, so no replay needs it."""


@dataclass(frozen=True)
class Column:
    """One column of the candidate list: what its cells are, and what they are used for."""

    name: str
    kind: ColumnKind
    role: ColumnRole
    levels: tuple[str, ...] = ()
    """The distinct texts of a text feature, in order of first appearance; empty for every other column."""
    expense: Expense | None = None
    """Its numbers are what one measurement of each candidate takes. It may be an attribute or a feature."""
    fingerprint: Fingerprint | None = None
    """Of a text feature that holds molecules as SMILES."""


@dataclass(frozen=True)
class KeyArrays:
    """The digests of a block's keys: packed strings, and an index from the hash of a key to its row."""

    ends: str
    content: str
    hashes: str
    rows: str


@dataclass(frozen=True)
class AttributeArrays:
    """The digests of one attribute: `numbers`, or packed strings."""

    numbers: str | None = None
    ends: str | None = None
    content: str | None = None


@dataclass(frozen=True)
class BlockArrays:
    """The arrays of a block, each named by its digest."""

    numbers: str
    """(rows, number and boolean features) float64"""
    codes: str
    """(rows, text features) int32: positions in the column's levels"""
    keys: KeyArrays | None = None
    """None if the candidates have no keys of their own: then a candidate's key is its number, from 1."""
    attributes: Mapping[str, AttributeArrays] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    """By the name of a column of molecules: (levels, counts) uint8, of all levels that the column has by then"""

    def digests(self) -> set[str]:
        return set(self._named())

    def _named(self) -> Iterator[str]:
        yield self.numbers
        yield self.codes
        if self.keys is not None:
            yield from (self.keys.ends, self.keys.content, self.keys.hashes, self.keys.rows)
        for attribute in self.attributes.values():
            named = (attribute.numbers, attribute.ends, attribute.content)
            yield from (digest for digest in named if digest is not None)
        yield from self.fingerprints.values()


@dataclass(frozen=True)
class CandidateBlock:
    """Rows `first` to `first + rows - 1` of the list: what one upload added."""

    first: int
    rows: int
    arrays: BlockArrays
    stored_in: Literal["database", "files"] = "database"
    """Where the arrays are: in the database, or in files named by their digests."""


@dataclass(frozen=True)
class Candidate:
    """One thing that can be measured, as people see it."""

    number: int
    key: str
    features: Mapping[str, CellValue]
    attributes: Mapping[str, CellValue]
    available: bool
    reason: str | None  # why it is not available
    cost: float | None = None  # of one measurement; None if the list has no such column
    duration: float | None = None
    reserved_by: str | None = None  # the worker who will measure it without a batch


def expense_column(columns: Iterable[Column], expense: Expense) -> Column | None:
    """The column that says what a measurement takes; None if the list has none."""
    return next((column for column in columns if column.expense == expense), None)
