"""The user's objective and the model's."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.arrays import Array
from app.engine.auto import Objective
from tests.engine.auto.strategies import values

directions = st.sampled_from(["maximize", "minimize"])


@given(st.integers(1, 12).flatmap(values), directions)
def test_model_units_are_finite_whatever_was_measured(y: Array, direction: str) -> None:
    objective = Objective.learn(y, direction)
    model = objective.to_model(y)
    assert np.isfinite(model).all()
    assert np.isfinite(objective.mean_to_user(model)).all()
    assert objective.scale > 0
    assert np.abs(model).max() <= 1e3 * len(y)
    assert np.isfinite(objective.to_model(np.array([1e308, -1e308, 0, 5e-324]))).all()


@given(st.integers(2, 12).flatmap(lambda n: st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n)), directions)
def test_what_users_see_is_in_their_units(measured: list[float], direction: str) -> None:
    y = np.array(measured)
    objective = Objective.learn(y, direction)
    believed = y if objective.clip is None else np.where(objective.sign * (y - objective.clip) < 0, objective.clip, y)
    back = objective.mean_to_user(objective.to_model(y))
    np.testing.assert_allclose(back, believed, atol=1e-9 * np.abs(y).max())


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12), directions)
def test_an_objective_survives_json(measured: list[float], direction: str) -> None:
    objective = Objective.learn(np.array(measured), direction)
    assert Objective.build(json.loads(json.dumps(objective.describe()))) == objective


def test_values_are_standardised_and_higher_is_better() -> None:
    y = np.array([3.0, 5.0, 7.0, 4.0])
    high, low = Objective.learn(y, "maximize"), Objective.learn(y, "minimize")
    assert high.to_model(y).mean() == pytest.approx(0)
    assert high.to_model(y).std() == pytest.approx(1)
    np.testing.assert_allclose(low.to_model(y), -high.to_model(y))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_failures_are_clipped_on_the_bad_side_alone(sign: float) -> None:
    y = sign * np.array([1.0, 2, 3, 4, 5, -1000])
    direction = "maximize" if sign > 0 else "minimize"
    objective = Objective.learn(y, direction)
    assert objective.clip == pytest.approx(sign * (2.5 - 3 * 2.5))
    assert objective.mean_to_user(objective.to_model(y))[-1] == pytest.approx(objective.clip)
    assert Objective.learn(-y, direction).clip is None


@pytest.mark.parametrize("value", [0.0, 5.0, -1e300, 1e-310, 1e9])
def test_a_constant_objective_is_zero_in_model_units(value: float) -> None:
    objective = Objective.learn(np.full(6, value), "maximize")
    np.testing.assert_allclose(objective.to_model(np.full(6, value)), 0, atol=1e-12)


def test_rounding_on_a_large_offset_is_not_taken_for_a_signal() -> None:
    y = 1e12 + np.array([0.0, 1e-4, 0, 1e-4])
    assert np.abs(Objective.learn(y, "maximize").to_model(y)).max() < 1e-6


@given(st.integers(2, 12).flatmap(lambda n: st.lists(st.integers(-99, 99), min_size=n, max_size=n)))
def test_shift_and_scale_of_the_objective_change_nothing(measured: list[int]) -> None:
    y = np.array(measured, dtype=float)
    if np.ptp(y) == 0:
        return
    plain, moved = Objective.learn(y, "maximize"), Objective.learn(1e4 + 10 * y, "maximize")
    np.testing.assert_allclose(moved.to_model(1e4 + 10 * y), plain.to_model(y), atol=1e-5)
