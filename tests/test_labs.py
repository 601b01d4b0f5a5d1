"""The simulated labs: figures by hand, and a run that is resumed."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.labs.__main__ import main
from benchmarks.labs.policies import Auto, Random
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.records import Record, read
from benchmarks.labs.simulation import simulate
from benchmarks.labs.summary import per_policy, per_table
from benchmarks.labs.tables import Table, load


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table of 40 candidates with a word and a number, and two single measurements of each."""
    rows = [(word, i, 10 * ("abcd".index(word) == 2) + i) for word in "abcd" for i in range(10)]
    lines = [f"{word},{i},{y}" for word, i, y in rows]
    singles = [f"{word},{i}.0,{y + e}" for word, i, y in rows for e in (-1, 1)]
    for name, body in (("toy", lines), ("toy_replicates", singles)):
        with gzip.open(tmp_path / f"{name}.csv.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(["word,i,y", *body]) + "\n")
    return tmp_path


@pytest.fixture
def table(folder: Path) -> Table:
    return load(folder, "toy", noisy=True)


def test_a_table_has_words_numbers_and_single_measurements(table: Table) -> None:
    assert [(column.name, column.kind) for column in table.columns] == [("word", "text"), ("i", "number")]
    assert table.numbers.shape == table.codes.shape == (40, 1)
    assert table.replicates is not None
    assert sorted(table.replicates[29].tolist()) == [18.0, 20.0]
    order = np.arange(40)[::-1]
    assert table.permuted(order).truth[0] == table.truth[39]


def test_figures_are_shares_of_the_range_and_of_random(table: Table) -> None:
    record = Record.of(table, Protocol(), 0, "by hand", np.array([0, 28]), 0, [9.0, 1.0, 3.0])
    assert record.simple == pytest.approx(1 / 19)
    assert record.recommended == 1
    assert record.cumulative == pytest.approx((19 + 1) / 2 / (19 - table.truth.mean()))
    assert record.seconds == 2
    assert not record.hit


@pytest.mark.parametrize("noisy", [False, True])
def test_auto_mode_finds_the_best_of_a_small_table(table: Table, noisy: bool) -> None:
    protocol = Protocol(20, 4, noisy)
    record = simulate(table, protocol, 0, "auto", Auto)
    assert record.simple <= 1 / 19
    assert record.cumulative < simulate(table, protocol, 0, "random", Random).cumulative
    again = simulate(table, protocol, 0, "auto", Auto)
    assert (again.cumulative, again.recommended) == (record.cumulative, record.recommended)


def test_a_run_goes_on_where_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "runs.jsonl"
    for seeds in ("0:1", "0:2", "0:2"):
        arguments = f"run --data {folder} --out {out} --tables toy --policies random --seeds {seeds}"
        monkeypatch.setattr(sys, "argv", ["labs", *arguments.split()])
        main()
    assert [record.seed for record in read(out)] == [0, 1]
    monkeypatch.setattr(sys, "argv", ["labs", "table", str(out)])
    main()
    assert "| random | T60 q5 | 1 | 2 |" in capsys.readouterr().out
    assert per_table(read(out)).count("\n") == 2
    assert per_policy([]).count("\n") == 1
