"""From a fit to choices: limits, goals, what is asked of the engine, what is recommended."""

import numpy as np
import pytest

from app.arrays import FloatArray
from app.engine import Ask, choose, start_from
from app.engine.auto import (
    AutoOptions,
    FeatureColumn,
    Layout,
    Observed,
    alpha_for,
    cell_count,
    first_batch,
    fit,
    is_noisy,
    learn_encoding,
    limits_for,
    needs_refit,
    next_batch,
    settings_for,
    state_for,
    sums_for,
)
from tests.engine.problems import nothing_known


def test_goals_are_presets_that_can_be_changed() -> None:
    assert AutoOptions.of("explore").multiplier > AutoOptions.of("best").multiplier
    assert AutoOptions.of("production").repeats is None
    assert AutoOptions.of("best", multiplier=1.0).multiplier == 1.0
    assert AutoOptions.of(**AutoOptions.of("explore", noisy=True).describe()) == AutoOptions.of("explore", noisy=True)
    for wrong in ({"goal": "fame"}, {"goal": "best", "speed": 3}, {"goal": "best", "repeats": 0}, {"noise": 0.0}):
        with pytest.raises(ValueError, match=r"unknown|required|positive"):
            AutoOptions.of(**wrong)


def run(seed: int, batches: int = 5) -> tuple[FloatArray, list[int]]:
    """A whole study of a mixed table, minimising, through the same calls the service makes."""
    rng = np.random.default_rng(1)
    columns = [
        FeatureColumn("t", "number"),
        FeatureColumn("dry", "boolean"),
        FeatureColumn("acid", "text", tuple("abc")),
    ]
    numbers = np.column_stack((rng.uniform(1, 300, 90), rng.integers(0, 2, 90)))
    codes = rng.integers(0, 3, (90, 1)).astype(np.int32)
    y = (np.log(numbers[:, 0]) - 3) ** 2 + numbers[:, 1] + codes[:, 0]
    encoding = learn_encoding(columns, numbers, codes)
    X, options, model = encoding.apply(numbers, codes), AutoOptions(noisy=False), None
    cells = cell_count(X.shape[1])
    picks = first_batch(nothing_known(X), cells, cells, seed).tolist()
    for number in range(1, batches + 1):
        observed = Observed.of(90, picks, y[picks])
        if model is None or needs_refit(model, observed):
            model = fit(X, encoding.layout, observed, "minimize", model)
        state = state_for(X, model, observed, options, seed)
        limit = limits_for(state, observed, options, is_noisy(observed, options))
        ask = Ask(number, 4, 4, alpha=alpha_for(model, options), limit=limit)
        batch = next_batch(choose, state, observed, options, ask, cells, seed)
        picks += batch.picks.tolist()
    return y, picks


@pytest.mark.parametrize("seed", range(3))
def test_a_study_of_a_mixed_table_finds_the_best_candidate_and_repeats_nothing(seed: int) -> None:
    y, picks = run(seed)
    assert len(set(picks)) == len(picks) == 25
    assert y[picks].min() <= np.sort(y)[1]
    assert run(seed)[1] == picks


def test_alpha_is_the_multiplier_in_posterior_standard_deviations() -> None:
    X = np.linspace(0, 1, 8)[:, None]
    observed = Observed.of(8, [0, 3, 5], [1.0, 2, 0])
    model = fit(X, Layout.of_numbers(1), observed, "maximize")
    state = start_from(X, settings_for(model, AutoOptions(), 0, len(X)), *sums_for(model, observed))
    batch = choose(state, Ask(max_size=1, alpha=alpha_for(model, AutoOptions())))
    np.testing.assert_allclose(batch.ucb[0], (state.mean + 2 * np.sqrt(state.variance)).max(), rtol=1e-9)


@pytest.mark.parametrize("decades", [0.3, 3.0])
def test_a_long_history_has_a_dictionary_of_bounded_size(decades: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((1500, 3))
    observed = Observed.of(1500, np.arange(1200), np.sin(decades * X[:1200, 0]) + 0.01 * rng.normal(size=1200))
    model = fit(X, Layout.of_numbers(3), observed, "maximize")
    options = AutoOptions(members=60)
    state = state_for(X, model, observed, options, seed=0)
    assert 30 <= len(state.S) <= 4 * options.members or state.settings.q_bar == 2.0
    again = state_for(X, model, observed, options, seed=0)
    np.testing.assert_array_equal(again.mean, state.mean)
    truth = np.sin(decades * X[1200:, 0])
    error = model.objective.to_user(state.mean[1200:]) - truth
    assert np.sqrt((error**2).mean()) < 0.1 * truth.std()


def test_few_measurements_are_all_in_the_dictionary() -> None:
    X = np.linspace(0, 1, 8)[:, None]
    observed = Observed.of(8, [0, 3, 5], [1.0, 2, 0])
    model = fit(X, Layout.of_numbers(1), observed, "maximize")
    assert sorted(state_for(X, model, observed, AutoOptions(), 0).S) == [0, 3, 5]


def test_the_model_is_exact_as_long_as_that_is_affordable() -> None:
    """It used to hand over at 300 distinct candidates, and forgot what it knew: means moved by many deviations."""
    options = AutoOptions()
    assert options.exact_for(candidates=2_000_000, distinct=300)
    assert options.exact_for(candidates=20_000, distinct=1_000)
    assert not options.exact_for(candidates=20_000, distinct=2_000)
    rng = np.random.default_rng(0)
    X = rng.random((700, 3))
    values = np.sin(5 * X[:, 0]) + X[:, 1] + 0.05 * rng.standard_normal(700)
    observed = Observed.of(700, np.arange(600), values[:600])
    model = fit(X, Layout.of_numbers(3), observed, "maximize")
    state = state_for(X, model, observed, options, 0)
    counts, sums = sums_for(model, observed)
    K = model.kernel.matrix(X, X)
    exact = K[:, :600] @ np.linalg.solve(K[:600, :600] + model.lam * np.eye(600), sums[:600])
    assert counts.sum() == 600
    np.testing.assert_allclose(state.mean, exact, atol=1e-6)
