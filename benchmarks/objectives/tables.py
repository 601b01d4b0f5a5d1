"""Tables with several objectives and with failures, as `columns.csv.gz` describes them."""

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.arrays import BoolArray, FloatArray, IndexArray
from app.domain.candidates import Column
from app.domain.studies import Direction, Objective
from app.engine.auto import LevelCodes
from app.engine.several import hypervolume, non_dominated
from benchmarks.datasets import FOLDER as FIRST_FOLDER

FOLDER = FIRST_FOLDER.with_name("data2")

TABLES = (
    "direct_arylation_cost",
    "nas201_cifar100_pi5",
    "storm_wordcount_6d_mo",
    "lnp3_measured",
    "bicarbonate_electrolyzer",
    "suzuki_virtual_tasks:suzuki_i",
    "suzuki_virtual_tasks:suzuki_ii",
    "suzuki_virtual_tasks:suzuki_iii",
    "suzuki_virtual_tasks:suzuki_iv",
    "suzuki_reizman_tasks:suzuki_i",
    "suzuki_reizman_tasks:suzuki_ii",
    "suzuki_reizman_tasks:suzuki_iii",
    "suzuki_reizman_tasks:suzuki_iv",
    "hpo_alexnet_imagenet",
    "gpu_convolution_rtx3090",
)
"""Names of files; after a colon the task."""

MARGIN = 0.1


@dataclass(frozen=True, eq=False)
class Table:
    """Candidates with their features, the values of every objective, and whether a measurement gives them."""

    name: str
    columns: tuple[Column, ...]
    numbers: FloatArray
    codes: LevelCodes
    objectives: tuple[Objective, ...]
    values: FloatArray
    """(A, K); NaN where the measurement fails."""

    @property
    def works(self) -> BoolArray:
        return np.asarray(~np.isnan(self.values).any(axis=1))

    def utilities(self, numbers: IndexArray) -> FloatArray:
        """(n, K): higher is better."""
        signs = [-1.0 if objective.direction is Direction.MINIMIZE else 1.0 for objective in self.objectives]
        return np.asarray(self.values[numbers] * signs)

    def cells(self) -> list[list[float] | list[str]]:
        """The features of all candidates, column by column."""
        numbers, texts = iter(self.numbers.T), iter(self.codes.T)
        return [
            next(numbers).tolist() if column.kind == "number" else [column.levels[code] for code in next(texts)]
            for column in self.columns
        ]

    def regret(self, numbers: IndexArray) -> float:
        """The share of the whole front's hypervolume that these candidates do not dominate."""
        everything = self.utilities(np.flatnonzero(self.works))
        front = everything[non_dominated(everything)]
        if len(self.objectives) == 1:
            best, median = float(front.max()), float(np.median(everything))
            return (best - float(self.utilities(numbers).max())) / (best - median) if len(numbers) else 1.0
        reference = front.min(axis=0) - MARGIN * np.ptp(front, axis=0)
        reached = hypervolume(self.utilities(numbers), reference) if len(numbers) else 0.0
        return 1 - reached / hypervolume(front, reference)


def load(name: str, folder: Path = FOLDER) -> Table:
    """The table of one name. SMILES beside a name say the same, and are left out."""
    file, _, task = name.partition(":")
    described = [row for row in _read(folder / "columns.csv.gz") if row["file"] == file]
    rows = [row for row in _read(folder / f"{file}.csv.gz") if not task or row["task"] == task]
    features = [row for row in described if row["role"] == "feature" and row["kind"] != "smiles"]
    columns, numbers, codes = [], [], []
    for feature in features:
        cells = [row[feature["column"]] for row in rows]
        if feature["kind"] == "numeric":
            columns.append(Column(feature["column"], "number", "feature"))
            numbers.append([float(cell) for cell in cells])
        else:
            levels = tuple(sorted(set(cells)))
            columns.append(Column(feature["column"], "text", "feature", levels))
            codes.append([levels.index(cell) for cell in cells])
    goals = [row for row in described if row["role"] == "objective"]
    values = [[float(row[goal["column"]] or "nan") for goal in goals] for row in rows]
    directions = {"maximise": Direction.MAXIMIZE, "minimise": Direction.MINIMIZE}
    return Table(
        name,
        tuple(columns),
        np.array(numbers, dtype=float).reshape(len(numbers), len(rows)).T,
        np.array(codes, dtype=np.int32).reshape(len(codes), len(rows)).T,
        tuple(Objective(goal["column"], "", directions[goal["direction"]]) for goal in goals),
        np.array(values),
    )


def _read(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
