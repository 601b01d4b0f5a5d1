"""Run the studies, ours or BayBE's, and report what borrowing changed and how the two compare."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.domain.events import EarlierResults
from app.domain.studies import Configuration, Objective
from app.modelling.simulating import KnownTable, simulate
from benchmarks.peers.link import Link, PeerError
from benchmarks.transfer.peer import BorrowingPeer, baybe
from benchmarks.transfer.summary import beside, report
from benchmarks.transfer.tasks import FOLDER, SOURCES, TaskTable
from benchmarks.transfer.telling import heading, told

EARLIER, BATCH, MOST = 40, 5, 40
PEERS_MOST = 20  # results of a study of BayBE, an ask of which takes seconds
GOAL = Objective("value")
RECORDS = Path("benchmarks/results/transfer.jsonl")
PEERS_RECORDS = Path("benchmarks/results/transfer-baybe.jsonl")
EARLIER_STUDIES = Path("benchmarks/results/transfer-earlier.jsonl")

Borrowed = tuple[EarlierResults, ...]
Study = Callable[[KnownTable, int, Borrowed], IndexArray]
"""Table, seed and what is borrowed → the candidates in the order in which they are measured."""


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


def ours(table: KnownTable, seed: int, borrowed: Borrowed) -> IndexArray:
    return simulate(table, Configuration(objectives=(GOAL,), seed=seed), BATCH, MOST, borrowed)


def peers(link: Link, table: KnownTable, seed: int, borrowed: Borrowed) -> IndexArray:
    return np.array(BorrowingPeer(link, table, seed, borrowed).measured(BATCH, PEERS_MOST), dtype=np.intp)


def regrets(table: KnownTable, measured: IndexArray) -> FloatArray:
    """The regret after 1, 2 … results, as a share of the range."""
    best = np.maximum.accumulate(table.values[measured])
    return np.asarray((table.values.max() - best) / np.ptp(table.values))


def run(folder: Path, files: list[str], seeds: int, out: Path, study: Study) -> None:
    """Append a record for every study; those that the file has already are left out."""
    known = {_identity(record) for record in records(out)}
    for source in (source for source in SOURCES if source.file in files):
        table = TaskTable.read(folder, source)
        arms = Arms(table)
        for seed in range(seeds):
            for new in table.tasks:
                for arm, borrowed in arms.of(new, seed):
                    record = {"file": source.file, "task": new, "arm": arm, "seed": seed}
                    if _identity(record) not in known:
                        _run(table.tasks[new], borrowed, record, out, study)


def _run(table: KnownTable, borrowed: Borrowed, record: dict[str, Any], out: Path, study: Study) -> None:
    try:
        measured = study(table, record["seed"], borrowed)
    except PeerError as error:
        print(f"{record}: {error}", file=sys.stderr, flush=True)
        return
    append(out, {**record, "regret": np.round(regrets(table, measured), 5).tolist()})


def append(path: Path, record: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lines:
        lines.write(json.dumps(record) + "\n")


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _identity(record: dict[str, Any]) -> tuple[object, ...]:
    return record["file"], record["task"], record["arm"], record["seed"]


def main() -> None:
    arguments = _parser().parse_args()
    if arguments.what == "told":
        print(heading())
        for source in (source for source in SOURCES if source.file in arguments.files):
            print("\n".join(told(TaskTable.read(arguments.data, source))), flush=True)
        return
    study = arguments.data, arguments.files, arguments.seeds
    if arguments.what == "run":
        run(*study, arguments.out, ours)
    if arguments.what == "baybe":
        with baybe() as link:
            run(*study, arguments.peers, partial(peers, link))
    if arguments.what in {"baybe", "beside"}:
        print(beside(records(arguments.out), records(arguments.peers)))
    else:
        print(report(records(arguments.out), by_task=arguments.by_task))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transfer")
    parser.add_argument("what", choices=("run", "report", "told", "baybe", "beside"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--files", nargs="+", default=[source.file for source in SOURCES])
    parser.add_argument("--out", type=Path, default=RECORDS, help="the file of our records")
    parser.add_argument("--peers", type=Path, default=PEERS_RECORDS, help="the file of BayBE's records")
    parser.add_argument("--by-task", action="store_true")
    return parser


if __name__ == "__main__":
    main()
