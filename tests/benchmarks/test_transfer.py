"""The transfer benchmark: its summary is paired, and a peer borrows the same results."""

from dataclasses import replace
from typing import Any

import numpy as np

from app.domain.candidates import Column
from app.domain.events import EarlierResults
from app.domain.studies import Direction
from app.modelling.simulating import KnownTable
from benchmarks.transfer.__main__ import ours
from benchmarks.transfer.peer import BorrowingPeer
from benchmarks.transfer.summary import beside, needed, report
from benchmarks.transfer.tasks import Source, TaskTable
from benchmarks.transfer.telling import told


def record(file: str, seed: int, arm: str, regret: list[float]) -> dict[str, object]:
    return {"file": file, "task": "t", "seed": seed, "arm": arm, "regret": regret}


def test_experiments_count_until_the_regret_is_small_enough() -> None:
    curves = np.array([[0.5, 0.1, 0.0], [0.5, 0.4, 0.3]])
    assert needed(curves, 0.1).tolist() == [2.0, 4.0]


def test_studies_are_compared_with_the_same_seed_and_every_table_counts_alike() -> None:
    high, low = [0.4] * 20, [0.2] * 20
    records = [
        record("a", seed, arm, curve) for seed in range(3) for arm, curve in (("without", high), ("related", low))
    ]
    records += [record("b", 0, "without", low), record("b", 0, "related", low * 2), record("b", 1, "related", high)]
    rows = report(records).splitlines()  # studies of different lengths are compared as far as both go
    assert [row.split(" | ")[:3] for row in rows[2:]] == [
        ["| a", "related", "3"],
        ["| b", "related", "1"],  # the other one has nothing to be compared with
        ["| all, each table alike", "related", "4"],
    ]
    assert "0.300, 0.200, -0.100" in rows[4]  # half of −0.2 and half of 0


def test_a_peer_stands_beside_ours_in_the_studies_that_both_have_run() -> None:
    high, low = [0.4] * 20, [0.1] * 20
    mine = [record("a", seed, arm, low) for seed in range(2) for arm in ("without", "related")]
    theirs = [record("a", 0, "without", high), record("a", 0, "related", low), record("a", 7, "related", high)]
    rows = beside(mine, theirs).splitlines()
    assert rows[2:] == [
        "| a | without | 1 | 0.100, 0.400, -0.300 ± 0.000 | 0.100, 0.400, -0.300 ± 0.000 |",
        "| a | related | 1 | 0.100, 0.100, +0.000 ± 0.000 | 0.100, 0.100, +0.000 ± 0.000 |",
    ]


class ChoosesTheFirst:
    """A peer's process that proposes the candidates in order, and keeps what it is told."""

    def __init__(self) -> None:
        self.listed: dict[str, list[Any]] = {}
        self.told: list[tuple[int, float]] = []

    def start(self, columns: list[str], values: list[list[Any]], **_: object) -> None:
        self.listed = dict(zip(columns, values, strict=True))

    def call(self, do: str, **message: Any) -> list[int]:
        if do == "tell":
            self.told += zip(message["rows"], message["values"], strict=True)
            return []
        measured = {row for row, _ in self.told}
        return [row for row in range(len(self.listed["heat"])) if row not in measured][: message["q"]]


def task() -> KnownTable:
    columns = (Column("solvent", "text", "feature", ("DMF", "THF")), Column("heat", "number", "feature"))
    heat, codes = np.arange(30.0)[:, None], (np.arange(30) % 2)[:, None].astype("<i4")
    return KnownTable(columns, heat, codes, np.arange(30.0) / 2, np.arange(1, 31))


EARLIER = EarlierResults("e", 1, "", Direction.MAXIMIZE, (7.0, 9.0), {"heat": (90.0, 95.0)}, {"solvent": ("THF", "X")})


def test_a_peer_is_told_the_earlier_results_as_rows_of_its_list_and_then_asked() -> None:
    link = ChoosesTheFirst()
    measured = BorrowingPeer(link, task(), 0, (EARLIER,)).measured(5, 10)
    assert measured == list(range(10))
    assert link.listed["heat"][28:] == [28.0, 29.0, 90.0, 95.0]
    assert link.listed["solvent"][28:] == ["DMF", "THF", "THF", "X"]
    assert link.listed["study"] == ["new"] * 30 + ["earlier"] * 2
    assert link.told[:4] == [(30, 7.0), (31, 9.0), (0, 0.0), (1, 0.5)]


def test_a_peer_that_borrows_nothing_begins_with_our_first_batch() -> None:
    link = ChoosesTheFirst()
    measured = BorrowingPeer(link, task(), 3, ()).measured(5, 10)
    assert measured[:5] == ours(task(), 3, ())[:5].tolist()
    assert measured[:5] != list(range(5))
    assert set(link.listed["study"]) == {"new"}


def test_what_an_earlier_study_tells_is_where_the_best_candidate_stands_in_its_ranking() -> None:
    source = Source("file", ("heat",), ("solvent",), "value")
    same = task()
    best_is_elsewhere = replace(same, values=np.where(np.arange(30) == 5, 99.0, same.values))
    rows = list(told(TaskTable(source, {"a": same, "b": best_is_elsewhere})))
    a, b = ([cell.strip() for cell in row.split("|")[1:-1]] for row in rows)
    assert a[:2] == ["file", "a"]
    assert b[4:] == ["25", "25"]  # candidate 5 of 0 to 29, in a ranking from 29 down
    assert float(b[2]) > 0.5
