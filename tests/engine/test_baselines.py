"""Baselines: the same seed gives the same batch, nothing forbidden is chosen, and learning pays."""

import numpy as np
import pytest

from app.arrays import FloatArray
from app.engine import Ask, EngineSettings, State, algorithm_named, expect, measure, start
from app.engine.baselines import posterior_sample
from app.engine.kernels import Gaussian
from tests.engine import oracle
from tests.engine.problems import switched_off

NAMES = ["uniform", "epsilon-greedy", "thompson", "evolution"]
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(60, 2))
f: FloatArray = -np.sum((X - 0.3) ** 2, axis=1)


def study(name: str, seed: int = 0, measured: int = 25) -> State:
    settings = algorithm_named(name).settings(EngineSettings(Gaussian(0.5), lam=0.01, xi=0.1, seed=seed))
    first = np.random.default_rng(1).permutation(60)[:measured]
    return measure(start(X, settings), first, f[first]) if measured else start(X, settings)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_and_number_give_the_same_batch_and_others_another(name: str) -> None:
    choose = algorithm_named(name).choose
    batch = choose(study(name), Ask(3, min_size=20, max_size=20)).picks.tolist()
    assert choose(study(name), Ask(3, min_size=20, max_size=20)).picks.tolist() == batch
    assert choose(study(name, seed=1), Ask(3, min_size=20, max_size=20)).picks.tolist() != batch
    assert choose(study(name), Ask(4, min_size=20, max_size=20)).picks.tolist() != batch


@pytest.mark.parametrize("measured", [0, 5, 25])
@pytest.mark.parametrize("name", NAMES)
def test_candidates_switched_off_are_never_chosen(name: str, measured: int) -> None:
    state = switched_off(study(name, measured=measured), np.arange(55))
    assert set(algorithm_named(name).choose(state, Ask(min_size=40, max_size=40)).picks.tolist()) <= set(range(55, 60))


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_of_one_gives_distinct_candidates_until_none_is_left(name: str) -> None:
    batch = algorithm_named(name).choose(
        study(name), Ask(min_size=100, max_size=100, limit=np.ones(60, dtype=np.int64))
    )
    assert sorted(batch.picks.tolist()) == list(range(60))
    assert batch.ended == "exhausted"


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_has_the_least_size_asked_for_and_claims_no_guarantee(name: str) -> None:
    batch = algorithm_named(name).choose(study(name), Ask(min_size=4, max_size=9))
    assert len(batch.picks) == len(batch.ucb) == 4
    assert batch.ended == "size"
    assert not batch.guaranteed


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_choose_gives_an_empty_batch(name: str) -> None:
    state = switched_off(study(name), np.arange(60))
    batch = algorithm_named(name).choose(state, Ask(min_size=4, max_size=9))
    assert batch.picks.tolist() == []
    assert batch.ended == "exhausted"


@pytest.mark.parametrize("name", NAMES)
def test_pending_measurements_do_not_stop_a_baseline(name: str) -> None:
    state = expect(study(name), np.arange(60))
    assert len(algorithm_named(name).choose(state, Ask(min_size=5, max_size=5)).picks) == 5


def samples(state: State) -> FloatArray:
    rng = np.random.default_rng(0)
    return np.array([posterior_sample(state, np.sqrt(state.residual), rng) for _ in range(20_000)])


@pytest.mark.parametrize("measured", [0, 10])
def test_samples_have_the_mean_and_the_variance_of_the_posterior(measured: int) -> None:
    state = study("thompson", measured=measured)
    drawn = samples(state)
    np.testing.assert_allclose(drawn.mean(axis=0), state.mean, atol=0.03)
    np.testing.assert_allclose(drawn.var(axis=0), state.variance, atol=0.03)


def test_samples_are_correlated_as_the_part_of_the_posterior_the_dictionary_sees() -> None:
    state = study("thompson", measured=10)
    K = state.settings.kernel.matrix(state.X, state.X)
    seen = 0.01 * oracle.projected_cov(K, state.S.tolist(), state.measured.tolist(), 0.01)
    off_diagonal = ~np.eye(len(K), dtype=bool)
    np.testing.assert_allclose(np.cov(samples(state).T)[off_diagonal], seen[off_diagonal], atol=0.02)


wide = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
easy: FloatArray = -np.sum((wide - 0.3) ** 2, axis=1)


@pytest.mark.parametrize("name", ["epsilon-greedy", "thompson", "evolution"])
def test_learning_beats_uniform_choice_on_an_easy_function(name: str) -> None:
    ratios = [regret(name, seed) / regret("uniform", seed) for seed in range(3)]
    assert np.mean(ratios) < 0.6


def regret(name: str, seed: int) -> float:
    """Σ_t f* − f(x_t) over 30 batches of five."""
    settings = EngineSettings(Gaussian(0.5), lam=0.01, xi=0.1, seed=seed)
    state, choose = start(wide, algorithm_named(name).settings(settings)), algorithm_named(name).choose
    for number in range(1, 31):
        picks = choose(state, Ask(number, min_size=5, max_size=5)).picks
        noise = np.random.default_rng([seed, number]).normal(scale=0.1, size=5)
        state = measure(state, picks, easy[picks] + noise)
    return float(state.counts @ (easy.max() - easy))
