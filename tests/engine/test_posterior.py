"""The posterior against dense formulas (paper eq. nyst-post-gp)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine import EngineSettings, State, add_candidates, expect, measure, revise, start, start_from
from app.engine.confidence import information_bound
from app.engine.kernels import Gaussian, Matern
from app.engine.posterior import from_scratch
from app.engine.stability import Rescues
from tests.engine import oracle
from tests.engine.problems import Lab, lab, labs


def rows_and_values(state: State) -> tuple[list[int], np.ndarray]:
    """Every measurement of a candidate with the mean of its values: the same posterior."""
    rows = np.repeat(np.arange(len(state.X)), state.counts)
    return rows.tolist(), (state.sums / np.maximum(state.counts, 1))[rows]


def assert_like(state: State, expected: oracle.Posterior, K: np.ndarray) -> None:
    size = K.diagonal().max() / state.settings.lam
    np.testing.assert_allclose(state.mean, expected.mean, rtol=1e-6, atol=1e-8 * np.abs(state.sums).max())
    np.testing.assert_allclose(state.leverage, expected.leverage, rtol=1e-6, atol=1e-9 * size)


def history(made: Lab, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, len(made.X)) * (rng.random(len(made.X)) < 0.5)
    counts[0] = 1
    return counts, counts * made.f


@given(labs(dictionary="all"), st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_with_every_measured_candidate_in_the_dictionary_the_posterior_is_exact(made: Lab, seed: int) -> None:
    state = start_from(made.X, made.settings, *history(made, seed))
    assert_like(state, oracle.exact_posterior(made.K, *rows_and_values(state), made.settings.lam), made.K)


@given(labs(), st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_nyst_post_gp_equals_the_literal_formulas_for_any_dictionary(made: Lab, seed: int) -> None:
    state = start_from(made.X, made.settings, *history(made, seed))
    S = state.measured[: 1 + seed % len(state.measured)]
    state = from_scratch(state, S, Rescues())
    expected = oracle.nystrom_posterior(made.K, state.S.tolist(), *rows_and_values(state), made.settings.lam)
    assert_like(state, expected, made.K)


def test_nothing_known_means_mean_0_and_leverage_k_over_lambda() -> None:
    made = lab()
    state = start(made.X, made.settings)
    assert (state.mean == 0).all()
    np.testing.assert_allclose(state.leverage, made.K.diagonal() / made.settings.lam)


def test_the_embedding_reproduces_the_kernel_of_the_dictionary() -> None:
    made = lab()
    state, _ = made.run([0, 1], 60)
    Z_S = state.Z[:, state.S]
    np.testing.assert_allclose(Z_S.T @ Z_S, made.K[np.ix_(state.S, state.S)], atol=1e-10)


def test_effective_dimension_is_the_trace_of_k_over_k_plus_lambda() -> None:
    made = lab(dictionary="all")
    state = start_from(made.X, made.settings, *history(made, 1))
    rows, _ = rows_and_values(state)
    expected = oracle.effective_dimension(made.K, rows, made.settings.lam)
    assert state.leverage_sum == pytest.approx(expected)


@given(labs(q_bar=0.3), st.integers(0, 100))
@settings(max_examples=30, deadline=None)
def test_the_information_bound_is_at_least_the_log_determinant(made: Lab, seed: int) -> None:
    state = start_from(made.X, made.settings, *history(made, seed))
    rows, _ = rows_and_values(state)
    assert information_bound(state) >= oracle.log_determinant(made.K, rows, made.settings.lam) - 1e-6


def test_the_information_bound_of_an_exact_dictionary_is_the_log_determinant() -> None:
    made = lab(dictionary="all")
    state = start_from(made.X, made.settings, *history(made, 1))
    rows, _ = rows_and_values(state)
    assert state.information == pytest.approx(oracle.log_determinant(made.K, rows, made.settings.lam), rel=1e-6)


def test_candidates_added_later_are_as_if_they_had_always_been_there() -> None:
    made = lab(A=30, dictionary="all")
    few = start_from(
        made.X[:20], made.settings, np.r_[np.ones(5, int), np.zeros(15, int)], np.r_[made.f[:5], np.zeros(15)]
    )
    more = add_candidates(few, made.X[20:])
    assert_like(more, oracle.exact_posterior(made.K, list(range(5)), made.f[:5], made.settings.lam), made.K)
    later = measure(more, [25, 3], [made.f[25], made.f[3]])
    values = [*made.f[:5], made.f[25], made.f[3]]
    assert_like(later, oracle.exact_posterior(made.K, [*range(5), 25, 3], values, made.settings.lam), made.K)


def test_a_corrected_value_and_a_retracted_measurement_leave_no_trace() -> None:
    made = lab(dictionary="all")
    state = measure(start(made.X, made.settings), [1, 2, 3], [5.0, 6.0, 7.0])
    counts, sums = state.counts.copy(), state.sums.copy()
    sums[2], counts[3], sums[3] = 1.0, 0, 0.0
    assert_like(
        revise(state, counts, sums), oracle.exact_posterior(made.K, [1, 2], [5.0, 1.0], made.settings.lam), made.K
    )


def test_a_revision_keeps_what_is_pending_and_may_come_with_another_kernel() -> None:
    made, other = lab(dictionary="all"), lab(dictionary="all", kernel=Matern(0.7, 2.5), lam=0.3)
    state = expect(measure(start(made.X, made.settings), [1, 2, 2], [1.0, 2.0, 3.0]), [7])
    after = revise(state.replace(settings=other.settings), state.counts, state.sums)
    assert_like(after, oracle.exact_posterior(other.K, [1, 2, 2], [1.0, 2.0, 3.0], 0.3), other.K)
    assert after.pending[7] == 1


def test_repeats_with_their_sum_are_the_same_as_single_values() -> None:
    made = lab(dictionary="all")
    singly = measure(start(made.X, made.settings), [4, 4, 4, 7], [1.0, 2.0, 3.0, 4.0])
    summed = measure(start(made.X, made.settings), [4, 7], [6.0, 4.0], [3, 1])
    np.testing.assert_allclose(singly.mean, summed.mean, rtol=1e-12)
    assert singly.counts.tolist() == summed.counts.tolist()


def test_measurements_that_make_no_sense_are_refused() -> None:
    state = start(np.zeros((3, 1)), EngineSettings(kernel=Gaussian(1.0)))
    for numbers, values, repeats in (([3], [1.0], 1), ([0], [np.nan], 1), ([0], [1.0], 0), ([-1], [1.0], 1)):
        with pytest.raises(ValueError, match="measurements need"):
            measure(state, numbers, values, repeats)
