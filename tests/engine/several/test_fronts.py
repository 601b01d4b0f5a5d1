"""Fronts and hypervolumes against brute force, inclusion–exclusion and the scalarisation identity."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from app.arrays import FloatArray
from app.engine.several import fronts, hypervolume, is_possible, non_dominated
from app.engine.several.scalarising import hypervolume_score, sphere_constant, sphere_weights

GRID = st.integers(-3, 3).map(float)  # few distinct values, so that ties are frequent


def points(most: int = 12, least: int = 0) -> st.SearchStrategy[FloatArray]:
    shapes = st.tuples(st.integers(least, most), st.integers(1, 5))
    return shapes.flatmap(lambda shape: arrays(float, shape, elements=GRID))


def dominates(a: FloatArray, b: FloatArray) -> bool:
    return bool((a >= b).all() and (a > b).any())


@given(points())
def test_a_front_is_what_no_other_point_dominates(Y: FloatArray) -> None:
    expected = [not any(dominates(other, point) for other in Y) for point in Y]
    assert non_dominated(Y).tolist() == expected


@given(points())
def test_a_front_is_the_same_however_it_is_found(Y: FloatArray) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fronts, "COMPARED_AT_ONCE", 0)
        one_by_one = non_dominated(Y).tolist()
    assert one_by_one == non_dominated(Y).tolist()


@given(points(most=8))
def test_the_hypervolume_is_that_of_inclusion_and_exclusion(Y: FloatArray) -> None:
    reference = np.full(Y.shape[1], -2.0)
    above = np.maximum(Y - reference, 0.0)
    total = 0.0
    for size in range(1, len(Y) + 1):
        for chosen in combinations(range(len(Y)), size):
            total += (-1) ** (size + 1) * above[list(chosen)].min(axis=0).prod()
    assert hypervolume(Y, reference) == pytest.approx(total)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_hypervolume_of_huge_values_is_a_number(k: int) -> None:
    huge = np.full((2, k), 1e308)
    huge[1, 0] = np.inf
    assert hypervolume(huge, np.full(k, -1e308)) == np.finfo(float).max


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_the_hypervolume_is_the_share_of_random_points_below_the_front(k: int) -> None:
    rng = np.random.default_rng(k)
    Y = rng.random((30, k))
    drawn = rng.random((40_000, k))
    share = np.mean([(point <= Y).all(axis=1).any() for point in drawn])
    assert hypervolume(Y, np.zeros(k)) == pytest.approx(share, abs=0.012)


@pytest.mark.parametrize("k", [2, 3])
def test_random_directions_measure_the_hypervolume(k: int) -> None:
    """HV(Y) = c_K · E_w max_y min_i (y_i/w_i)^K (Zhang and Golovin, 2020)."""
    Y = np.random.default_rng(k).random((20, k))
    weights = sphere_weights(seed=1, batch=1, count=20_000, k=k)
    best = np.max([hypervolume_score(point[None] / weights, np.ones(k)) for point in Y], axis=0)
    assert sphere_constant(k) * np.mean(best**k) == pytest.approx(hypervolume(Y, np.zeros(k)), rel=0.02)


@given(st.tuples(st.integers(1, 10), st.integers(1, 3)).flatmap(lambda s: arrays(float, (2, *s), elements=GRID)))
def test_a_candidate_is_out_when_another_is_surely_better(bounds: FloatArray) -> None:
    lower, upper = bounds.min(axis=0), bounds.max(axis=0)
    expected = [not any(dominates(low, high) for low in lower) for high in upper]
    assert is_possible(lower, upper).tolist() == expected


@given(points(least=1))
def test_what_is_on_the_front_of_the_truth_is_never_eliminated(Y: FloatArray) -> None:
    possible = is_possible(Y - 0.5, Y + 0.5)
    assert possible[non_dominated(Y)].all()


def test_directions_are_addressed_and_positive() -> None:
    first = sphere_weights(7, 3, 5, 3)
    assert np.array_equal(first, sphere_weights(7, 3, 5, 3))
    assert not np.array_equal(first, sphere_weights(7, 4, 5, 3))
    assert (first > 0).all()
    assert np.linalg.norm(first, axis=1) == pytest.approx(np.ones(5))
