"""What a user should know about a table before the first measurement: columns that add nothing, or too much.

Nothing here changes what the model does; the caller shows it beside its own findings about the table.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.auto.columns import FeatureColumn, LevelCodes
from app.engine.auto.encoding import learn_encoding

DUPLICATE = 0.9999
"""Two columns of numbers whose correlation exceeds this tell the model the same."""

MANY_LEVELS = 50
FEWEST_ROWS = 10
"""A shorter table is no evidence: in a table of two candidates, any two columns are a multiple of each other."""

ROWS_COMPARED = 2000
"""Correlations are computed for this many candidates, evenly chosen."""


class TableWarning(NamedTuple):
    """One thing to look at, in one column; nothing was refused."""

    code: str
    message: str
    column: str


def table_warnings(columns: Sequence[FeatureColumn], numbers: FloatArray, codes: LevelCodes) -> list[TableWarning]:
    """Everything worth saying about the feature columns of a table, in the form that `learn_encoding` reads."""
    if len(codes) < FEWEST_ROWS:
        return []
    return [*_many_levels(columns, len(codes)), *_near_duplicates(columns, numbers, codes)]


def _many_levels(columns: Sequence[FeatureColumn], rows: int) -> Iterator[TableWarning]:
    for column in columns:
        levels = len(column.levels)
        if levels > MANY_LEVELS or (levels > 2 and 2 * levels > rows):
            message = (
                f"{levels} different texts for {rows} candidates: the model learns about each text only from its own"
                " measurements. If you can, describe the texts by numbers, such as descriptors"
            )
            yield TableWarning("many-levels", message, column.name)


def _near_duplicates(
    columns: Sequence[FeatureColumn], numbers: FloatArray, codes: LevelCodes
) -> Iterator[TableWarning]:
    """The second of every two columns of numbers that are almost a multiple of each other, as the model reads them."""
    rows = np.unique(np.linspace(0, len(numbers) - 1, ROWS_COMPARED).astype(int))
    encoding = learn_encoding(columns, numbers[rows], codes[rows])
    compared = [column for column in encoding.columns if column.role == "number"]
    if not compared:
        return
    features = np.hstack([column.apply(numbers[rows], codes[rows]) for column in compared])
    names = [columns[column.source].name for column in compared]
    told: set[str] = set()
    for first, second in _correlated_pairs(features).tolist():
        if names[second] not in told:
            told.add(names[second])
            message = f"tells the model almost the same as {names[first]}: one of the two is enough"
            yield TableWarning("nearly-duplicate-column", message, names[second])


def _correlated_pairs(features: FloatArray) -> IndexArray:
    """Pairs of columns i < j with |correlation| above DUPLICATE, (n, 2)."""
    U = features - features.mean(axis=0, keepdims=True)
    norms = np.sqrt((U**2).sum(axis=0))
    U = U / np.where(norms > 0, norms, 1.0)
    return np.argwhere(np.triu(np.abs(U.T @ U) > DUPLICATE, 1))
