"""Learn the encoding of a table: scale what varies, spell out the words, recognise fingerprints, say what looks odd."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from app.engine.arrays import Array
from app.engine.auto.cautions import cautions
from app.engine.auto.columns import FeatureColumn, Override
from app.engine.auto.encoding import Codes, Encoding, Step
from app.engine.auto.scaling import Scaling

FINGERPRINT = 64
"""So many columns of 0 and 1 are a fingerprint, and are compared as one (Tanimoto)."""


def learn_encoding(
    columns: Sequence[FeatureColumn],
    numbers: ArrayLike,
    codes: ArrayLike,
    overrides: Mapping[str, Override | dict[str, Any]] | None = None,
) -> Encoding:
    """The encoding for candidates with these raw columns.

    numbers (A, ·) holds the number and boolean columns in order, codes (A, ·) the text columns; `overrides` go by
    column name.
    """
    values, words = np.asarray(numbers, dtype=float), np.asarray(codes, dtype=np.int32)
    _check(columns, values, words)
    wanted = {name: Override.build(override) for name, override in (overrides or {}).items()}
    unknown = wanted.keys() - {column.name for column in columns}
    if unknown:
        raise ValueError(f"overrides for columns that do not exist: {', '.join(sorted(unknown))}")
    found = [step for step in _steps(columns, values, words, wanted) if step is not None]
    steps = tuple(_with_fingerprint(found, values, wanted, columns))
    return Encoding(steps, cautions(columns, Encoding(steps), values, words))


def _check(columns: Sequence[FeatureColumn], numbers: Array, codes: Codes) -> None:
    texts = sum(column.kind == "text" for column in columns)
    if numbers.ndim != 2 or codes.ndim != 2 or numbers.shape[1] != len(columns) - texts or codes.shape[1] != texts:
        raise ValueError("numbers and codes need one column for every raw column of their kind")
    if len(numbers) != len(codes) or len(numbers) == 0:
        raise ValueError("an encoding needs candidates, with numbers and codes for each")
    if not np.isfinite(numbers).all():
        raise ValueError("numbers must be finite")


def _steps(
    columns: Sequence[FeatureColumn], numbers: Array, codes: Codes, wanted: Mapping[str, Override]
) -> list[Step | None]:
    """One step for every raw column, None for the constant ones."""
    steps: list[Step | None] = []
    place = {"number": 0, "text": 0}
    for source, column in enumerate(columns):
        store = "text" if column.kind == "text" else "number"
        if store == "text":
            steps.append(_words(codes[:, place[store]], source, place[store]))
        else:
            scale = wanted.get(column.name, Override())
            steps.append(_number(numbers[:, place[store]], source, place[store], scale))
        place[store] += 1
    return steps


def _number(values: Array, source: int, place: int, override: Override) -> Step | None:
    if values.min() == values.max():
        return None
    return Step("number", source, place, Scaling.learn(values, override.scale))


def _words(codes: Codes, source: int, place: int) -> Step | None:
    levels = np.unique(codes)
    return Step("level", source, place, levels=tuple(levels.tolist())) if len(levels) > 1 else None


def _with_fingerprint(
    steps: Sequence[Step], numbers: Array, wanted: Mapping[str, Override], columns: Sequence[FeatureColumn]
) -> list[Step]:
    """Columns of 0 and 1 become bits, unscaled, when there are enough of them; a column with an override stays a
    number."""
    bits = [
        step.role == "number"
        and columns[step.source].name not in wanted
        and bool(np.isin(numbers[:, step.place], (0.0, 1.0)).all())
        for step in steps
    ]
    if sum(bits) < FINGERPRINT:
        return list(steps)
    return [Step("bit", step.source, step.place) if bit else step for step, bit in zip(steps, bits, strict=True)]
