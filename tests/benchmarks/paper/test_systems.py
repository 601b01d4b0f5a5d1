"""Every system of the paper's experiments, for a few dozen steps."""

import numpy as np
import pytest

from app.engine import Ask, beta, measure, start
from app.engine.baselines import thompson
from benchmarks.paper import systems
from benchmarks.paper.running import run, settings_of
from benchmarks.paper.systems import SYSTEMS
from tests.benchmarks.paper.small import cell, made, objective

NO_BETTER_THAN_UNIFORM = {"uniform", "evolution"}
"""Evolution begins with as many random measurements as its population has members: more than these steps."""
SEEDS = range(3)


def regret(system: str) -> float:
    """Mean regret ratio."""
    return float(np.mean([made(cell(system, seed))["figures"]["regret_ratio"] for seed in SEEDS]))


@pytest.mark.parametrize("system", sorted(SYSTEMS.keys() - NO_BETTER_THAN_UNIFORM))
def test_every_system_with_a_model_beats_uniform(system: str) -> None:
    assert regret(system) < 0.7


@pytest.mark.parametrize("system", sorted(NO_BETTER_THAN_UNIFORM))
def test_the_others_are_as_good_as_uniform_in_expectation(system: str) -> None:
    assert regret(system) == pytest.approx(1, abs=0.1)


def test_less_exploration_means_less_regret_on_a_smooth_function() -> None:
    """α = β without and with batches, √2·β and 2·β."""
    assert regret("bkb") < regret("bbkb-narrow") < regret("bbkb") < regret("bbkb-wide")


def test_batches_become_fewer_with_better_rules() -> None:
    batches = {system: made(cell(system))["figures"]["batches"] for system in SYSTEMS}
    assert batches["bbkb-exact"] <= batches["bbkb-local"] < batches["bbkb"] < batches["bkb"] == 89
    assert batches["gp-bucb-global"] <= batches["gp-bucb"] < batches["gp-ucb"] == 89
    assert batches["thompson"] == 4


def test_evolution_beats_uniform_once_its_population_is_complete() -> None:
    """After 400 measurements from before it has one to breed from."""
    figures = [made(cell("evolution", seed, 60, 400))["figures"]["regret_ratio"] for seed in SEEDS]
    assert np.mean(figures) < 0.95


def test_a_batch_of_thompson_samples_with_the_posteriors_own_width_is_the_engines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted, known = cell("thompson"), np.array([3, 50, 120])
    state = start(objective().problem.X, settings_of(wanted, 0.01))
    state = measure(state, known, [0.1, 0.5, 0.2], expected=False)
    monkeypatch.setattr(systems, "TEMPERED", beta(state) / 0.01)
    ask = Ask(1, 20, 20)
    np.testing.assert_array_equal(systems.tempered_thompson(state, ask).picks, thompson(state, ask).picks)
    monkeypatch.setattr(systems, "TEMPERED", 1e12)
    assert set(systems.tempered_thompson(state, ask).picks) == {np.argmax(state.mean)}


def test_a_run_after_measurements_from_before_begins_with_a_batch_of_the_system() -> None:
    trace = run(cell("bbkb", initial=60), objective())
    assert len(trace.before) == 60
    assert sum(map(len, trace.batches)) == 90
    assert trace.started > 0
