"""Whatever finite numbers come in: never NaN, never an exception, no negative leverage; a rescue is reported."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine import (
    Ask,
    EngineSettings,
    State,
    add_candidates,
    beta,
    choose,
    design,
    expect,
    measure,
    revise,
    start,
    time_limit,
)
from app.engine.kernels import Gaussian, Kernel, Linear, Matern, Polynomial, Scaled
from app.engine.settings import WORKING_RANGES, RuleName
from app.engine.stability import Rescues, clip_extremes, inverse_cholesky
from tests.engine.problems import confidence_bounds

RULES: list[RuleName] = ["global", "local", "exact", "product", "sequential"]


def assert_sound(state: State) -> None:
    for values in (
        state.mean,
        state.residual,
        state.projected_leverage,
        state.leverage,
        state.variance,
        state.Z,
        state.G,
        state.H,
    ):
        assert np.isfinite(values).all()
    assert (state.residual >= 0).all()
    assert (state.projected_leverage >= 0).all()
    lower, upper = confidence_bounds(state)
    assert np.isfinite([beta(state), lower.max(), upper.max(), upper.max() - lower.max()]).all()
    assert np.isfinite(state.leverage_sum)


def live(X: np.ndarray, values: np.ndarray, chosen: EngineSettings) -> State:
    """Start, design, some batches with values of the worst kind, a correction, a new candidate."""
    state = start(X, chosen)
    assert_sound(state)
    first = design(state, Ask(max_size=3))
    state = measure(expect(state, first.picks), first.picks, values[first.picks])
    for number in range(1, 5):
        batch = choose(state, Ask(number, min_size=2, max_size=6))
        assert len(batch.picks) >= 2
        assert np.isfinite(batch.ucb).all()
        assert batch.ratio_bound >= 1
        state = measure(state, batch.picks, values[batch.picks])
        assert_sound(state)
    state = add_candidates(revise(state, state.counts, state.sums), X[:1])
    assert_sound(state)
    return state


CASES = {
    "duplicates": (np.zeros((20, 2)), np.arange(20.0)),
    "near duplicates": (1e-9 * np.arange(40.0).reshape(20, 2), np.arange(20.0)),
    "constant objective": (np.random.default_rng(0).random((20, 2)), np.full(20, 3.0)),
    "one candidate": (np.ones((1, 3)), np.ones(1)),
    "more features than candidates": (np.random.default_rng(0).random((5, 50)), np.arange(5.0)),
    "huge features": (1e300 * np.random.default_rng(0).standard_normal((20, 2)), np.arange(20.0)),
    "subnormal features": (5e-324 * np.arange(40.0).reshape(20, 2), np.arange(20.0)),
    "huge values": (np.random.default_rng(0).random((20, 2)), 1e300 * (-1.0) ** np.arange(20)),
    "one terrible value": (np.random.default_rng(0).random((20, 2)), np.r_[-1e300, np.ones(19)]),
    "subnormal values": (np.random.default_rng(0).random((20, 2)), 5e-324 * np.arange(20)),
    "features of all sizes": (10.0 ** np.linspace(-300, 300, 40).reshape(20, 2), np.arange(20.0)),
}
KERNELS: list[Kernel] = [Gaussian(1.0), Gaussian(1e4), Matern(1e-3, 0.5), Linear(), Polynomial()]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_torture(case: str, kernel: Kernel) -> None:
    X, values = CASES[case]
    for rule in RULES:
        for lam in (1e-12, 1.0):
            live(
                X,
                values,
                EngineSettings(kernel=kernel, lam=lam, rule=rule, hallucination="full" if lam == 1 else "projected"),
            )


@given(
    st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2), min_size=1, max_size=12
    ),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=12, max_size=12),
    st.sampled_from(KERNELS),
    st.sampled_from(RULES),
    st.sampled_from([1e-10, 1e-3, 1.0, 1e6]),
    st.sampled_from(["sampled", "all"]),
)
@settings(max_examples=80, deadline=None)
def test_any_finite_numbers_are_survived(
    rows: list[list[float]], values: list[float], kernel: Kernel, rule: RuleName, lam: float, dictionary: str
) -> None:
    live(np.array(rows), np.array(values), EngineSettings(kernel=kernel, lam=lam, rule=rule, dictionary=dictionary))  # type: ignore[arg-type]


def extreme(name: str) -> st.SearchStrategy[float]:
    """The ends of a setting's working range, ordinary numbers and any in between."""
    lowest, highest = WORKING_RANGES[name]
    return st.one_of(st.sampled_from([lowest, highest]), st.floats(max(lowest, 1e-3), min(highest, 10.0))) | st.floats(
        lowest, highest
    )


@given(
    st.fixed_dictionaries({name: extreme(name) for name in WORKING_RANGES}),
    st.sampled_from([*KERNELS, Scaled(Gaussian(1.0), 1e150), Scaled(Gaussian(1.0), 1e-150), Polynomial(20, 1e60)]),
    st.sampled_from(RULES),
    st.sampled_from(["sharp", "tight", "paper"]),
    st.sampled_from(["projected", "full"]),
)
@settings(max_examples=60, deadline=None)
def test_any_settings_within_their_ranges_are_survived(
    numbers: dict[str, float], kernel: Kernel, rule: RuleName, confidence: str, hallucination: str
) -> None:
    X = np.random.default_rng(0).standard_normal((12, 2))
    names: dict[str, Any] = {"rule": rule, "confidence": confidence, "hallucination": hallucination}
    with time_limit(60):
        live(X, X[:, 0], EngineSettings(kernel, **numbers, **names))


def test_a_rescue_is_reported() -> None:
    state = measure(start(np.zeros((3, 1)), EngineSettings(kernel=Gaussian(1.0))), [0, 1], [1e300, 1.0])
    assert state.rescues["values clipped"] == 1
    rescues = Rescues()
    assert clip_extremes(np.array([np.nan, 1e200, -np.inf, 2.0]), "kernel values clipped", rescues).tolist() == [
        0,
        1e150,
        -1e150,
        2,
    ]
    assert rescues == {"kernel values clipped": 3}
    factor = inverse_cholesky(np.array([[1.0, 1.0], [1.0, 1.0]]), rescues)
    assert np.isfinite(factor).all()
    assert rescues["jitter"] > 0


def test_a_healthy_study_needs_no_rescue() -> None:
    X = np.random.default_rng(0).random((50, 2))
    state = start(X, EngineSettings(kernel=Gaussian(0.3), lam=0.01))
    for number in range(1, 10):
        batch = choose(state, Ask(number, min_size=3, max_size=9))
        assert batch.degraded == {}
        state = measure(state, batch.picks, X[batch.picks, 0])
    assert {name for name in state.rescues if name != "dependent members left out"} == set()
