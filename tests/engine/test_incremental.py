"""Incremental updates against the computation from scratch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.arrays import IndexArray
from app.engine import State, lifecycle, measure
from app.engine.embedding import Embedding, Rows
from app.engine.kernels import Gaussian
from app.engine.posterior import Measurements, downdate, from_scratch, has_drifted, update, with_counts
from app.engine.stability import Rescues
from tests.engine.problems import Lab, lab, labs


def assert_same(state: State, expected: State) -> None:
    scale = state.settings.kernel.diagonal(state.X).max()
    np.testing.assert_allclose(state.mean, expected.mean, rtol=1e-6, atol=1e-8 * max(1, np.abs(state.sums).max()))
    np.testing.assert_allclose(state.residual, expected.residual, atol=1e-9 * scale)
    np.testing.assert_allclose(state.leverage, expected.leverage, rtol=1e-6, atol=1e-9 * scale / state.settings.lam)


def some(numbers: IndexArray, rng: np.random.Generator, share: float = 0.5) -> IndexArray:
    return numbers[rng.random(len(numbers)) < share]


@given(labs(dictionary="all"), st.integers(0, 1000))
@settings(max_examples=50, deadline=None)
def test_one_sweep_takes_in_measurements_and_members_as_from_scratch(made: Lab, seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = made.begin([0, 1, 2])
    J = np.union1d(some(np.arange(len(made.X)), rng), [0])
    repeats = rng.integers(1, 5, len(J))
    new = Measurements(J, repeats, repeats * made.f[J])
    D = np.setdiff1d(some(J, rng), state.S)
    after = update(with_counts(state, new), new, D, Rescues())
    assert_same(after, from_scratch(after, after.S, Rescues()))


@given(labs(dictionary="all"), st.integers(0, 1000))
@settings(max_examples=50, deadline=None)
def test_members_leave_as_from_scratch(made: Lab, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = list(range(min(8, len(made.X))))
    state = made.begin(first)
    leaving = rng.random(len(state.S)) < 0.4
    leaving[0] = False
    less = downdate(state, leaving, Rescues())
    expected = from_scratch(state, state.S[~leaving], Rescues())
    assert_same(less.replace(mean=expected.mean), expected)
    new = Measurements(np.array([1]), np.array([2]), np.array([0.4]))
    assert_same(
        update(with_counts(less, new), new, state.S[:0], Rescues()),
        from_scratch(with_counts(expected, new), expected.S, Rescues()),
    )


@given(labs(resparsify="lazy"))
@settings(max_examples=15, deadline=None)
def test_a_whole_run_of_updates_stays_with_from_scratch(made: Lab) -> None:
    state, _ = made.run([0, 1], 80)
    assert_same(state, from_scratch(state, state.S, Rescues()))


def test_the_paths_are_really_taken(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    calls = {"update": 0, "from_scratch": 0, "downdate": 0}

    def counting(name):  # type: ignore[no-untyped-def]
        original = getattr(lifecycle, name)

        def wrapped(*arguments):  # type: ignore[no-untyped-def]
            calls[name] += 1
            return original(*arguments)

        return wrapped

    for name in calls:
        monkeypatch.setattr(lifecycle, name, counting(name))
    from tests.engine.problems import lab  # noqa: PLC0415

    lab(A=60, resparsify="lazy").run([0, 1], 200)
    assert min(calls.values()) > 0


def test_rows_never_change_for_those_who_hold_an_earlier_version() -> None:
    start, fresh = Rows.empty(3).reserve(1)
    fresh[:] = 1.0
    successor, first = start.reserve(2)
    first[:] = 2.0
    other, second = start.reserve(1)
    second[:] = 3.0
    assert start.array.tolist() == [[1.0] * 3]
    assert successor.array.tolist() == [[1.0] * 3, [2.0] * 3, [2.0] * 3]
    assert other.array.tolist() == [[1.0] * 3, [3.0] * 3]


def test_a_state_that_has_drifted_is_computed_from_scratch() -> None:
    state, _ = lab(A=60, resparsify="lazy").run([0, 1], 60)
    assert not has_drifted(state)
    off = state.replace(projected_leverage=state.projected_leverage * (1 + 1e-4))
    assert has_drifted(off)
    after = measure(off, [5], [1.0])
    assert after.updates == 0
    fresh = from_scratch(after, after.S, Rescues())
    np.testing.assert_allclose(after.leverage, fresh.leverage, rtol=1e-9)
    turned = state.replace(embedding=Embedding([Rows(state.Z * (1 + 1e-5))]))
    assert has_drifted(turned)


@pytest.mark.parametrize("lam", [1e-4, 1e-6, 1e-8, 1e-10])
def test_drift_stays_within_its_tolerance_however_rarely_the_state_is_refreshed(lam: float) -> None:
    made = lab(A=300, d=4, lam=lam, xi=lam**0.5, kernel=Gaussian(2.0), resparsify="lazy", refresh_every=10**9)
    state, batches = made.run([0, 1], 500)
    fresh = from_scratch(state, state.S, Rescues()).leverage
    assert len(batches) > 10
    assert (np.abs(state.leverage - fresh) <= 1e-9 * fresh + 1e-13 / lam).all()  # rounding errors of k(x, x)/λ = 1/λ
