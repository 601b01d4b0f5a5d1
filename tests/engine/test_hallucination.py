"""Leverages while a batch grows, against V⁻¹ computed afresh."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.arrays import FloatArray
from app.engine import State
from app.engine import hallucination as module
from app.engine.hallucination import Hallucination
from app.engine.stability import Rescues
from tests.engine.problems import lab


def projected_leverage(state: State, taken: list[tuple[int, int]]) -> FloatArray:
    """zᵀV⁻¹z of all candidates after these choices, from scratch."""
    V = state.G + state.settings.lam * np.eye(len(state.S))
    for number, n in taken:
        V += n * np.outer(state.Z[:, number], state.Z[:, number])
    leverage: FloatArray = np.einsum("ma,ma->a", state.Z, np.linalg.solve(V, state.Z))
    return leverage


@given(seed=st.integers(0, 1000), steps=st.integers(1, 60), spare=st.sampled_from([1, 4, 64]))
@settings(max_examples=40, deadline=None)
def test_many_choices_leave_what_a_new_factorisation_leaves(seed: int, steps: int, spare: int) -> None:
    state = lab(seed, A=30).begin([0, 1, 2, 3])
    rng, growing = np.random.default_rng(seed), Hallucination(state, Rescues())
    listed = growing.points(np.arange(15))
    taken = [(int(rng.integers(0, 30)), int(rng.integers(1, 5))) for _ in range(steps)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SPARE_ROWS", spare)
        for number, n in taken:
            j = listed.only(number) if number < 15 else growing.points(np.array([number]))
            growing.take(j, n, listed)
    expected = projected_leverage(state, taken)
    np.testing.assert_allclose(listed.projected_leverage, expected[:15], rtol=1e-8, atol=1e-12)
    later = growing.points(np.arange(15, 30))
    np.testing.assert_allclose(later.projected_leverage, expected[15:], rtol=1e-8, atol=1e-12)


def test_r_has_no_more_rows_than_are_worth_while() -> None:
    state = lab(0, A=30).begin([0, 1, 2, 3])
    growing = Hallucination(state, Rescues())
    listed = growing.points(np.arange(30))
    for number in range(500):
        growing.take(listed.only(number % 30), 1, listed)
    assert len(growing._rows) <= 2 * max(len(state.S), module.SPARE_ROWS)
