"""What auto mode says of its doubt, compared with a table."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from benchmarks.labs.calibration import MOMENTS, SHARES, Moment, gains, intervals, main, stops, study
from benchmarks.labs.tables import load
from benchmarks.lines import read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A smooth table of 80 candidates."""
    lines = [f"{i},{np.sin(i / 12):.6f}" for i in range(80)]
    with gzip.open(tmp_path / "toy.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(["i,y", *lines]) + "\n")
    return tmp_path


def moment(table: str = "a", n: int = 20, true_gain: float = 0.1, upper: float = 0.2, covered: float = 0.5) -> Moment:
    return Moment(table, 0, n, (covered,) * len(SHARES), true_gain, 0.1, upper, 0.5, False)


def test_a_study_is_looked_at_at_every_moment(folder: Path) -> None:
    moments = list(study(load(folder, "toy"), 0))
    assert [one.n for one in moments] == list(MOMENTS)
    assert all(list(one.covered) == sorted(one.covered) for one in moments)
    assert all(0 <= one.expected <= one.upper for one in moments)
    assert moments[-1].true_gain == 0


def test_tables_count_alike_however_many_studies_they_have() -> None:
    many = [moment("a", covered=0.4) for _ in range(9)]
    assert "| 20 | 2 | 10 | 0.600 | 0.600 | 0.600 |" in intervals([*many, moment("b", covered=0.8)])


def test_a_stop_is_wrong_if_more_is_left_and_never_comes_early() -> None:
    table = stops([moment(true_gain=0.25, upper=0.2), moment(true_gain=0.1, upper=0.2), moment(n=10, upper=0.01)])
    assert "| stops | 0 | 0 | 2 | 2 | 2 |" in table
    assert "| of them wrong | 0 | 0 | 1 | 0 | 0 |" in table
    assert "| 20 | 0.175 | 0.100 | 0.200 | 0.500 |" in gains([moment(true_gain=0.25), moment(true_gain=0.1)])


def test_a_run_is_continued_and_fills_the_page(folder: Path) -> None:
    out, page = folder / "moments.jsonl", folder / "calibration.md"
    page.write_text("".join(f"<!-- {name} -->\n<!-- end -->\n" for name in ("intervals", "gains", "stops")))
    options = ["--data", str(folder), "--out", str(out), "--tables", "toy", "--pages", str(folder)]
    assert main(["run", *options, "--seeds", "0:1"]) == 0
    assert main(["run", *options, "--seeds", "0:2"]) == 0
    assert [(one.seed, one.n) for one in read(out, Moment)] == [(seed, n) for seed in (0, 1) for n in MOMENTS]
    assert main(["page", *options]) == 0
    assert "| 60 | 1 | 2 |" in page.read_text()
    assert (folder / "calibration.svg").exists()
