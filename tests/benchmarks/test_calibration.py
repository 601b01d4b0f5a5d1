"""What auto mode says of its doubt, compared with a table."""

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.labs.calibration import SHOWN_AFTER, chances, first_stops, gains, intervals, main, reliability, stops
from benchmarks.labs.moments import MOMENTS, SHARES, Moment, study
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
    return Moment(
        table,
        0,
        n,
        (covered,) * len(SHARES),
        true_gain,
        expected=0.1,
        upper=upper,
        chance_measured=0.5,
        is_measured=False,
        next_chance=0.2,
        next_better=True,
        possible=0.25,
        best_possible=True,
    )


def test_a_study_is_looked_at_at_every_moment(folder: Path) -> None:
    moments = list(study(load(folder, "toy"), 0))
    assert [one.n for one in moments] == list(MOMENTS)
    assert all(list(one.covered) == sorted(one.covered) for one in moments)
    assert all(0 <= one.expected <= one.upper for one in moments)
    assert moments[-1].true_gain == 0
    assert moments[-1].is_measured
    assert all(0 <= one.next_chance <= 1 - one.chance_measured + 1e-9 for one in moments)
    assert {one.advice for one in moments} == {"ask", "stop"}
    assert all((one.advice == "stop") == (one.n >= 20 and one.upper <= one.negligible) for one in moments)
    assert all(0 < one.negligible <= 0.05 for one in moments)


def test_replicates_are_drawn_in_a_noisy_study(folder: Path) -> None:
    toy = load(folder, "toy")
    replicated = replace(toy, replicates=tuple(np.array([value - 0.1, value + 0.1]) for value in toy.truth))
    moments = list(study(replicated, 0, noisy=True))
    assert [one.n for one in moments] == list(MOMENTS)
    assert all(one.noisy for one in moments)
    assert moments[-1] != list(study(toy, 0))[-1]


def test_what_was_said_is_counted_by_how_sure_it_was() -> None:
    sure = replace(moment(), chance_measured=0.9, is_measured=True, next_better=False)
    table = reliability([moment(), moment(), sure])
    assert "| 0.1 to 0.3 | 0 | – | – | 3 | 0.200 | 0.667 |" in table
    assert "| 0.5 to 0.7 | 2 | 0.500 | 0.000 | 0 | – | – |" in table
    assert "| 0.9 to 1.0 | 1 | 0.900 | 1.000 | 0 | – | – |" in table
    assert "| 20 | 0.500 | 0.000 | 0.200 | 1.000 | 0.250 | 1.000 |" in chances([moment()])


def test_tables_count_alike_however_many_studies_they_have() -> None:
    many = [moment("a", covered=0.4) for _ in range(9)]
    assert "| 20 | 2 | 10 | 0.600 | 0.600 | 0.600 |" in intervals([*many, moment("b", covered=0.8)])


def test_a_stop_is_wrong_if_more_is_left_and_never_comes_early() -> None:
    table = stops([moment(true_gain=0.25, upper=0.2), moment(true_gain=0.1, upper=0.2), moment(n=10, upper=0.01)])
    assert "| stops | 0 | 0 | 2 | 2 | 2 |" in table
    assert "| of them wrong | 0 | 0 | 1 | 0 | 0 |" in table
    assert "| 20 | 0.175 | 0.100 | 0.200 | 0.500 |" in gains([moment(true_gain=0.25), moment(true_gain=0.1)])


def test_a_study_that_follows_the_advice_stops_once_and_wrongly_if_too_much_is_left() -> None:
    def advised(seed: int, n: int, advice: str, true_gain: float, upper: float = 0.6) -> Moment:
        one = moment(n=n, true_gain=true_gain, upper=upper)
        return replace(one, seed=seed, advice=advice, negligible=0.05)

    right = [advised(0, 25, "stop", 0.01), advised(0, 20, "ask", 0.5), advised(0, 30, "stop", 0.9)]
    wrong = [advised(1, 20, "stop", 0.3, upper=0.04), advised(1, 25, "stop", 0.0, upper=0.04)]
    on_and_on = [advised(2, n, "ask", 0.4) for n in (10, 20)]
    lines = first_stops([*right, *wrong, *on_and_on]).splitlines()
    assert lines[2] == "| 5 % of the range of the results | 3 | 2 | 22.5 | 1 | 0.300 | 0.1550 |"
    assert lines[3] == "| 0.05 of the table's range | 3 | 1 | 20.0 | 1 | 0.300 | 0.3000 |"
    assert lines[-1] == "| 0.5 of the table's range | 3 | 1 | 20.0 | 0 | – | 0.3000 |"
    assert first_stops(on_and_on).splitlines()[2].endswith("| 1 | 0 | – | 0 | – | – |")


def test_tables_show_some_moments_of_those_looked_at() -> None:
    shown = intervals([moment(n=n) for n in MOMENTS]).splitlines()[2:]
    assert [int(line.split("|")[1]) for line in shown] == list(SHOWN_AFTER)


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
