"""How the raw columns of a study become its features X: learnt once, stored with the study, applied to every later
candidate.

Numbers that vary are scaled, texts get a column per level, and many columns of 0 and 1 are taken for a fingerprint.

A text with so many levels that their columns would fill the memory gets signatures instead: each level has 64 columns
of ±1/8, which follow from its code. Equal texts stay equal, and two different ones are at the squared distance
2 ± 0.25, where columns of their own would put them at 2. So the kernel sees almost what it would see otherwise.

A text that is a molecule gets the counts of its fingerprint, all divided by one number, so that they have length 1 on
average: Tanimoto does not change by that, and distances are like those of other texts. If it has few levels, each in
many candidates (a ligand, a solvent), it gets a column per level as well: what a structure does not tell, its own
results do. Then the counts are made so small that the columns of the levels decide what is far from what.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from app.arrays import FloatArray
from app.engine.auto.columns import FeatureColumn, FeatureRole, Layout, LevelCodes, Override, Scaling

VERSION = 1

FINGERPRINT = 64
"""This many columns of 0 and 1 are a fingerprint, and are compared as one (Tanimoto)."""

MOST_LEVEL_CELLS = 10_000_000
"""Candidates × levels of one text: 80 MB. Beyond it, a level has a signature."""

SIGNATURE = 64
"""Columns of a signature."""

OFTEN = 4
"""A molecule whose levels are in this many candidates each, on average, has a column per level as well."""
SMALL = 1e-3

Fingerprints = Mapping[int, FloatArray]
"""By the position of a molecule among the texts: the counts (levels, ·) of all its levels."""
NO_MOLECULES: Fingerprints = MappingProxyType({})


@dataclass(frozen=True)
class ColumnEncoding:
    """The encoded columns made of one raw column."""

    role: FeatureRole
    source: int
    """Number of the raw column in the table."""
    slot: int
    """Its position among the numbers or among the codes."""
    scaling: Scaling | None = None
    """Of a number."""
    levels: tuple[int, ...] = ()
    """Of a text: the codes that were seen, one encoded column each; none if levels have signatures."""
    counts: int = 0
    """Of a molecule: the length of its fingerprint."""
    length: float = 1.0
    """Of a molecule: what the counts are divided by."""

    @property
    def width(self) -> int:
        """How many encoded columns there are."""
        if self.role == "count":
            return self.counts
        return (len(self.levels) or SIGNATURE) if self.role == "level" else 1

    def apply(self, numbers: FloatArray, codes: LevelCodes, fingerprints: Fingerprints = NO_MOLECULES) -> FloatArray:
        """(n, width). A text level unknown when the encoding was learnt is all zeros: equally far from every known
        level."""
        if self.role == "count":
            counts: FloatArray = fingerprints[self.slot][codes[:, self.slot]] / self.length
            return counts
        if self.role == "level" and not self.levels:
            return _signatures(codes[:, self.slot])
        if self.role == "level":
            one_hot: FloatArray = (codes[:, [self.slot]] == np.asarray(self.levels)).astype(float)
            return one_hot
        values = numbers[:, self.slot]
        return (self.scaling.apply(values) if self.scaling else values)[:, None]

    def describe(self) -> dict[str, Any]:
        """Plain JSON."""
        scaling = self.scaling.describe() if self.scaling else None
        return {**self.__dict__, "scaling": scaling, "levels": list(self.levels)}

    @classmethod
    def build(cls, description: dict[str, Any]) -> Self:
        """The inverse of `describe`."""
        scaling = Scaling(**description["scaling"]) if description["scaling"] else None
        return cls(**{**description, "scaling": scaling, "levels": tuple(description["levels"])})


@dataclass(frozen=True)
class Encoding:
    """The raw columns that vary, in their order; if none varies there is one feature, 0."""

    columns: tuple[ColumnEncoding, ...]

    @property
    def layout(self) -> Layout:
        """What each of the d encoded columns means."""
        if not self.columns:
            return Layout.of_numbers(1)
        roles = [column.role for column in self.columns for _ in range(column.width)]
        sources = [column.source for column in self.columns for _ in range(column.width)]
        return Layout(tuple(roles), tuple(sources))

    def apply(self, numbers: FloatArray, codes: LevelCodes, fingerprints: Fingerprints = NO_MOLECULES) -> FloatArray:
        """Raw numbers (n, ·) and codes (n, ·) to features (n, d), finite for finite numbers."""
        if not self.columns:
            return np.zeros((len(numbers), 1))
        features, start = np.empty((len(numbers), sum(column.width for column in self.columns))), 0
        for column in self.columns:
            features[:, start : start + column.width] = column.apply(numbers, codes, fingerprints)
            start += column.width
        return features

    def describe(self) -> dict[str, Any]:
        """Plain JSON with a version; `Encoding.build` is the inverse."""
        return {"version": VERSION, "columns": [column.describe() for column in self.columns]}

    @classmethod
    def build(cls, description: dict[str, Any]) -> Self:
        """The encoding that `describe` wrote."""
        if description["version"] != VERSION:
            raise ValueError(f"this program reads encodings of version {VERSION}, not {description['version']}")
        return cls(tuple(map(ColumnEncoding.build, description["columns"])))


def learn_encoding(
    columns: Sequence[FeatureColumn],
    numbers: ArrayLike,
    codes: ArrayLike,
    overrides: Mapping[str, Override | dict[str, Any]] | None = None,
    fingerprints: Fingerprints = NO_MOLECULES,
) -> Encoding:
    """The encoding for candidates with these raw columns.

    numbers (A, ·) holds the number and boolean columns in order, codes (A, ·) the text columns; `overrides` go by
    column name. `fingerprints` are those of the molecules.
    """
    values, level_codes = np.asarray(numbers, dtype=float), np.asarray(codes, dtype=np.int32)
    _check(columns, values, level_codes)
    decided = {name: Override.build(override) for name, override in (overrides or {}).items()}
    unknown = decided.keys() - {column.name for column in columns}
    if unknown:
        raise ValueError(f"overrides for columns that do not exist: {', '.join(sorted(unknown))}")
    encoded = _encode_columns(columns, values, level_codes, decided, fingerprints)
    return Encoding(tuple(_with_fingerprint(encoded, values, decided, columns)))


def _check(columns: Sequence[FeatureColumn], numbers: FloatArray, codes: LevelCodes) -> None:
    texts = sum(column.kind == "text" for column in columns)
    if numbers.ndim != 2 or codes.ndim != 2 or numbers.shape[1] != len(columns) - texts or codes.shape[1] != texts:
        raise ValueError("numbers and codes need one column for every raw column of their kind")
    if len(numbers) != len(codes) or len(numbers) == 0:
        raise ValueError("an encoding needs candidates, with numbers and codes for each")
    if not np.isfinite(numbers).all():
        raise ValueError("numbers must be finite")


def _encode_columns(
    columns: Sequence[FeatureColumn],
    numbers: FloatArray,
    codes: LevelCodes,
    overrides: Mapping[str, Override],
    fingerprints: Fingerprints,
) -> list[ColumnEncoding]:
    """One encoding for every raw column that varies."""
    encodings: list[ColumnEncoding | None] = []
    next_number, next_text = 0, 0
    for source, column in enumerate(columns):
        if column.kind == "text":
            levels = np.unique(codes[:, next_text])
            spelled_out = not column.is_molecule or len(levels) * OFTEN <= len(codes)
            if column.is_molecule and len(levels) > 1:
                seen = fingerprints[next_text][levels]
                encodings.append(_molecule(seen, source, next_text, SMALL if spelled_out else 1.0))
            if spelled_out:
                encodings.append(_text(codes[:, next_text], source, next_text))
            next_text += 1
        else:
            override = overrides.get(column.name, Override())
            encodings.append(_number(numbers[:, next_number], source, next_number, override))
            next_number += 1
    return [encoding for encoding in encodings if encoding is not None]


def _number(values: FloatArray, source: int, slot: int, override: Override) -> ColumnEncoding | None:
    """None for a constant column."""
    if values.min() == values.max():
        return None
    return ColumnEncoding("number", source, slot, Scaling.learn(values, override.scale))


def _molecule(seen: FloatArray, source: int, slot: int, target: float) -> ColumnEncoding:
    """Counts whose root mean square length is the target."""
    length = float(np.sqrt(np.mean(np.sum(seen.astype(float) ** 2, axis=1)))) or 1.0
    return ColumnEncoding("count", source, slot, counts=seen.shape[1], length=length / target)


def _text(codes: LevelCodes, source: int, slot: int) -> ColumnEncoding | None:
    """None for a constant column."""
    levels = np.unique(codes)
    if len(levels) == 1:
        return None
    spelled_out = len(levels) <= most_levels(len(codes))
    return ColumnEncoding("level", source, slot, levels=tuple(levels.tolist()) if spelled_out else ())


def most_levels(rows: int) -> int:
    """How many levels of a text get columns of their own if so many candidates are learnt from."""
    return max(SIGNATURE, MOST_LEVEL_CELLS // rows)


def _signatures(codes: LevelCodes) -> FloatArray:
    """(n, SIGNATURE) for codes (n,): the bits of a mixed code (the finalizer of splitmix64) as ±1/√SIGNATURE."""
    mixed = (codes.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    bits = np.unpackbits(mixed.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1)
    signatures: FloatArray = (2.0 * bits - 1.0) / np.sqrt(SIGNATURE)
    return signatures


def _with_fingerprint(
    encodings: Sequence[ColumnEncoding],
    numbers: FloatArray,
    overrides: Mapping[str, Override],
    columns: Sequence[FeatureColumn],
) -> list[ColumnEncoding]:
    """Columns of 0 and 1 become bits, unscaled, if there are enough of them; a column with an override stays a
    number."""

    def is_bit(encoding: ColumnEncoding) -> bool:
        if encoding.role != "number" or columns[encoding.source].name in overrides:
            return False
        return bool(np.isin(numbers[:, encoding.slot], (0.0, 1.0)).all())

    bits = [is_bit(encoding) for encoding in encodings]
    if sum(bits) < FINGERPRINT:
        return list(encodings)
    return [
        ColumnEncoding("bit", encoding.source, encoding.slot) if bit else encoding
        for encoding, bit in zip(encodings, bits, strict=True)
    ]
