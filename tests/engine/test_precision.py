"""Features and embedding in float32: half the memory, and a posterior that differs by no more than their rounding."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.arrays import FloatArray
from app.engine import Ask, EngineSettings, State, add_candidates, choose, load, measure, revise, save, start
from app.engine.embedding import in_float64
from app.engine.kernels import Gaussian, Linear, Matern, Scaled

ROUNDING = 2.0**-24
VECTORS = ("mean", "residual", "projected_leverage", "sums", "G", "H", "w")
KERNELS = (Gaussian(0.4), Matern(0.5, 2.5))


def features(A: int, seed: int = 0) -> FloatArray:
    """Numbers that float32 holds, so that the same list can be stored either way."""
    return np.random.default_rng(seed).random((A, 3)).astype("float32").astype(float)


def truth(X: FloatArray) -> FloatArray:
    return np.asarray(np.sin(5 * X[:, 0]) + X[:, -1], dtype=float)


def settings_of(**more: Any) -> EngineSettings:
    return EngineSettings(KERNELS[0], lam=0.01, xi=0.1, **{"dictionary": "all", "precision": "float32", **more})


def dense(X: FloatArray, state: State) -> tuple[FloatArray, FloatArray]:
    """Posterior mean and variance over λ of all candidates, by one large system of equations."""
    measured, lam, kernel = np.flatnonzero(state.counts), state.settings.lam, state.settings.kernel
    n = state.counts[measured]
    K = kernel.matrix(X[measured], X[measured]) + lam * np.diag(1 / n)
    k = kernel.matrix(X[measured], X)
    solved = np.linalg.solve(K, k)
    return solved.T @ (state.sums[measured] / n), (kernel.diagonal(X) - (k * solved).sum(axis=0)) / lam


def stored_in(state: State) -> set[str]:
    return {state.X.dtype.name, state.embedding.dtype, *(shard.array.dtype.name for shard in state.embedding.shards)}


def test_what_is_stored_in_float32_is_computed_with_in_float64() -> None:
    X = features(20)
    stored = in_float64(X.astype("float32"))
    assert stored.dtype == np.float64
    np.testing.assert_array_equal(stored, X)
    assert in_float64(X) is X


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 59), min_size=1, max_size=6), min_size=1, max_size=6),
    st.sampled_from(KERNELS),
    st.sampled_from([0, 7, 25]),
    st.booleans(),
)
def test_the_posterior_is_the_dense_one_but_for_the_rounding(
    rounds: list[list[int]], kernel: Any, shard: int, revised: bool
) -> None:
    X = features(60)
    state = start(X[:50], settings_of(shard=shard).replace(kernel=kernel))
    for numbers in rounds:
        state = measure(state, [number % 50 for number in numbers], truth(X[[number % 50 for number in numbers]]))
    state = add_candidates(state, X[50:])
    state = measure(state, rounds[-1], truth(X[rounds[-1]]))
    state = revise(state, state.counts, state.sums) if revised else state
    mean, leverage = dense(X, state)
    # Each z is wrong by its rounding, and the weights of the mean are at most ‖y‖/√λ.
    most = 40 * ROUNDING * (1 + float(np.linalg.norm(state.sums)) / state.settings.lam)
    assert np.abs(state.mean - mean).max() <= most
    assert np.abs(state.leverage - leverage).max() <= 100 * ROUNDING / state.settings.lam
    assert stored_in(state) == {"float32"}
    assert {getattr(state, name).dtype.name for name in VECTORS} == {"float64"}


@pytest.mark.parametrize("resparsify", ["lazy", "strict"])
def test_what_is_computed_step_by_step_does_not_drift_from_what_is_computed_at_once(resparsify: str) -> None:
    X = features(400, 1)
    state = start(X, settings_of(dictionary="sampled", resparsify=resparsify, refresh_every=10**6))
    for number in range(1, 60):
        picks = choose(state, Ask(number, min_size=3, max_size=3)).picks
        state = measure(state, picks, truth(X[picks]), expected=False)
    assert stored_in(state) == {"float32"}
    exact = load({**save(state), "settings": state.settings.replace(precision="float64").describe()}, X)
    z, small = (
        exact.embedding.columns(np.arange(len(X))),
        np.linalg.inv(exact.G + exact.settings.lam * np.eye(len(exact.S))),
    )
    scale = np.abs(state.mean).max()
    assert np.abs(state.mean - z.T @ small @ state.w).max() <= 1e-4 * scale
    assert np.abs(state.projected_leverage - np.einsum("ix,ij,jx->x", z, small, z)).max() <= 1e-4 * state.leverage.max()


def test_a_saved_state_comes_back_to_the_bit() -> None:
    X = features(80, 2)
    state = measure(start(X, settings_of(shard=30)), [1, 5, 70], truth(X[[1, 5, 70]]))
    again = load(save(state), state.X)
    assert stored_in(again) == {"float32"}
    assert again.Z.tobytes() == state.Z.tobytes()
    assert [getattr(again, name).tobytes() for name in VECTORS] == [getattr(state, name).tobytes() for name in VECTORS]


def test_features_and_embedding_take_half_the_memory() -> None:
    X, numbers = features(500, 3), np.arange(20)
    double, single = (
        measure(start(X, settings_of(precision=precision)), numbers, truth(X[numbers]))
        for precision in ("float64", "float32")
    )
    assert 2 * single.X.nbytes == double.X.nbytes
    assert 2 * single.embedding.nbytes == double.embedding.nbytes


def test_settings_of_the_default_precision_are_described_as_before() -> None:
    assert "precision" not in settings_of(precision="float64").describe()
    assert EngineSettings.build(settings_of().describe()).precision == "float32"
    with pytest.raises(ValueError, match="float64 or float32"):
        settings_of(precision="float16")


def test_the_residual_is_that_of_the_rows_before_they_were_rounded() -> None:
    X, counts = features(60, 4), np.arange(60) < 20
    state = revise(start(X, settings_of().replace(lam=1e-6)), counts.astype(int), counts * truth(X))
    assert state.leverage[counts].max() <= 1.001  # a measured candidate has at most 1; a rounding is 0.1 at this λ


@pytest.mark.parametrize("amplitude", [1e-70, 1e70])
def test_a_prior_that_float32_cannot_hold_is_refused(amplitude: float) -> None:
    X, kernel = features(20), Scaled(KERNELS[0], amplitude)
    start(X, settings_of().replace(kernel=kernel, precision="float64"))
    with pytest.raises(ValueError, match="with float32, the largest prior variance must lie between 1e-60 and 1e\\+60"):
        start(X, settings_of().replace(kernel=kernel))


def test_candidates_that_float32_cannot_hold_are_not_added() -> None:
    state = start(features(20), settings_of().replace(kernel=Linear()))
    with pytest.raises(ValueError, match="the largest prior variance"):
        add_candidates(state, np.full((1, 3), 1e35))
    with pytest.raises(ValueError, match="finite numbers"):
        add_candidates(state, np.full((1, 3), 1e39))
    add_candidates(state, np.zeros((1, 3)))


def test_nothing_is_guaranteed_of_what_is_rounded() -> None:
    X = features(20)
    for precision, expected in (("float64", True), ("float32", False)):
        state = measure(start(X, settings_of(precision=precision)), [0, 1], [0.1, 0.2])
        assert choose(state, Ask()).guaranteed is expected
