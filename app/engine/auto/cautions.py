"""What looks odd in a table: columns that say nothing, nothing new, or too much."""

from collections.abc import Iterator, Sequence

import numpy as np

from app.engine.arrays import Array
from app.engine.auto.columns import FeatureColumn
from app.engine.auto.encoding import Caution, Codes, Encoding

DUPLICATE = 0.9999
"""Two columns of numbers correlated beyond this say the same."""

MANY_LEVELS = 50
ROWS = 2000
"""Correlations are looked for in so many candidates, evenly chosen."""


def cautions(columns: Sequence[FeatureColumn], encoding: Encoding, numbers: Array, codes: Codes) -> tuple[Caution, ...]:
    """Everything worth saying about the table; encoding without its warnings."""
    return (
        *_constant(columns, encoding),
        *_many_levels(columns, encoding, codes),
        *_duplicates(columns, encoding, numbers),
    )


def _constant(columns: Sequence[FeatureColumn], encoding: Encoding) -> Iterator[Caution]:
    used = {step.source for step in encoding.steps}
    if not used:
        names = tuple(column.name for column in columns)
        yield Caution("no_features", names, "no column varies: the candidates cannot be told apart")
        return
    for source, column in enumerate(columns):
        if source not in used:
            yield Caution("constant", (column.name,), f"{column.name} is the same for all candidates and is left out")


def _many_levels(columns: Sequence[FeatureColumn], encoding: Encoding, codes: Codes) -> Iterator[Caution]:
    for step in encoding.steps:
        if step.width > MANY_LEVELS or (step.width > 2 and 2 * step.width > len(codes)):
            name = columns[step.source].name
            message = f"{name} has {step.width} levels for {len(codes)} candidates: little can be learnt about each"
            yield Caution("many_levels", (name,), message)


def _duplicates(columns: Sequence[FeatureColumn], encoding: Encoding, numbers: Array) -> Iterator[Caution]:
    """The second of every two columns of numbers that are nearly a multiple of each other."""
    steps = [step for step in encoding.steps if step.role == "number"]
    rows = np.unique(np.linspace(0, len(numbers) - 1, ROWS).astype(int))
    none = np.zeros((len(rows), 0), dtype=np.int32)
    U = np.hstack([np.zeros((len(rows), 0)), *(step.apply(numbers[rows], none) for step in steps)])
    U = U - U.mean(axis=0, keepdims=True)
    norms = np.sqrt((U**2).sum(axis=0))
    U = U / np.where(norms > 0, norms, 1.0)
    pairs = np.argwhere(np.triu(np.abs(U.T @ U) > DUPLICATE, 1))
    told: set[int] = set()
    for i, j in pairs.tolist():
        if j not in told:
            told.add(j)
            first, second = columns[steps[i].source].name, columns[steps[j].source].name
            yield Caution("nearly_duplicate", (first, second), f"{second} says nearly the same as {first}")
