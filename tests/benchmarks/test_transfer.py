"""The summary of the transfer benchmark: paired, and every table counts alike."""

import numpy as np

from benchmarks.transfer.summary import needed, report


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
    records += [record("b", 0, "without", low), record("b", 0, "related", low), record("b", 1, "related", high)]
    rows = report(records).splitlines()
    assert [row.split(" | ")[:3] for row in rows[2:]] == [
        ["| a", "related", "3"],
        ["| b", "related", "1"],  # the other one has nothing to be compared with
        ["| all, each table alike", "related", "4"],
    ]
    assert "0.300, 0.200, -0.100" in rows[4]  # half of −0.2 and half of 0
