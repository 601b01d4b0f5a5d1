"""The tables, as files name them: features before, the objective last; text columns are categorical."""

import csv
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.auto import FeatureColumn, LevelCodes, ObjectiveDirection

LABS = (
    "agnp",
    "buchwald_hartwig",
    "crossed_barrel",
    "direct_arylation",
    "direct_arylation_dft",
    "esol_descriptors",
    "esol_ecfp512",
    "hpo_svm_letter",
    "oer_plate_3496",
    "storm_wordcount_6d",
)
HELD_OUT = ("oer_plate_3496", "storm_wordcount_6d")
"""Not looked at while variants were chosen."""

OTHERS = ("abalone", "nas_bench_201_cifar10", "nas_bench_macro_cifar10")
REPLICATED = ("agnp", "crossed_barrel", "nas_bench_macro_cifar10")
"""With single measurements, for simulating noise."""

MINIMISED = frozenset(
    {
        "agnp",
        "colors_bob",
        "colors_n9",
        "gpu_convolution",
        "nas201_latency",
        "oer_plate_3496",
        "photo_pce10",
        "photo_wf3",
    }
)


@dataclass(frozen=True, eq=False)
class Table:
    """One data set; candidate i has numbers[i], codes[i], the true value truth[i] and the single measurements
    replicates[i]."""

    name: str
    columns: tuple[FeatureColumn, ...]
    numbers: FloatArray
    codes: LevelCodes
    truth: FloatArray
    direction: ObjectiveDirection
    replicates: tuple[FloatArray, ...] | None = None

    def cells(self) -> list[list[float] | list[str]]:
        """The columns as a lab has them: numbers and texts."""
        numbers, codes = iter(self.numbers.T), iter(self.codes.T)
        return [
            next(numbers).tolist() if column.kind == "number" else [column.levels[code] for code in next(codes)]
            for column in self.columns
        ]

    def permuted(self, order: IndexArray) -> "Table":
        """The same candidates in another order: the order of the file is often correlated with the objective."""
        replicates = None if self.replicates is None else tuple(self.replicates[i] for i in order)
        shuffled = self.numbers[order], self.codes[order], self.truth[order]
        return Table(self.name, self.columns, *shuffled, self.direction, replicates)


def load(folder: Path, name: str, noisy: bool = False) -> Table:
    """The table of one name, with its replicates if `noisy`."""
    header, rows = _read(folder / f"{name}.csv.gz")
    columns, numbers, codes = [], [], []
    for title, cells in zip(header[:-1], zip(*(row[:-1] for row in rows), strict=True), strict=True):
        if _are_numbers(cells):
            columns.append(FeatureColumn(title, "number"))
            numbers.append([float(cell) for cell in cells])
        else:
            levels = tuple(sorted(set(cells)))
            columns.append(FeatureColumn(title, "text", levels))
            codes.append([levels.index(cell) for cell in cells])
    A = len(rows)
    return Table(
        name,
        tuple(columns),
        np.array(numbers, dtype=float).reshape(len(numbers), A).T,
        np.array(codes, dtype=np.int32).reshape(len(codes), A).T,
        np.array([float(row[-1]) for row in rows]),
        "minimize" if name in MINIMISED else "maximize",
        _replicates(folder, name, rows) if noisy else None,
    )


def _replicates(folder: Path, name: str, rows: Sequence[Sequence[str]]) -> tuple[FloatArray, ...]:
    """The single measurements of every row, found by its features."""
    _, singles = _read(folder / f"{name}_replicates.csv.gz")
    found: dict[tuple[str | float, ...], list[float]] = {_features(row): [] for row in rows}
    for row in singles:
        found[_features(row)].append(float(row[-1]))
    return tuple(np.array(found[_features(row)]) for row in rows)


def _features(row: Sequence[str]) -> tuple[str | float, ...]:
    """227 and 227.0 are the same."""
    return tuple(float(cell) if _are_numbers([cell]) else cell for cell in row[:-1])


def _read(path: Path) -> tuple[list[str], list[list[str]]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def _are_numbers(cells: Sequence[str]) -> bool:
    try:
        return bool(np.isfinite([float(cell) for cell in cells]).all())
    except ValueError:
        return False
