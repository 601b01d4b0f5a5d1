"""The command line of the benchmarks, on small generated cases."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import engine, scaling
from benchmarks.datasets import generated
from benchmarks.experiment import Experiment, Trace, run_engine
from benchmarks.machine import Rates, least_seconds
from benchmarks.plots import plot_scaling
from benchmarks.speed import same_choices


def test_a_comparison_prints_every_figure_and_draws_its_plot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = engine.main(["--set", "generated", "--horizon", "60", "--json", "--plots", str(tmp_path)])
    figures = json.loads(capsys.readouterr().out)
    assert code == 0
    assert figures["speedup_over_literal"] > 0
    assert figures["same_choices"] == 60
    assert figures["phases"]["choose"] + figures["phases"]["measure"] <= figures["seconds"] * 1.01
    assert 0 < figures["regret_ratio"] < 1.5
    assert figures["peak_memory"] >= 8 * 1_000 * figures["dictionary"]
    assert {path.suffix for path in tmp_path.iterdir()} == {".svg", ".png"}


def test_the_check_exits_with_0_when_all_agree(capsys: pytest.CaptureFixture[str]) -> None:
    code = engine.main(["--check", "--set", "generated", "--horizon", "6", "--exploration", "0.5"])
    assert code == 0
    assert "agrees  True" in capsys.readouterr().out


def test_a_missing_set_is_an_error_that_names_its_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert engine.main(["--data", str(tmp_path)]) == 2
    assert "LIBSVM" in capsys.readouterr().err


def test_a_run_makes_exactly_the_measurements_of_its_horizon() -> None:
    experiment = Experiment.of_the_paper(generated(50, 2), "global", 70, exploration=0.5, seed=0)
    trace = run_engine(experiment)
    assert sum(map(len, trace.batches)) == 70
    assert len(trace.batches) == len(trace.sizes) == len(trace.added) == len(trace.seconds)


def test_the_limit_is_the_slower_of_reading_and_multiplying() -> None:
    S = np.array([1, 2])
    trace = Trace([S, np.array([1, 1, 2])], [S, np.array([1, 2, 3, 4, 5])])
    assert trace.added == [2, 3]
    rows = 2 * (2 + 2 * 2 + 1) + 5 * (2 + 2 * 3 + 1)
    assert least_seconds(trace, 100, Rates(1.0, 1e9)) == 8 * 100 * (2 + 5)
    assert least_seconds(trace, 100, Rates(1e9, 1.0)) == 2 * 100 * rows


def test_choices_are_the_same_up_to_the_first_difference() -> None:
    run, other = Trace([np.array([1, 2]), np.array([3])]), Trace([np.array([1]), np.array([2, 4])])
    assert same_choices(run, run) == 3
    assert same_choices(run, other) == 2


def test_scaling_measures_every_growth(tmp_path: Path) -> None:
    candidates, members = scaling.candidates((200, 400)), scaling.members((5, 10))
    assert len(candidates["seconds"]) == len(members["seconds"]) == 2
    plot_scaling(candidates, members, tmp_path / "scaling")
    assert (tmp_path / "scaling.svg").exists()


def test_a_large_study_needs_little_more_than_features_and_embedding() -> None:
    figures = scaling.million(A=20_000, d=20, observations=100)
    assert figures["memory_ratio"] < 3
