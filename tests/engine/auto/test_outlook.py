"""Joint draws of the candidates' values: their moments, their addresses, and what is counted in them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from app.engine import State
from app.engine.auto import (
    AutoOptions,
    Layout,
    Observed,
    contenders,
    draw_jointly,
    fit,
    integrated,
    state_for,
    still_possible,
)
from app.engine.auto.outlook import covariance
from app.engine.auto.predictive import StudentT

ALL = np.arange(30)


def study(n: int, seed: int = 0, d: int = 2) -> tuple[State, StudentT]:
    rng = np.random.default_rng(seed)
    X = rng.random((len(ALL), d))
    numbers = rng.integers(0, len(ALL), n)
    observed = Observed.of(len(ALL), numbers, X[numbers].sum(axis=1) + 0.1 * rng.standard_normal(n))
    model = fit(X, Layout.of_numbers(d), observed, "maximize")
    state = state_for(X, model, observed, AutoOptions(), 0)
    return state, integrated(state, model, observed)


@settings(max_examples=20, deadline=None)
@given(n=st.integers(2, 25), seed=st.integers(0, 30))
def test_the_covariance_is_that_of_the_integrated_posterior(n: int, seed: int) -> None:
    state, student = study(n, seed)
    kernel, lam, measured = state.settings.kernel, state.settings.lam, state.measured
    C = kernel.matrix(state.X[measured], state.X[measured]) + np.diag(lam / state.counts[measured])
    C_inv, K = np.linalg.inv(C), kernel.matrix(state.X, state.X[measured])
    h, b = 1 - K @ C_inv.sum(axis=1), C_inv.sum()
    exact = kernel.matrix(state.X, state.X) - K @ C_inv @ K.T + np.outer(h, h) / b
    np.testing.assert_allclose(covariance(state, student, ALL), exact, atol=1e-6)
    np.testing.assert_allclose(student.variance, exact.diagonal(), atol=1e-6)


def test_draws_have_the_moments_of_the_student_t() -> None:
    state, student = study(25)
    draws = draw_jointly(state, student, ALL, seed=1, step=1, draws=40_000).values
    factor = student.amplitude * student.joint_degrees / (student.joint_degrees - 2)
    exact = covariance(state, student, ALL) * factor
    scale = np.sqrt(exact.diagonal())
    np.testing.assert_allclose((draws.mean(axis=1) - student.location) / scale, 0, atol=0.03)
    np.testing.assert_allclose(np.cov(draws) / np.outer(scale, scale), exact / np.outer(scale, scale), atol=0.05)
    tail = stats.t.ppf(0.99, student.joint_degrees, student.location[3], student.scale[3])
    assert (draws[3] > tail).mean() == pytest.approx(0.01, abs=0.003)


def test_draws_are_addressed() -> None:
    state, student = study(10)
    first, again, later = (draw_jointly(state, student, ALL, 5, step).values for step in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != later).all()


@given(most=st.integers(1, 40), always=st.integers(0, len(ALL) - 1))
@settings(max_examples=30, deadline=None)
def test_the_optimistically_best_are_drawn_and_those_that_must_be(most: int, always: int) -> None:
    state, student = study(8)
    available = np.ones(len(ALL), dtype=bool)
    available[[1, 2]] = False
    state = state.replace(available=available)
    numbers = contenders(state, student, np.array([always]), most)
    optimistic = student.location + 3 * student.scale
    possible = np.flatnonzero(available | (state.counts > 0))
    best = possible[np.argsort(-optimistic[possible])][:most]
    assert set(numbers) == {*best.tolist(), always}
    assert (np.diff(numbers) > 0).all()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 30), chance=st.floats(0.06, 1))
def test_the_fewest_candidates_hold_the_best_but_for_what_is_left_out(seed: int, chance: float) -> None:
    """Against adding up the pairwise chances, the largest first."""
    state, student = study(20, seed)
    recommended = int(np.argmax(student.location))
    unavailable = int(np.flatnonzero(state.counts == 0)[0])
    available = np.ones(len(ALL), dtype=bool)
    available[unavailable] = False
    state = state.replace(available=available)
    cov = covariance(state, student, ALL)
    own = {}
    for other in np.delete(ALL, [recommended, unavailable]).tolist():
        spread = np.sqrt(
            student.amplitude * (cov[other, other] + cov[recommended, recommended] - 2 * cov[other, recommended])
        )
        ahead = student.location[other] - student.location[recommended]
        own[other] = stats.t.cdf(ahead / spread, student.joint_degrees)
    held, fewest = 0.0, {recommended}
    for other in sorted(own, key=own.__getitem__, reverse=True):
        if chance * (1 - held / sum(own.values())) <= 0.05:
            break
        held += own[other]
        fewest.add(other)
    assert set(still_possible(state, student, recommended, chance, 0.05).tolist()) == fewest


def test_only_the_recommended_candidate_is_possible_if_nothing_better_is_likely() -> None:
    state, student = study(20)
    assert still_possible(state, student, 7, 0.05, 0.05).tolist() == [7]
    assert still_possible(state, student, 7, 0.5, 0.05).size > 1


def test_two_equal_candidates_have_equal_values_in_every_draw() -> None:
    X = np.array([[0.0], [0.0], [1.0]])
    observed = Observed.of(3, [0, 2], [1.0, 2.0])
    model = fit(X, Layout.of_numbers(1), observed, "maximize")
    state = state_for(X, model, observed, AutoOptions(), 0)
    draws = draw_jointly(state, integrated(state, model, observed), np.arange(3), 0, 1).values
    np.testing.assert_allclose(draws[0], draws[1], atol=1e-3)
