"""What the model promised in a study and what came of it, against predictions made one result at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from app.engine.auto import AutoOptions, FittedModel, Layout, Observed, TrackRecord, fit, track_record
from app.engine.auto.observed import error_variances
from app.engine.auto.promises import FIRST, LATEST, MEMORY

A = 60
NOISELESS, UNSAID = AutoOptions(noisy=False), AutoOptions()


def study(n: int, seed: int = 0, repeats: bool = False) -> tuple[np.ndarray, FittedModel, Observed]:
    rng = np.random.default_rng(seed)
    X = rng.random((A, 2))
    numbers = rng.integers(0, A, n) if repeats else rng.permutation(A)[:n]
    observed = Observed.of(A, numbers, np.sin(5 * X[numbers]).sum(axis=1) + 0.1 * rng.standard_normal(n))
    return X, fit(X, Layout.of_numbers(2), observed, "maximize"), observed


def chances_one_by_one(X: np.ndarray, model: FittedModel, observed: Observed) -> np.ndarray:
    """The chance of each result to be the best so far: a dense Student t from the results before it alone."""
    y, chances = model.objective.to_model(observed.values), []
    noise = model.lam + error_variances(observed, model.objective)
    for i in range(FIRST, len(y)):
        before, one = X[observed.numbers[:i]], X[observed.numbers[[i]]]
        C_inv = np.linalg.inv(model.kernel.matrix(before, before) + np.diag(noise[:i] + 1e-8))
        k, b = model.kernel.matrix(one, before)[0], C_inv.sum()
        delta = C_inv.sum(axis=0) @ y[:i] / b
        residual, h = y[:i] - delta, 1 - k @ C_inv.sum(axis=0)
        variance = model.kernel.matrix(one, one)[0, 0] + noise[i] - k @ C_inv @ k + h * h / b
        degrees = i - 1 + 2
        scale = np.sqrt((residual @ C_inv @ residual + 2) / degrees * variance)
        chances.append(stats.t.sf(y[:i].max(), min(degrees, 12), delta + k @ C_inv @ residual, scale))
    return np.array(chances)


@settings(max_examples=12, deadline=None)
@given(n=st.integers(FIRST + 1, 40), seed=st.integers(0, 50), repeats=st.booleans(), error=st.sampled_from([0.0, 0.3]))
def test_a_record_adds_up_what_each_result_was_predicted_to_be(n: int, seed: int, repeats: bool, error: float) -> None:
    X, model, observed = study(n, seed, repeats)
    observed = Observed.of(A, observed.numbers, observed.values, errors=np.linspace(0, error, n) if error else None)
    chances = np.minimum(chances_one_by_one(X, model, observed), 0.999)
    weights = MEMORY ** np.arange(n - FIRST)[::-1]
    y = observed.values
    better = [y[i] > y[:i].max() for i in range(FIRST, n)]
    record = track_record(X, model, observed, NOISELESS)
    assert record.promised == pytest.approx(-weights @ np.log1p(-chances), rel=1e-5)
    assert record.kept == pytest.approx(weights @ better)


@given(
    promised=st.floats(0, 30),
    kept=st.floats(0, 10),
    share=st.floats(1e-3, 1),
)
@settings(max_examples=30, deadline=None)
def test_the_correction_averages_over_what_a_promise_may_be_worth(promised: float, kept: float, share: float) -> None:
    worth = stats.gamma(1 + kept, scale=1 / (1 + promised))
    low, high = worth.ppf([1e-12, 1 - 1e-12])
    exact = quad(lambda c: share**c * worth.pdf(c), low, high, limit=200)[0]
    corrected = TrackRecord(promised, kept).corrected(np.array([share]))[0]
    assert corrected == pytest.approx(exact, rel=1e-4, abs=1e-9)


@given(kept=st.floats(0, 10), promised=st.floats(0, 30), more=st.floats(0.01, 5))
def test_broken_promises_make_promises_smaller_and_kept_ones_larger(kept: float, promised: float, more: float) -> None:
    share = np.array([0.3])
    now = TrackRecord(promised, kept).corrected(share)
    assert TrackRecord(promised + more, kept).corrected(share) > now
    assert TrackRecord(promised, kept + more).corrected(share) < now
    shares = np.linspace(0.01, 1, 50)
    corrected = TrackRecord(promised, kept).corrected(shares)
    assert (np.diff(corrected) > 0).all()
    assert corrected[-1] == 1


def test_without_results_that_count_there_is_no_record() -> None:
    X, model, observed = study(FIRST)
    assert track_record(X, model, observed, UNSAID) == TrackRecord(0.0, 0.0)


def test_with_noise_the_model_is_taken_at_its_word() -> None:
    X, model, observed = study(20, repeats=True)
    assert not track_record(X, model, study(20)[2], UNSAID).trusted
    noisy = track_record(X, model, observed, UNSAID)
    shares = np.linspace(0.01, 1, 5)
    np.testing.assert_array_equal(noisy.corrected(shares), shares)


def test_of_a_long_history_the_latest_results_say_nearly_the_same() -> None:
    """What they are compared with is the best of all."""
    rng = np.random.default_rng(1)
    X = rng.random((A, 2))
    numbers = rng.integers(0, A, LATEST + 100)
    values = np.sin(5 * X[numbers]).sum(axis=1) + 0.3 * rng.standard_normal(len(numbers))
    values[0] = values.max() + 0.01
    observed = Observed.of(A, numbers, values)
    model = fit(X, Layout.of_numbers(2), observed, "maximize")
    latest = track_record(X, model, observed, NOISELESS)
    whole = track_record(X, model, observed, NOISELESS, latest=len(numbers))
    assert latest.kept == whole.kept == 0
    assert latest.promised == pytest.approx(whole.promised, rel=0.1)
    assert latest.promised != whole.promised
