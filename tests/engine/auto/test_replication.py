"""When a candidate is measured again, and which one is recommended where measurements are noisy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.arrays import FloatArray
from app.engine import Ask, State, choose, expect
from app.engine.auto import (
    AutoOptions,
    FittedModel,
    Layout,
    Observed,
    alpha_for,
    fit,
    is_noiseless,
    is_noisy,
    limits_for,
    next_batch,
    recommended,
    state_for,
)
from app.engine.auto.recommendation import estimates
from app.engine.auto.replication import AGREEING, ENOUGH_FOR_A_PROBE, repeat_for, worth_of_measuring

X = np.linspace(0, 1, 40)[:, None]


def known(numbers: list[int], values: list[float], options: AutoOptions) -> tuple[State, FittedModel, Observed]:
    observed = Observed.of(len(X), numbers, values)
    model = fit(X, Layout.of_numbers(1), observed, "maximize", noise=options.noise)
    return state_for(X, model, observed, options, 0), model, observed


def single(n: int, seed: int = 0) -> tuple[list[int], list[float]]:
    """n candidates measured once each."""
    numbers = np.random.default_rng(seed).permutation(len(X))[:n].tolist()
    return numbers, np.sin(5 * X[numbers, 0]).tolist()


def test_what_is_known_exactly_is_not_measured_again() -> None:
    state, _, observed = known([0, 1, 1], [1.0, 2, 3], AutoOptions())
    state = expect(state, [2])
    assert np.flatnonzero(limits_for(state, observed, AutoOptions(), noisy=False) == 0).tolist() == [0, 1, 2]
    capped = AutoOptions(repeats=2)
    assert np.flatnonzero(limits_for(state, observed, capped, noisy=True) == 0).tolist() == [1]
    assert limits_for(state, observed, AutoOptions.of("production"), noisy=True).min() > 10**9


@pytest.mark.parametrize(
    ("values", "options", "noisy"),
    [
        ([1.0, 2, 2], AutoOptions(), False),
        ([1.0, 2, 3], AutoOptions(), True),
        ([1.0, 2, 3], AutoOptions(noisy=False), False),
        ([1.0, 2, 2], AutoOptions(noisy=True), True),
        ([1.0, 2, 2], AutoOptions(noise=0.1), True),
    ],
)
def test_noise_is_what_the_user_says_or_what_repeats_show(
    values: list[float], options: AutoOptions, noisy: bool
) -> None:
    assert is_noisy(Observed.of(4, [0, 1, 1], values), options) is noisy


@settings(max_examples=50, deadline=None)
@given(repeated=st.lists(st.integers(0, 7), max_size=8), odd=st.integers(-1, 7))
def test_measurements_count_as_noiseless_after_enough_equal_repeats_and_no_other(repeated: list[int], odd: int) -> None:
    """Rounded values and drawn replicates agree by chance: one equal repeat proves nothing. `odd` repeats differ."""
    numbers = [*range(8), *repeated]
    values = [float(number) for number in range(8)] + [number + 0.1 * (number == odd) for number in repeated]
    observed = Observed.of(9, numbers, values)
    equal = odd not in repeated
    assert is_noiseless(observed, AutoOptions()) is (equal and len(repeated) >= AGREEING)
    assert is_noisy(observed, AutoOptions()) is (not equal)
    for said in (True, False):
        assert is_noisy(observed, AutoOptions(noisy=said)) is said
        assert is_noiseless(observed, AutoOptions(noisy=said)) is (not said)


def test_the_best_candidate_is_repeated_until_it_is_known_whether_repeats_differ() -> None:
    numbers, values = single(ENOUGH_FOR_A_PROBE)
    for repeats in range(AGREEING):
        state, _, observed = known(numbers, values, AutoOptions())
        again, reason = repeat_for(state, observed, AutoOptions())
        once = np.flatnonzero(observed.counts == 1)
        assert (again.tolist(), reason) == ([once[np.argmax(state.mean[once])]], "noise_probes")
        assert len(repeat_for(expect(state, again), observed, AutoOptions())[0]) == 0, "one repeat is on its way"
        numbers, values = [*numbers, int(again[0])], [*values, values[numbers.index(int(again[0]))]]
        assert observed.size - observed.distinct == repeats
    state, _, observed = known(numbers, values, AutoOptions())
    assert len(repeat_for(state, observed, AutoOptions())[0]) == 0, "equal repeats: there is no noise"


@pytest.mark.parametrize("said", [AutoOptions(noisy=False), AutoOptions(repeats=2), AutoOptions.of("production")])
def test_nothing_is_repeated_to_learn_what_the_user_said(said: AutoOptions) -> None:
    state, _, observed = known(*single(20), said)
    assert len(repeat_for(state, observed, said)[0]) == 0


def test_nothing_is_repeated_while_little_is_known() -> None:
    state, _, observed = known(*single(ENOUGH_FOR_A_PROBE - 1), AutoOptions())
    assert len(repeat_for(state, observed, AutoOptions())[0]) == 0


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10), n=st.integers(2, 15))
def test_the_worth_of_a_measurement_is_the_expected_rise_of_the_best_mean(seed: int, n: int) -> None:
    """Against numerical integration over what the measurement may give."""
    options = AutoOptions(noise=0.3)
    state, _, _ = known(*single(n, seed), options)
    worth, lam = worth_of_measuring(state), state.settings.lam
    points, weights = np.polynomial.hermite_e.hermegauss(200)
    for candidate in range(0, len(X), 7):
        others = np.delete(state.mean, candidate).max()
        step = state.variance[candidate] / np.sqrt(state.variance[candidate] + lam)
        after = np.maximum(state.mean[candidate] + step * points, others)
        expected = weights @ after / weights.sum() - max(state.mean[candidate], others)
        assert worth[candidate] == pytest.approx(expected, abs=5e-3 * step)


def noisy_study(seed: int, options: AutoOptions, batches: int = 8) -> tuple[FloatArray, list[int], list[float]]:
    rng, truth = np.random.default_rng(seed), np.sin(5 * X[:, 0])
    numbers = rng.permutation(len(X))[:10].tolist()
    values = (truth[numbers] + 0.3 * rng.standard_normal(len(numbers))).tolist()
    for number in range(1, batches + 1):
        state, model, observed = known(numbers, values, options)
        limit = limits_for(state, observed, options, is_noisy(observed, options))
        ask = Ask(number, 4, 4, alpha=alpha_for(model, options), limit=limit)
        picks = next_batch(choose, state, observed, options, ask, 5, seed).picks.tolist()
        assert len(set(picks)) == len(picks) == 4, "never twice in one batch"
        numbers, values = numbers + picks, values + (truth[picks] + 0.3 * rng.standard_normal(4)).tolist()
    return truth, numbers, values


@pytest.mark.parametrize("options", [AutoOptions(), AutoOptions(noise=0.3)])
def test_noisy_results_are_repeated_as_often_as_is_worth_it_and_the_noise_is_found(options: AutoOptions) -> None:
    truth, numbers, values = noisy_study(3, options)
    counts = np.bincount(numbers, minlength=len(X))
    assert counts.max() > 2, "there is no fixed number of repeats"
    assert truth[counts >= 2].mean() > truth.mean(), "it is the good ones that are repeated"
    _, model, _ = known(numbers, values, options)
    assert 0.15 < model.objective.std_to_user(0.0, np.sqrt(model.lam)) < 0.6
    assert noisy_study(3, options)[1] == numbers


def test_a_stated_noise_is_the_noise_of_the_model() -> None:
    rng = np.random.default_rng(0)
    numbers = np.arange(30)
    values = 50 + 10 * np.sin(5 * X[numbers, 0]) + rng.standard_normal(30)
    observed = Observed.of(len(X), numbers, values)
    for noise in (0.5, 2.0):
        model = fit(X, Layout.of_numbers(1), observed, "maximize", noise=noise)
        step = (model.objective.to_model(values + noise) - model.objective.to_model(values - noise)) / 2
        assert model.lam == pytest.approx(np.mean(step**2), rel=1e-6)


def test_the_best_value_is_recommended_without_noise_and_a_shrunk_average_with_it() -> None:
    """Two candidates that look alike gave 1.2 and 0, two others 1 and 1; nobody measured the last one."""
    features = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]])
    observed = Observed.of(5, [0, 1, 2, 3], [1.2, 0.0, 1.0, 1.0])
    model = fit(features, Layout.of_numbers(1), observed, "maximize")
    state = state_for(features, model, observed, AutoOptions(), seed=0)

    def best(noisy: bool, among: list[int]) -> int | None:
        return recommended(state, model, observed, noisy, np.array(among))

    assert best(False, [0, 1, 2, 3, 4]) == 0
    assert best(True, [0, 1, 2, 3, 4]) in (2, 3)
    assert best(False, [1, 3, 4]) == 3
    assert best(True, [4]) is None


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 20), repeats=st.integers(1, 200))
def test_an_estimate_lies_between_average_and_model_and_nears_the_average_with_repeats(seed: int, repeats: int) -> None:
    numbers, values = single(8, seed)
    numbers, values = numbers + [numbers[0]] * repeats, values + [values[0] + 1.0] * repeats
    state, model, observed = known(numbers, values, AutoOptions())
    y = model.objective.to_model(observed.values)
    average = observed.sums(y)[observed.counts > 0] / observed.counts[observed.counts > 0]
    estimate, mean = (vector[observed.counts > 0] for vector in (estimates(state, model, observed, True), state.mean))
    assert (np.minimum(average, mean) - 1e-9 <= estimate).all()
    assert (estimate <= np.maximum(average, mean) + 1e-9).all()
    off = np.abs(estimate - average)
    assert (off <= np.abs(mean - average) / (observed.counts[observed.counts > 0] + 1) + 1e-9).all()
