"""How many candidates a batch has if nobody says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine import Ask, State, choose
from app.engine.auto import AutoOptions, Layout, Observed, alpha_for, choose_worthwhile, fit, state_for, with_one_more
from app.engine.auto.batch_size import BENCH, SHARE, promised_shares

X = np.random.default_rng(0).random((60, 2))


def study(n: int, seed: int = 0) -> tuple[State, float]:
    rng = np.random.default_rng(seed)
    numbers = rng.permutation(len(X))[:n]
    observed = Observed.of(len(X), numbers, np.sin(4 * X[numbers]).sum(axis=1))
    model = fit(X, Layout.of_numbers(2), observed, "maximize")
    return state_for(X, model, observed, AutoOptions(), 0), alpha_for(model, AutoOptions())


def ask_for(state: State, alpha: float, least: int, most: int) -> Ask:
    return Ask(1, least, most, alpha, (state.counts == 0).astype(np.int64))


@settings(max_examples=30, deadline=None)
@given(n=st.integers(3, 30), seed=st.integers(0, 20), least=st.integers(1, 12), more=st.integers(0, 12))
def test_a_batch_is_the_longest_start_of_the_largest_one_that_keeps_its_promise(
    n: int, seed: int, least: int, more: int
) -> None:
    state, alpha = study(n, seed)
    ask = ask_for(state, alpha, least, least + more)
    sized = choose_worthwhile(choose, state, ask)
    whole = choose(state, ask_for(state, alpha, ask.max_size, ask.max_size))
    shares, size = promised_shares(state, whole), len(sized.selection.picks)
    assert sized.selection.picks.tolist() == whole.picks[:size].tolist()
    assert least <= size <= ask.max_size
    floor = max(least, min(BENCH, ask.max_size))
    assert (shares[floor:size] >= SHARE).all()
    assert size == ask.max_size or shares[size] < SHARE
    assert sized.selection.ended == ("size" if size == ask.max_size else "promise")
    assert sized.next_share == (None if size == ask.max_size else shares[size])


@settings(max_examples=30, deadline=None)
@given(n=st.integers(3, 50), seed=st.integers(0, 20), size=st.integers(1, 8))
def test_one_more_is_the_next_choice_of_a_longer_batch_and_changes_nothing(n: int, seed: int, size: int) -> None:
    state, alpha = study(n, seed)
    ask = ask_for(state, alpha, size, size)
    sized = choose_worthwhile(choose, state, ask)
    known = with_one_more(choose, state, ask, sized)
    longer = choose(state, ask_for(state, alpha, size + 1, size + 1))
    assert known.selection is sized.selection
    assert known.selection.picks.tolist() == longer.picks[:size].tolist()
    assert (known.next_share is None) == (len(longer.picks) == size)
    if known.next_share is not None:
        assert known.next_share == pytest.approx(promised_shares(state, longer)[-1], rel=1e-6)


def test_what_a_choice_promises_is_its_expected_improvement_by_integration() -> None:
    state, alpha = study(12)
    batch = choose(state, ask_for(state, alpha, 6, 6))
    best = state.mean[state.measured].max()
    points, weights = np.polynomial.hermite_e.hermegauss(300)
    deviation = (batch.ucb - state.mean[batch.picks]) / 2.0
    improvement = [
        weights @ np.maximum(state.mean[pick] + s * points - best, 0) / weights.sum()
        for pick, s in zip(batch.picks, deviation, strict=True)
    ]
    np.testing.assert_allclose(promised_shares(state, batch), np.array(improvement) / improvement[0], rtol=0.05)
    assert deviation[0] == pytest.approx(np.sqrt(state.variance[batch.picks[0]]), rel=1e-6)


def test_a_short_list_ends_a_batch() -> None:
    state, alpha = study(57)
    assert choose_worthwhile(choose, state, ask_for(state, alpha, 5, 10)).selection.ended == "exhausted"


def test_a_choice_whose_value_is_as_good_as_certain_promises_next_to_nothing() -> None:
    state, alpha = study(12)
    batch = choose(state, ask_for(state, alpha, 3, 3))
    worst = int(state.mean.argmin())
    certain = replace(batch, picks=np.array([batch.picks[0], worst]), ucb=np.array([batch.ucb[0], state.mean[worst]]))
    assert promised_shares(state, certain).tolist() == pytest.approx([1.0, 0.0])
