"""The public data sets of the benchmarks: where they lie, how they become a problem.

A set is `NAME.csv.gz` with a header row; the last column is the objective, text columns are categories. A problem has
standardised features (categories one-hot first), its objective moved to [0, 1], and its rows permuted, so that no
algorithm gains from the order of the file.
"""

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.arrays import FloatArray

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
"""Where the sets are looked for unless told otherwise: beside the repository."""

SOURCES = {
    "abalone": "UCI Machine Learning Repository, data set 1 (Abalone): the eight measurements, then rings",
    "cadata": "LIBSVM regression sets (cadata) or StatLib (cal_housing): eight features, then median_house_value",
}
MINIMISED = {"agnp", "agnp_replicates", "oer_plate_3496"}


class MissingSetError(Exception):
    """The set is not in the folder; the message says where it comes from."""


@dataclass(frozen=True)
class Problem:
    """Candidates with a known objective."""

    name: str
    X: FloatArray
    """(A, d) features, standardised."""
    f: FloatArray
    """(A,) objective in [0, 1], larger is better."""


def load(name: str, folder: Path = FOLDER, seed: int = 0) -> Problem:
    """The named set as a problem, rows permuted by the seed."""
    *features, objective = columns(name, folder)
    X = np.column_stack([part for column in features for part in encoded(column)])
    y = np.array(objective, dtype=float) * (-1 if name in MINIMISED else 1)
    return permuted(Problem(name, standardised(X), (y - y.min()) / np.ptp(y)), seed)


def generated(A: int, d: int, seed: int = 0) -> Problem:
    """Uniform candidates and a smooth objective with a few bumps, for machines without the sets."""
    rng = np.random.default_rng(seed)
    X, peaks = rng.uniform(-1, 1, size=(A, d)), rng.uniform(-1, 1, size=(6, d))
    heights = rng.uniform(0.3, 1, size=6)
    f = sum(h * np.exp(-np.sum((X - c) ** 2, axis=1) / (0.3 * d)) for h, c in zip(heights, peaks, strict=True))
    return Problem("generated", standardised(X), np.asarray((f - np.min(f)) / np.ptp(f)))


def standardised(X: FloatArray) -> FloatArray:
    """Every column with mean 0 and deviation 1; constant columns become 0."""
    deviation = X.std(axis=0)
    scaled: FloatArray = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    return scaled


def permuted(problem: Problem, seed: int) -> Problem:
    """The same candidates in another order."""
    order = np.random.default_rng(seed).permutation(len(problem.f))
    return Problem(problem.name, np.ascontiguousarray(problem.X[order]), problem.f[order])


def _path(name: str, folder: Path) -> Path:
    path = folder / f"{name}.csv.gz"
    if not path.exists():
        source = SOURCES.get(name, "see the README of the folder of sets")
        raise MissingSetError(f"{path.name} is not in {folder}. Public source: {source}. Another folder: --data FOLDER")
    return path


def columns(name: str, folder: Path = FOLDER) -> list[tuple[str, ...]]:
    """The named set as it is written, the objective last."""
    with gzip.open(_path(name, folder), "rt", encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return list(zip(*rows, strict=True))


def encoded(column: tuple[str, ...]) -> list[FloatArray]:
    """One column of numbers, or one column of 0 and 1 for every category."""
    try:
        return [np.array(column, dtype=float)]
    except ValueError:
        return [np.array([value == level for value in column], dtype=float) for level in sorted(set(column))]
