"""Where candidates lie on a map of similarity: the first two principal components of their features.

Numbers are standardised, a missing one counts as the mean, and each level of a text is a column of 0 and 1. With X the
(A, p) matrix of these columns, each of mean 0 and variance 1, the map is X (v1, v2) with the two leading eigenvectors
of XᵀX. X is never whole in memory: it is made again, some rows at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from app.arrays import Array
from app.deadline import check_deadline

MOST_COLUMNS = 120
MOST_LEVELS = 30  # of one text
ROWS_AT_ONCE = 10_000


@dataclass(frozen=True)
class Feature:
    """(A,) the numbers of a feature, or the codes of its levels."""

    cells: Array
    levels: int | None = None  # None for numbers


@dataclass(frozen=True)
class _Scaled:
    """A column of X: the numbers of a feature or of one of its levels, before they are standardised."""

    cells: Array
    level: int | None
    mean: float
    std: float

    def rows(self, start: int) -> Array:
        part = self.cells[start : start + ROWS_AT_ONCE]
        plain = part if self.level is None else part == self.level
        return np.nan_to_num((plain - self.mean) / self.std, nan=0.0, posinf=0.0, neginf=0.0)


def similarity_map(features: Sequence[Feature], rows: int) -> Array:
    """(2, A) the position of every candidate; all lie in one point if no feature tells them apart."""
    columns = list(_columns(features))[:MOST_COLUMNS]
    if not columns or rows == 0:
        return np.zeros((2, rows))
    covariance = np.zeros((len(columns), len(columns)))
    for part in _parts(columns, rows):
        covariance += part.T @ part
    leading = np.linalg.eigh(covariance).eigenvectors[:, ::-1][:, :2]
    # An eigenvector and its opposite are as good; the same one each time, so that no map is mirrored by a reload.
    largest = leading[np.abs(leading).argmax(axis=0), np.arange(leading.shape[1])]
    leading = leading * np.where(largest < 0, -1.0, 1.0)
    positions = np.zeros((2, rows))
    for number, part in enumerate(_parts(columns, rows)):
        start = number * ROWS_AT_ONCE
        positions[: leading.shape[1], start : start + len(part)] = (part @ leading).T
    return positions


def _columns(features: Sequence[Feature]) -> Iterator[_Scaled]:
    for feature in features:
        if feature.levels is None:
            yield from _scaled(feature.cells, None)
        else:
            for level in range(min(feature.levels, MOST_LEVELS)):
                yield from _scaled(feature.cells, level)


def _scaled(cells: Array, level: int | None) -> Iterator[_Scaled]:
    """One column, or none if all candidates are equal in it."""
    check_deadline()
    plain = (cells if level is None else cells == level).astype(float)
    known = plain[np.isfinite(plain)]
    with np.errstate(over="ignore", invalid="ignore"):
        mean, std = (known.mean(), known.std()) if len(known) else (0.0, 0.0)
    if 0 < std < np.inf:
        yield _Scaled(cells, level, float(mean), float(std))


def _parts(columns: Sequence[_Scaled], rows: int) -> Iterator[Array]:
    """X, some rows at a time."""
    for start in range(0, rows, ROWS_AT_ONCE):
        check_deadline()
        yield np.stack([column.rows(start) for column in columns], axis=1)
