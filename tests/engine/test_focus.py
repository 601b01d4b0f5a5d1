"""A state with a focus: the same choices and the same posterior as one that always looks at all candidates."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine import (
    Ask,
    State,
    add_candidates,
    alpha,
    batch,
    choose,
    confidence_bounds,
    expect,
    focus,
    measure,
)
from app.engine.kernels import Gaussian
from app.engine.posterior import from_scratch
from app.engine.stability import Rescues
from tests.engine.problems import Lab, lab, switched_off
from tests.engine.test_incremental import assert_same
from tests.engine.test_saving import bits, through_storage

RULES = ("global", "local", "exact", "product", "sequential")


@contextmanager
def few(near: int = 12) -> Iterator[None]:
    """Let short lists have a focus, too, and even if it will not last."""
    with patch.multiple(focus, SHORTEST_LIST=1, FEWEST=near, SHARE=0.0, LASTING=0.0):
        yield


def problem(seed: int, exploration: float = 1.0, **changes: Any) -> Lab:
    chosen = {"resparsify": "lazy", "inclusion": "independent", "kernel": Gaussian(0.25), "lam": 0.02, **changes}
    return lab(seed, A=120, focus=exploration, **chosen)


def without_focus(made: Lab) -> Lab:
    return Lab(made.X, made.f, made.noise, made.settings.replace(focus=0.0))


def teach(made: Lab, state: State, picks: Any, t: int) -> tuple[State, int]:
    return measure(state, picks, made.values(picks, t)), t + len(picks)


def ucb(state: State, factor: float) -> Any:
    return state.mean + factor * np.sqrt(state.leverage)


@pytest.mark.parametrize("rule", RULES)
@given(seed=st.integers(0, 10_000), near=st.integers(4, 60), confidence=st.sampled_from(["sharp", "tight"]))
@settings(max_examples=12, deadline=None)
def test_a_focus_changes_no_choice(rule: str, seed: int, near: int, confidence: str) -> None:
    made = problem(seed, rule=rule, confidence=confidence)
    with few(near):
        state, batches = made.run([0, 1], 60)
    expected, expected_batches = without_focus(made).run([0, 1], 60)
    assert batches == expected_batches
    assert sorted(state.S) == sorted(expected.S)
    assert_same(state.whole, expected)


@given(seed=st.integers(0, 10_000), exploration=st.sampled_from([0.3, 1.0, 2.0]))
@settings(max_examples=25, deadline=None)
def test_nobody_outside_exceeds_the_bound(seed: int, exploration: float) -> None:
    made = problem(seed, exploration)
    seen = 0
    with few(), patch.object(focus, "_needed", lambda *_: np.inf):  # the anchor stays as long as it can
        state, t = made.begin([0, 1]), 2
        while t < 40:
            picks = choose(state, Ask(alpha=exploration * alpha(state), max_size=5)).picks
            state, t = teach(made, state, picks, t)
            if state.focus is None:
                continue
            for factor in (0.1, alpha(state), 5.0):
                outside = np.setdiff1d(np.arange(120), state.focus.numbers)
                true = ucb(from_scratch(state.whole, state.S, Rescues()), factor)[outside]
                assert state.focus.highest_outside(factor) >= true.max() - 1e-9
                seen += 1
    assert seen


@given(seed=st.integers(0, 10_000), factors=st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=8))
@settings(max_examples=40, deadline=None)
def test_the_highest_outside_is_that_of_all_of_them_for_any_factors(seed: int, factors: list[float]) -> None:
    state = problem(seed).begin([0, 1]).whole
    near = np.random.default_rng(seed).choice(120, 30, replace=False)
    others = np.setdiff1d(np.arange(120), near)
    outside = focus.Outside(state, near)
    for factor in factors:
        expected = (state.mean + factor * np.sqrt(state.leverage))[others].max()
        assert outside.highest(factor) == pytest.approx(expected, rel=1e-12)


def test_a_focus_is_used_and_moves_on() -> None:
    made = problem(3, kernel=Gaussian(0.6))
    with few(40), patch.object(focus.Focused, "swept", autospec=True, side_effect=focus.Focused.swept) as swept:
        state, batches = made.run([0, 1], 120)
    assert state.focus is not None
    assert 0 < len(state.focus.numbers) < 120
    assert 1 <= swept.call_count < len(batches) - 5


def test_a_batch_that_the_focus_cannot_settle_looks_at_all_candidates() -> None:
    made = problem(3)
    with few():
        state = made.begin([0, 1])
    assert state.focus is not None
    with (
        patch.object(focus.Focused, "highest_outside", lambda *_: 1e9),
        patch.object(batch, "_choose", wraps=batch._choose) as tried,
    ):
        picks = choose(state, Ask(max_size=5)).picks
    assert tried.call_count == 2
    assert picks.tolist() == choose(state.whole, Ask(max_size=5)).picks.tolist()


def test_reading_the_posterior_changes_nothing_that_follows() -> None:
    made = problem(5)
    lives = []
    for reads in (False, True):
        with few():
            state, t = made.begin([0, 1]), 2
            while t < 50:
                picks = choose(state, Ask(max_size=6)).picks
                if reads:
                    confidence_bounds(state)
                state, t = teach(made, state, picks, t)
        lives.append(bits(state))
    assert lives[0] == lives[1]


def test_saved_and_loaded_between_any_two_calls_it_has_the_same_bits() -> None:
    made = problem(7)
    lives = []
    for again in (lambda state: state, through_storage):
        with few():
            state, t = made.begin([0, 1]), 2
            while t < 50:
                picks = choose(again(state), Ask(max_size=6)).picks
                state = again(expect(again(state), picks))
                state, t = teach(made, state, picks, t)
                state = again(state)
        assert state.focus is not None
        lives.append(bits(state))
    assert lives[0] == lives[1]


def test_open_measurements_and_candidates_switched_off_count_as_ever() -> None:
    made = problem(11)
    with few():
        state, _ = made.run([0, 1], 20)
        assert state.focus is not None
        far = int(np.setdiff1d(np.arange(120), state.focus.numbers)[0])
        near = int(choose(state, Ask()).picks[0])
        for changed in (expect(state, [near]), expect(state, [far]), switched_off(state, [near])):
            assert (
                choose(changed, Ask(max_size=8)).picks.tolist() == choose(changed.whole, Ask(max_size=8)).picks.tolist()
            )
        told = measure(state, [far], [0.3])
        assert_same(told.whole, from_scratch(told.whole, told.S, Rescues()))


def test_more_candidates_join_a_state_with_a_focus() -> None:
    made = problem(13)
    with few():
        state, _ = made.run([0, 1], 20)
        longer = add_candidates(state, np.random.default_rng(0).random((5, 2)))
    assert longer.focus is None
    assert_same(longer, from_scratch(longer, longer.S, Rescues()))


def test_short_lists_and_dictionaries_that_change_have_no_focus() -> None:
    made, strict = problem(1), problem(1, resparsify="strict")
    assert made.begin([0]).focus is None
    with few():
        assert made.begin([0]).focus is not None
        assert strict.begin([0]).focus is None


def test_candidates_that_are_all_alike_have_no_focus() -> None:
    made = problem(1, kernel=Gaussian(0.01))
    flat = Lab(made.X, 0 * made.f, made.noise, made.settings)
    with few():
        assert flat.begin([0, 1]).focus is not None
        with patch.object(focus, "LASTING", 1.1):
            assert flat.begin([0, 1]).focus is None


def test_a_focus_is_a_number_that_is_not_negative() -> None:
    with pytest.raises(ValueError, match="focus"):
        problem(1, -1.0)
    assert "focus" not in lab().settings.describe()
    assert problem(1).settings.describe()["focus"] == 1.0
