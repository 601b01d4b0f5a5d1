"""What results of an earlier study are worth: regret after 10 and 20 results, with them and without.

    python -m benchmarks.transfer --seeds 10

Each pair of tasks of a table is an earlier study of 40 results, made by the product itself, and a new one in batches
of five. On shuffled tasks the earlier values are permuted, so that nothing can be learnt from them: borrowing must not
hurt there. Regret is a share of the range of the new task.
"""

import argparse
import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.arrays import FloatArray
from app.domain.candidates import Column
from app.domain.events import EarlierResults
from app.domain.studies import Configuration, Direction, Objective
from app.modelling.simulating import KnownTable, simulate
from benchmarks.datasets import FOLDER as FIRST_FOLDER

FOLDER = FIRST_FOLDER.with_name("data2")
EARLIER, BATCH, MOST = 40, 5, 20
GOAL = Objective("value")


@dataclass(frozen=True)
class Source:
    """A file of tasks, its features and its objective, and pairs of an earlier task and a new one."""

    file: str
    numbers: tuple[str, ...]
    texts: tuple[str, ...]
    objective: str
    pairs: tuple[tuple[str, str], ...]


SOURCES = (
    Source(
        "buchwald_hartwig_tasks",
        (),
        ("additive", "base", "ligand"),
        "yield_pct",
        (
            ("1-bromo-4-ethylbenzene", "1-ethyl-4-iodobenzene"),
            ("2-chloropyridine", "3-bromopyridine"),
            ("1-chloro-4-methoxybenzene", "1-iodo-4-(trifluoromethyl)benzene"),
        ),
    ),
    Source(
        "suzuki_virtual_tasks",
        ("res_time_s", "temperature_c", "catalyst_loading_pct"),
        ("ligand",),
        "yield_pct",
        (("suzuki_i", "suzuki_iii"), ("suzuki_iv", "suzuki_i"), ("suzuki_iii", "suzuki_iv")),
    ),
)


def tasks(folder: Path, source: Source) -> dict[str, KnownTable]:
    """Every task of a file, with the same levels in all of them."""
    with gzip.open(folder / f"{source.file}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    levels = {name: tuple(dict.fromkeys(row[name] for row in rows)) for name in source.texts}
    columns = [Column(name, "number", "feature") for name in source.numbers]
    columns += [Column(name, "text", "feature", levels[name]) for name in source.texts]
    by_task: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_task.setdefault(row["task"], []).append(row)
    return {task: _table(tuple(columns), source, found_rows) for task, found_rows in by_task.items()}


def _table(columns: tuple[Column, ...], source: Source, rows: list[dict[str, str]]) -> KnownTable:
    levels = {column.name: column.levels for column in columns}
    numbers = np.array([[float(row[name]) for name in source.numbers] for row in rows]).reshape(len(rows), -1)
    codes = np.array([[levels[name].index(row[name]) for name in source.texts] for row in rows], dtype="<i4")
    values = np.array([float(row[source.objective]) for row in rows])
    return KnownTable(columns, numbers, codes, values, np.arange(1, len(rows) + 1))


def earlier_results(table: KnownTable, source: Source, seed: int, *, shuffled: bool) -> EarlierResults:
    """What a study of the earlier task has measured; with `shuffled`, the values tell nothing."""
    measured = simulate(table, Configuration(objectives=(GOAL,), seed=1000 + seed), BATCH, EARLIER)
    values = table.values[measured]
    if shuffled:
        values = np.random.default_rng(seed).permutation(values)
    texts = [column for column in table.columns if column.kind == "text"]
    return EarlierResults(
        study="earlier",
        seq=1,
        head="",
        direction=Direction.MAXIMIZE,
        values=tuple(values.tolist()),
        numbers={name: tuple(table.numbers[measured, q].tolist()) for q, name in enumerate(source.numbers)},
        texts={
            column.name: tuple(column.levels[code] for code in table.codes[measured, q].tolist())
            for q, column in enumerate(texts)
        },
    )


def regrets(table: KnownTable, seed: int, borrowed: tuple[EarlierResults, ...]) -> FloatArray:
    """The regret after 1, 2 … results, as a share of the range."""
    measured = simulate(table, Configuration(objectives=(GOAL,), seed=seed), BATCH, MOST, borrowed)
    best = np.maximum.accumulate(table.values[measured])
    return np.asarray((table.values.max() - best) / np.ptp(table.values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--data", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    print(f"{'earlier → new':<58} {'':9} {'without':>15} {'borrowed':>15}   after 10, 20 results")
    for source in SOURCES:
        known = tasks(arguments.data, source)
        for earlier, new in source.pairs:
            without = np.array([regrets(known[new], seed, ()) for seed in range(arguments.seeds)])
            for shuffled in (False, True):
                borrowing = np.array(
                    [
                        regrets(known[new], seed, (earlier_results(known[earlier], source, seed, shuffled=shuffled),))
                        for seed in range(arguments.seeds)
                    ]
                )
                figures = [runs[:, count - 1].mean() for runs in (without, borrowing) for count in (10, 20)]
                kind = "shuffled" if shuffled else "related"
                name = f"{earlier} → {new}"
                print(
                    f"{name:<58} {kind:9} {figures[0]:7.3f} {figures[1]:7.3f} {figures[2]:7.3f} {figures[3]:7.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
