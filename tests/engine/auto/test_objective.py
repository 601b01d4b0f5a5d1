"""The user's objective and the model's."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import skew, yeojohnson, yeojohnson_llf

from app.arrays import FloatArray
from app.engine.auto import ObjectiveTransform, is_constant
from app.engine.auto.objective import POWERS, learn_power, unwarp, warp
from tests.engine.auto.strategies import values

directions = st.sampled_from(["maximize", "minimize"])


@given(st.integers(1, 12).flatmap(values), directions)
def test_model_units_are_finite_whatever_was_measured(y: FloatArray, direction: str) -> None:
    objective = ObjectiveTransform.learn(y, direction)
    model = objective.to_model(y)
    assert np.isfinite(model).all()
    assert np.isfinite(objective.to_user(model)).all()
    assert objective.scale > 0
    assert np.abs(model).max() <= 10 * len(y)
    assert np.isfinite(objective.to_model(np.array([1e308, -1e308, 0, 5e-324]))).all()


@given(st.integers(2, 12).flatmap(lambda n: st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n)), directions)
def test_what_users_see_is_in_their_units(measured: list[float], direction: str) -> None:
    y = np.array(measured)
    objective = ObjectiveTransform.learn(y, direction)
    believed = y if objective.clip is None else np.where(objective.sign * (y - objective.clip) < 0, objective.clip, y)
    back = objective.to_user(objective.to_model(y))
    np.testing.assert_allclose(back, believed, atol=1e-9 * np.abs(y).max())


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12), directions)
def test_an_objective_survives_json(measured: list[float], direction: str) -> None:
    objective = ObjectiveTransform.learn(np.array(measured), direction)
    assert ObjectiveTransform.build(json.loads(json.dumps(objective.describe()))) == objective


def test_values_are_standardised_and_higher_is_better() -> None:
    y = np.array([3.0, 5.0, 7.0, 4.0])
    high, low = ObjectiveTransform.learn(y, "maximize"), ObjectiveTransform.learn(y, "minimize")
    assert high.to_model(y).mean() == pytest.approx(0)
    assert high.to_model(y).std() == pytest.approx(1)
    turned = ObjectiveTransform.learn(-y, "minimize")
    np.testing.assert_allclose(turned.to_model(-y), high.to_model(y))
    assert (np.diff(low.to_model(np.sort(y))) < 0).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_failures_are_clipped_on_the_bad_side_alone(sign: float) -> None:
    y = sign * np.array([1.0, 2, 3, 4, 5, -1000])
    direction = "maximize" if sign > 0 else "minimize"
    objective = ObjectiveTransform.learn(y, direction)
    assert objective.clip == pytest.approx(sign * (2.5 - 3 * 2.5))
    assert objective.to_user(objective.to_model(y))[-1] == pytest.approx(objective.clip)
    assert ObjectiveTransform.learn(-y, direction).clip is None


@given(
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=30),
    st.integers(-1000, 1000),
    directions,
)
def test_no_value_is_clipped_onto_the_other_side_of_a_bound(measured: list[int], bound: int, direction: str) -> None:
    y = np.array([bound, *measured], dtype=float)
    objective = ObjectiveTransform.learn(y[1:], direction, (float(bound),))
    limit, *model = objective.to_model(y).tolist()
    worse = [(value < bound) if direction == "maximize" else (value > bound) for value in measured]
    assert [value < limit for value in model] == worse


def test_zeros_alone_have_the_scale_one() -> None:
    """A yield of 0 % in every experiment so far: what is 0 in any unit tells no size."""
    assert ObjectiveTransform.learn(np.zeros(5), "maximize").scale == 1


@pytest.mark.parametrize("n", range(2, 30))
def test_what_rounding_leaves_of_zero_is_zero(n: int) -> None:
    values = np.append(np.zeros(n), [0.1, 0.7])
    objective = ObjectiveTransform.learn(values, "maximize")
    assert set(objective.to_user(objective.to_model(values))[:n]) == {0.0}


@pytest.mark.parametrize(
    ("measured", "constant"),
    [([0.0, 0.0], True), ([7.0], True), ([1e6, 1e6 + 1e-6], True), ([1e-280, 2e-280], False), ([0.0, 1.0], False)],
)
def test_values_that_differ_by_rounding_errors_are_constant(measured: list[float], constant: bool) -> None:
    assert is_constant(np.array(measured)) is constant


@pytest.mark.parametrize("value", [0.0, 5.0, -1e300, 1e-310, 1e9])
def test_a_constant_objective_is_zero_in_model_units(value: float) -> None:
    objective = ObjectiveTransform.learn(np.full(6, value), "maximize")
    np.testing.assert_allclose(objective.to_model(np.full(6, value)), 0, atol=1e-12)


def test_rounding_on_a_large_offset_is_not_taken_for_a_signal() -> None:
    y = 1e12 + np.array([0.0, 1e-4, 0, 1e-4])
    assert np.abs(ObjectiveTransform.learn(y, "maximize").to_model(y)).max() < 1e-6


@given(st.integers(2, 12).flatmap(lambda n: st.lists(st.integers(-99, 99), min_size=n, max_size=n)))
def test_shift_and_scale_of_the_objective_change_nothing(measured: list[int]) -> None:
    y = np.array(measured, dtype=float)
    if np.ptp(y) == 0:
        return
    plain, moved = ObjectiveTransform.learn(y, "maximize"), ObjectiveTransform.learn(1e4 + 10 * y, "maximize")
    np.testing.assert_allclose(moved.to_model(1e4 + 10 * y), plain.to_model(y), atol=1e-5)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12), st.sampled_from(POWERS.tolist()))
def test_a_warp_is_undone_and_keeps_the_order(numbers: list[float], p: float) -> None:
    u = np.sort(np.array(numbers))
    v = warp(u, p)
    assert (np.diff(v) >= 0).all()
    np.testing.assert_allclose(unwarp(v, p), u, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_power_is_the_most_likely_one(seed: int) -> None:
    u = np.random.default_rng(seed).gamma(1.0, size=40) - 1
    likelihoods = [yeojohnson_llf(p, u) for p in POWERS]
    assert learn_power(u) == POWERS[np.argmax(likelihoods)]
    np.testing.assert_allclose(warp(u, 0.3), yeojohnson(u, 0.3))


def test_a_skewed_objective_becomes_about_symmetric_for_the_model_alone() -> None:
    y = np.exp(np.random.default_rng(0).normal(size=200))
    objective = ObjectiveTransform.learn(y, "maximize")
    assert objective.power < 0.5
    assert skew(y) > 1.5
    assert abs(skew(objective.to_model(y))) < 0.5
    assert objective.to_user(objective.to_model(y)) == pytest.approx(y)


def test_deviations_and_regrets_are_distances_in_the_users_units() -> None:
    plain = ObjectiveTransform("minimize", offset=5.0, scale=2.0)
    assert plain.std_to_user(0.3, 0.5) == pytest.approx(1.0)
    assert plain.regret_to_user(-1.0, 2.0) == pytest.approx(6.0)
    assert np.isfinite(plain.regret_to_user(-1e308, 1e308))
    warped = ObjectiveTransform.learn(np.exp(np.arange(9.0)), "maximize")
    low, middle, high = warped.to_user(np.array([-1.0, 0.0, 1.0]))
    assert warped.std_to_user(0.0, 1.0) == pytest.approx((high - low) / 2)
    assert middle - low < high - middle
