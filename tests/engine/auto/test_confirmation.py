"""The final batch: which candidates are measured again, and how often."""

import numpy as np
import pytest

from app.arrays import FloatArray
from app.engine.auto import AutoOptions, FittedModel, Observed, fit, learn_encoding, state_for, to_confirm
from app.engine.auto.columns import FeatureColumn
from app.engine.auto.confirmation import FEW
from app.engine.auto.recommendation import estimates
from app.engine.state import State

A = 40


def study(seed: int, noise: float, repeats: int = 4) -> tuple[State, FittedModel, Observed]:
    rng = np.random.default_rng(seed)
    X, none = rng.random((A, 2)), np.empty((A, 0), dtype="<i4")
    encoding = learn_encoding([FeatureColumn(name, "number") for name in ("a", "b")], X, none)
    numbers = np.concatenate((rng.permutation(A)[:12], [0] * repeats))
    values: FloatArray = np.sin(4 * X[numbers.astype(int), 0]) + noise * rng.normal(size=len(numbers))
    observed = Observed.of(A, numbers, values)
    features = encoding.apply(X, none)
    fitted = fit(features, encoding.layout, observed, "maximize")
    return state_for(features, fitted, observed, AutoOptions(), 0), fitted, observed


def confirmed(known: tuple[State, FittedModel, Observed], times: int, among: FloatArray | None = None) -> list[int]:
    options, everything = AutoOptions(), np.arange(A)
    return to_confirm(*known, options, everything if among is None else among, times).tolist()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("times", [2, 5])
def test_each_of_the_best_few_gets_as_many_measurements_as_it_lacks(seed: int, times: int) -> None:
    state, _, observed = known = study(seed, 0.3)
    picks = confirmed(known, times)
    chosen = list(dict.fromkeys(picks))
    assert 1 <= len(chosen) <= FEW
    assert all(observed.counts[candidate] > 0 for candidate in chosen)
    assert all(observed.counts[candidate] + picks.count(candidate) == times for candidate in chosen)
    assert state.pending.sum() == 0


def test_what_is_pending_counts() -> None:
    state, fitted, observed = study(1, 0.3)
    best = confirmed((state, fitted, observed), 4)[0]
    pending = state.pending.copy()
    pending[best] = 3
    assert confirmed((state.replace(pending=pending), fitted, observed), 4).count(best) == 0


@pytest.mark.parametrize("seed", range(8))
def test_what_can_be_told_from_the_best_is_not_confirmed(seed: int) -> None:
    state, fitted, observed = known = study(seed, 0.05)
    value = estimates(state, fitted, observed, noisy=True)
    ranked = sorted(np.flatnonzero(observed.counts).tolist(), key=lambda candidate: -value[candidate])
    near = [
        candidate
        for candidate in ranked
        if value[ranked[0]] - value[candidate] <= 2 * (state.variance[ranked[0]] + state.variance[candidate]) ** 0.5
    ]
    assert list(dict.fromkeys(confirmed(known, 9))) == near[:FEW]


def test_with_little_noise_some_of_the_best_can_be_told_apart() -> None:
    assert min(len(set(confirmed(study(seed, 0.01), 9))) for seed in range(12)) < FEW


def test_where_repeats_are_equal_nothing_is_confirmed() -> None:
    state, fitted, observed = study(2, 0.0)
    assert confirmed((state, fitted, observed), 3) == []
    assert confirmed(study(2, 0.0, repeats=2), 3) != [], "two measurements may agree by chance"
    never = study(2, 0.3)
    assert to_confirm(*never, AutoOptions(noisy=False), np.arange(A), 3).tolist() == []
    assert confirmed(study(2, 0.3, repeats=0), 3) != []


def test_only_what_may_be_measured_is_confirmed() -> None:
    known = study(4, 0.3)
    best = confirmed(known, 3)[0]
    assert best not in confirmed(known, 3, np.setdiff1d(np.arange(A), [best]))
