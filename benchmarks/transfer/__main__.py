"""Run the studies, and report what borrowing changed."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.domain.events import EarlierResults
from app.domain.studies import Configuration, Objective
from app.modelling.simulating import simulate
from benchmarks.transfer.summary import report
from benchmarks.transfer.tasks import FOLDER, SOURCES, TaskTable

EARLIER, BATCH, MOST = 40, 5, 40
GOAL = Objective("value")
RECORDS = Path("benchmarks/results/transfer.jsonl")
EARLIER_STUDIES = Path("benchmarks/results/transfer-earlier.jsonl")


class Arms:
    """The studies of one table: without, and with what three kinds of earlier results tell."""

    def __init__(self, table: TaskTable, store: Path = EARLIER_STUDIES) -> None:
        """`store` keeps what the earlier studies measured, so that a peer borrows from the same ones."""
        self._table, self._store = table, store
        self._measured: dict[tuple[str, int], IndexArray] = {
            (record["task"], record["seed"]): np.array(record["measured"], dtype=np.intp)
            for record in records(store)
            if record["file"] == table.source.file
        }

    def of(self, new: str, seed: int) -> Iterator[tuple[str, tuple[EarlierResults, ...]]]:
        yield "without", ()
        related, unrelated = self._table.related(new), self._table.unrelated(new)
        yield "related", (self._earlier(related, seed),)
        yield "unrelated", (self._earlier(unrelated, seed),)
        yield "shuffled", (self._earlier(related, seed, shuffled=True),)

    def _earlier(self, task: str, seed: int, *, shuffled: bool = False) -> EarlierResults:
        table = self._table.tasks[task]
        if (task, seed) not in self._measured:
            configuration = Configuration(objectives=(GOAL,), seed=1000 + seed)
            self._measured[task, seed] = simulate(table, configuration, BATCH, EARLIER)
            numbers = self._measured[task, seed].tolist()
            append(self._store, {"file": self._table.source.file, "task": task, "seed": seed, "measured": numbers})
        measured = self._measured[task, seed]
        values = table.values[measured]
        values = np.random.default_rng(seed).permutation(values) if shuffled else values
        return self._table.results(task, measured, values)


def regrets(table: TaskTable, new: str, seed: int, borrowed: tuple[EarlierResults, ...]) -> FloatArray:
    """(MOST,) the regret after 1, 2 … results, as a share of the range."""
    task = table.tasks[new]
    measured = simulate(task, Configuration(objectives=(GOAL,), seed=seed), BATCH, MOST, borrowed)
    best = np.maximum.accumulate(task.values[measured])
    return np.asarray((task.values.max() - best) / np.ptp(task.values))


def run(folder: Path, files: list[str], seeds: int, out: Path) -> None:
    """Append a record for every study; those that the file has already are left out."""
    known = {_identity(record) for record in records(out)}
    for source in (source for source in SOURCES if source.file in files):
        table = TaskTable.read(folder, source)
        arms = Arms(table)
        for seed in range(seeds):
            for new in table.tasks:
                for arm, borrowed in arms.of(new, seed):
                    record = {"file": source.file, "task": new, "arm": arm, "seed": seed}
                    if _identity(record) in known:
                        continue
                    record["regret"] = np.round(regrets(table, new, seed, borrowed), 5).tolist()
                    append(out, record)


def append(path: Path, record: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lines:
        lines.write(json.dumps(record) + "\n")


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _identity(record: dict[str, Any]) -> tuple[object, ...]:
    return record["file"], record["task"], record["arm"], record["seed"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transfer")
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--files", nargs="+", default=[source.file for source in SOURCES])
    parser.add_argument("--out", type=Path, default=RECORDS)
    parser.add_argument("--by-task", action="store_true")
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(arguments.data, arguments.files, arguments.seeds, arguments.out)
    print(report(records(arguments.out), by_task=arguments.by_task))


if __name__ == "__main__":
    main()
