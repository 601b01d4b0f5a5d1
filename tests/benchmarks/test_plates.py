"""The plates' benchmark: which column its batches share, and what its records say."""

import gzip
from pathlib import Path

import numpy as np

from app.engine.auto import FeatureColumn
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.tables import Table
from benchmarks.lines import read
from benchmarks.plates import BAYBE, FREE, SHARED, Run, lines, run, shared_column


def table(*names: str) -> Table:
    """A table whose columns have 4, 5, … values each."""
    numbers = np.column_stack([np.arange(40) % (4 + position) for position, _ in enumerate(names)]).astype(float)
    columns = tuple(FeatureColumn(name, "number") for name in names)
    return Table("t", columns, numbers, np.zeros((40, 0), dtype=np.int32), np.arange(40.0), "maximize")


def test_a_temperature_is_shared_where_there_is_one() -> None:
    shared = shared_column(table("n", "temperature_c", "m"))
    assert shared is not None
    assert (shared[0], len(set(shared[1].tolist()))) == ("temperature_c", 5)


def test_without_one_the_first_suitable_column_is() -> None:
    shared = shared_column(table("n", "m"))
    assert shared is not None
    assert shared[0] == "n"


def test_an_interrupted_run_goes_on_and_only_shared_batches_state_prices(tmp_path: Path) -> None:
    rows = [f"{i % 4},{i * 7 % 40},{-((i - 25) ** 2)}" for i in range(40)]
    with gzip.open(tmp_path / "toy.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(["level,x,y", *rows]) + "\n")
    out = tmp_path / "plates.jsonl"
    for seeds in (1, 2):
        run(tmp_path, ["toy"], seeds, out, None, Protocol(15, 5))
    runs = read(out, Run)
    assert [(made.policy, made.seed) for made in runs] == [(FREE, 0), (SHARED, 0), (FREE, 1), (SHARED, 1)]
    assert [len(made.stated) for made in runs] == [0, 2, 0, 2]
    assert {(made.column, made.values) for made in runs} == {("level", 4)}


def test_policies_are_compared_over_the_seeds_that_all_have_run() -> None:
    def made(policy: str, seed: int, cumulative: float) -> Run:
        return Run("toy", "level", 4, policy, seed, cumulative, 0.0, 1.0)

    runs = [made(FREE, 0, 0.5), made(FREE, 1, 0.9), made(SHARED, 0, 0.25), made(SHARED, 1, 0.9), made(BAYBE, 0, 0.75)]
    *_, row = lines(runs, (FREE, SHARED, BAYBE))
    assert row.startswith("| toy | level | 4 | 1 | 0.5000 ± nan | 0.2500 ± nan | 0.7500 ± nan |")
    assert "| 2 | 0.7000 ± 0.2000 | 0.5750 ± 0.3250 |" in list(lines(runs, (FREE, SHARED)))[-1]
