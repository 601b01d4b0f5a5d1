"""Tables of several tasks, and which of them are related."""

import csv
import gzip
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.spatial import KDTree
from scipy.stats import spearmanr

from app.arrays import FloatArray, IndexArray
from app.domain.candidates import Column
from app.domain.events import EarlierResults
from app.domain.studies import Direction
from app.modelling.simulating import KnownTable
from benchmarks.datasets import FOLDER as FIRST_FOLDER

FOLDER = FIRST_FOLDER.with_name("data2")
TEXT_DISTANCE = 10.0
"""How far apart two texts are, beside numbers between 0 and 1: the nearest candidate has the same texts, if one has."""


@dataclass(frozen=True)
class Source:
    """A file of tasks, its features and its objective."""

    file: str
    numbers: tuple[str, ...]
    texts: tuple[str, ...]
    objective: str


CONDITIONS = ("res_time_s", "temperature_c", "catalyst_loading_pct")
SOURCES = (
    Source("buchwald_hartwig_tasks", (), ("additive", "base", "ligand"), "yield_pct"),
    Source("suzuki_virtual_tasks", CONDITIONS, ("ligand",), "yield_pct"),
    Source("suzuki_reizman_tasks", CONDITIONS, ("catalyst",), "yield_pct"),
    Source("nas201_tasks", (), ("op_0_1", "op_0_2", "op_1_2", "op_0_3", "op_1_3", "op_2_3"), "val_accuracy_pct"),
)


@dataclass(frozen=True, eq=False)
class TaskTable:
    """The tasks of a file by name, with the same levels in all of them."""

    source: Source
    tasks: dict[str, KnownTable]

    @classmethod
    def read(cls, folder: Path, source: Source) -> "TaskTable":
        with gzip.open(folder / f"{source.file}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        columns = [Column(name, "number", "feature") for name in source.numbers]
        columns += [
            Column(name, "text", "feature", tuple(dict.fromkeys(row[name] for row in rows))) for name in source.texts
        ]
        by_task: dict[str, list[dict[str, str]]] = {}
        for row in rows:
            by_task.setdefault(row["task"], []).append(row)
        return cls(source, {name: _table(tuple(columns), source, found) for name, found in sorted(by_task.items())})

    @cached_property
    def agreement(self) -> dict[str, dict[str, float]]:
        """New task → earlier task → rank correlation of its values with those of the nearest earlier candidates."""
        features = {name: self._features(table) for name, table in self.tasks.items()}
        trees = {name: KDTree(points) for name, points in features.items()}
        agreement: dict[str, dict[str, float]] = {}
        for new, table in self.tasks.items():
            for earlier in self.tasks.keys() - {new}:
                nearest = trees[earlier].query(features[new])[1]
                correlation = spearmanr(table.values, self.tasks[earlier].values[nearest]).statistic
                agreement.setdefault(new, {})[earlier] = float(correlation)
        return agreement

    def related(self, new: str) -> str:
        return max(sorted(self.agreement[new]), key=self.agreement[new].__getitem__)

    def unrelated(self, new: str) -> str:
        return min(sorted(self.agreement[new]), key=self.agreement[new].__getitem__)

    def _features(self, table: KnownTable) -> FloatArray:
        numbers = np.vstack([task.numbers for task in self.tasks.values()])
        scaled = (table.numbers - numbers.min(axis=0)) / np.ptp(numbers, axis=0) if numbers.size else table.numbers
        texts = [column for column in table.columns if column.kind == "text"]
        levels = [np.eye(len(column.levels))[table.codes[:, q]] * TEXT_DISTANCE for q, column in enumerate(texts)]
        return np.hstack([scaled, *levels])

    def results(self, task: str, measured: IndexArray, values: FloatArray) -> EarlierResults:
        """Results of some candidates of a task, as a study borrows them."""
        table = self.tasks[task]
        texts = [column for column in table.columns if column.kind == "text"]
        return EarlierResults(
            study="earlier",
            seq=1,
            head="",
            direction=Direction.MAXIMIZE,
            values=tuple(values.tolist()),
            numbers={name: tuple(table.numbers[measured, q].tolist()) for q, name in enumerate(self.source.numbers)},
            texts={
                column.name: tuple(column.levels[code] for code in table.codes[measured, q].tolist())
                for q, column in enumerate(texts)
            },
        )


def _table(columns: tuple[Column, ...], source: Source, rows: list[dict[str, str]]) -> KnownTable:
    code_of = {
        column.name: {level: code for code, level in enumerate(column.levels)}
        for column in columns
        if column.kind == "text"
    }
    numbers = np.array([[float(row[name]) for name in source.numbers] for row in rows]).reshape(len(rows), -1)
    codes = np.array([[code_of[name][row[name]] for name in source.texts] for row in rows], dtype="<i4")
    values = np.array([float(row[source.objective]) for row in rows])
    return KnownTable(columns, numbers, codes, values, np.arange(1, len(rows) + 1))
