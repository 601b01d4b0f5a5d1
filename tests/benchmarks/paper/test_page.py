"""From runs to the page: resumable, complete, and checked against what is committed."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.pages import filled
from benchmarks.paper import __main__ as command
from benchmarks.paper import cells, page, subset
from benchmarks.paper.panels import apart
from benchmarks.paper.systems import SYSTEMS


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two small regression sets in a folder, and runs of 40 and 60 steps."""
    rng = np.random.default_rng(0)
    for name in cells.REGRESSION:
        rows = [f"{a},{b},{np.exp(-(a**2) - b**2)}" for a, b in rng.normal(size=(50, 2))]
        with gzip.open(tmp_path / f"{name}.csv.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(["a,b,y", *rows]) + "\n")
    monkeypatch.setattr(cells, "SHORT", 40)
    monkeypatch.setattr(cells, "HORIZON", 60)
    return tmp_path


@pytest.fixture
def run(sets: Path, tmp_path: Path) -> Callable[..., int]:
    where = ["--data", str(sets), "--results", str(tmp_path / "results")]
    return lambda *arguments: command.main([*arguments, *where])


def test_a_run_goes_on_where_it_was_interrupted(
    run: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("run", "--stages", "short", "--repetitions", "1") == 0
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "results").iterdir()}
    assert len(made) == 2 * len(SYSTEMS)
    next(iter(made)).unlink()
    ran: list[cells.Cell] = []
    honest = command.run
    monkeypatch.setattr(command, "run", lambda cell, measured: (ran.append(cell), honest(cell, measured))[1])
    run("run", "--stages", "short", "--repetitions", "1")
    assert len(ran) == 1


def test_a_missing_set_is_an_error_that_names_its_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["run", "--data", str(tmp_path), "--results", str(tmp_path)]) == 2
    assert "UCI" in capsys.readouterr().err


def test_the_whole_plan_has_every_cell_once() -> None:
    planned = list(cells.everything())
    assert len(set(planned)) == len({cell.name for cell in planned})
    assert {cell.repetition for cell in planned} == set(range(10))
    assert {cell.bandwidth for cell in planned} >= set(cells.SWEEP)


def test_a_table_is_put_between_its_marks() -> None:
    text = "before\n<!-- one -->\nold\n<!-- end -->\n<!-- two -->\n<!-- end -->\nafter"
    assert filled(text, {"one": "new", "absent": "x"}) == (
        "before\n<!-- one -->\n\nnew\n\n<!-- end -->\n<!-- two -->\n<!-- end -->\nafter"
    )


def test_names_are_moved_apart_in_their_order() -> None:
    placed = apart([0.5, 0.5, 0.1, 0.52], 0.1)
    assert np.all(np.diff(np.sort(placed)) >= 0.0999)
    assert np.argsort(placed).tolist() == [2, 0, 1, 3]
    assert min(apart([0.0, 0.01], 0.2)) >= 0


@pytest.mark.parametrize(
    ("name", "value", "fine"),
    [
        ("regret", 0.104, True),
        ("regret", 0.106, False),
        ("time", 0.39, True),
        ("time", 0.41, False),
        ("time", 0.02, False),
    ],
)
def test_bounds_are_tight_for_what_the_seed_determines_and_loose_for_times(name: str, value: float, fine: bool) -> None:
    assert subset.Compared(name, value, 0.1).within == fine


def test_the_check_fails_when_a_ratio_is_out_of_bounds(
    run: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subset, "COMMITTED", tmp_path / "subset.json")
    monkeypatch.setattr(subset, "STEPS", {"generated": 30, "abalone": 30})
    monkeypatch.setattr(subset, "LOOSE", 1e6)
    assert run("check", "--accept") == 0
    assert run("check") == 0
    committed = json.loads(subset.COMMITTED.read_text())
    committed["ratios"]["generated-bbkb-10-30-0-0"]["regret"] *= 1.2
    subset.COMMITTED.write_text(json.dumps(committed))
    capsys.readouterr()
    assert run("check") == 1
    assert capsys.readouterr().out.count("OUT OF BOUNDS") == 1


def test_the_committed_ratios_are_those_of_the_subset() -> None:
    assert set(subset.read()) == {cell.name for cell in subset.subset()}


def test_a_picture_without_all_of_its_curves_stays_as_it_was(
    run: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    docs, systems = tmp_path / "docs", ["bbkb", "uniform"]
    monkeypatch.setattr("benchmarks.paper.tables.SHORT", 40)
    monkeypatch.setattr("benchmarks.paper.pictures.SHORT", 40)
    (docs / "paper").mkdir(parents=True)
    (docs / "paper.md").write_text("<!-- abalone 40 -->\n<!-- end -->\n")
    run("run", "--stages", "short", "--repetitions", "1", "--systems", *systems)
    page.write(tmp_path / "results", docs)
    drawn = (docs / "paper" / "regret.svg").read_bytes()
    for record in (tmp_path / "results").iterdir():
        record.unlink()
    run("run", "--stages", "short", "--repetitions", "2", "--systems", "bbkb")
    page.write(tmp_path / "results", docs, add=True)
    assert "| Global-BBKB | 17.5 | 2 |" in (docs / "paper.md").read_text()
    assert "| uniform | – | 1 |" in (docs / "paper.md").read_text()
    assert "regret is left as it was" in capsys.readouterr().out
    assert (docs / "paper" / "regret.svg").read_bytes() == drawn
