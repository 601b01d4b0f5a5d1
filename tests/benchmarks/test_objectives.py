"""The benchmark of several objectives: its records, its timing, and a peer that must not wait for a lock."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from app.domain.candidates import Column
from app.domain.studies import Direction, Objective
from benchmarks.objectives.simulation import Run, Simulation
from benchmarks.objectives.standings import standings
from benchmarks.objectives.tables import Table
from benchmarks.objectives.timing import lines
from benchmarks.peers.adapters.compiling import compile_afresh


def table() -> Table:
    """Forty candidates; the last ten fail."""
    numbers = np.random.default_rng(0).random((40, 2))
    values = np.column_stack((numbers[:, 0], -numbers[:, 1]))
    values[30:] = np.nan
    goals = tuple(Objective(name, "", Direction.MAXIMIZE) for name in ("yield", "purity"))
    columns = tuple(Column(name, "number", "feature") for name in ("a", "b"))
    return Table("tiny", columns, numbers, np.empty((40, 0), dtype=np.int32), goals, values)


@pytest.mark.parametrize("policy", ["ours", "random"])
def test_a_study_that_measures_everything_misses_nothing_and_wastes_every_failure(policy: str) -> None:
    with Simulation(tries=40, size=10) as simulation:
        run = simulation.run(table(), policy, 0)
    assert run.regrets[-1] == pytest.approx(0.0)
    assert list(run.regrets) == sorted(run.regrets, reverse=True)
    assert (run.policy, run.wasted) == (policy, 10)


def test_standings_compare_the_same_seeds_alone() -> None:
    def run(policy: str, seed: int, *regrets: float, wasted: int = 0) -> Run:
        return Run("tiny", policy, seed, regrets, wasted, 1.0, 0.1 if policy == "ours" else 2.0)

    ours = [run("ours", 0, 0.5, 0.1), run("ours", 1, 0.4, 0.0, wasted=3), run("ours", 2, 0.9, 0.9)]
    peer = [run("BayBE", 0, 0.5, 0.3, wasted=4), run("BayBE", 1, 0.4, 0.0, wasted=3), run("BayBE", 7, 0.0, 0.0)]
    [_, _, line, _, said] = standings([*ours, *peer])
    assert line == "| tiny | BayBE | 2 | -0.1000 | 0.1000 | -0.0500 | 0.0500 | 1 | 0 | -2.0 | × 20 |"
    assert said == "At or below every peer on the same seeds: 1 of 1 tables."
    worse = [run("Optuna GP", seed, 0.0, 0.0) for seed in range(3)]
    assert standings([*ours, *peer, *worse])[-1] == "At or below every peer on the same seeds: 0 of 1 tables."


def test_the_timing_compares_one_objective_with_three() -> None:
    header, first, total = lines(candidates=60, results=8, rounds=1)
    assert header.startswith("| round | one objective | three | ratio |")
    assert first.startswith("| 1 |")
    assert total.startswith("| all |")


def test_a_peer_does_not_wait_for_a_lock_that_an_ended_process_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.peers.adapters.compiling.COMPILED", tmp_path)
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", sys.prefix)
    (tmp_path / "fused").mkdir()
    (tmp_path / "fused" / "lock").touch()
    compile_afresh()
    assert os.environ["TORCH_EXTENSIONS_DIR"] == str(tmp_path)
    assert not (tmp_path / "fused" / "lock").exists()
