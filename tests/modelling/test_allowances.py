"""Batches within a budget and a time, against brute force on small lists."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.batches import Inclusion
from app.domain.errors import TermsUnmet
from app.engine import Ask, EngineSettings, Selection, State, choose, measure, start
from app.engine.kernels import Gaussian, Linear
from app.engine.several import Aim, Aims, QuantityPosterior, choose_for
from app.modelling.allowances import Allowance
from app.modelling.composing import compose
from app.modelling.terms import Grouping, Need, Terms

A = 9  # candidates: 512 subsets
HIGHEST = Aims((Aim(0),), origin=np.zeros(1), scale=np.ones(1))


def state_of(seed: int) -> State:
    rng = np.random.default_rng(seed)
    state = start(rng.random((A, 2)), EngineSettings(Gaussian(0.4), lam=0.05, xi=0.2, F=1.0))
    return measure(state, [0, 1], rng.normal(size=2))


def once_each(state: State, ask: Ask) -> Selection:
    """The engine's choice of candidates that nobody has on the bench; it never ends a batch by its rule."""
    limited = replace(ask, min_size=ask.max_size, limit=(state.pending == 0).astype(np.int64))
    if ask.effort is None:
        return choose(state, limited)
    return choose_for([QuantityPosterior(state)], HIGHEST, state, limited)


def composed(state: State, least: int, most: int, terms: Terms) -> Selection:
    promise = state.mean + np.sqrt(state.leverage)
    return compose(once_each, state, Ask(1, most, most), terms, promise, Need(least))


amounts = st.lists(st.sampled_from([0.0, 0.1, 0.3, 1.0, 2.0, 5.0, 7.5]), min_size=A, max_size=A).map(np.array)
limits = st.floats(0.0, 20.0)


@given(
    seed=st.integers(0, 50),
    costs=amounts,
    durations=amounts,
    budget=limits,
    time=st.none() | limits,
    least=st.integers(1, 4),
    more=st.integers(0, 4),
    include=st.none() | st.integers(0, A - 1),
    column=st.none() | st.lists(st.integers(0, 2), min_size=A, max_size=A).map(np.array),
)
@settings(deadline=None, max_examples=100)
def test_no_allowance_is_ever_exceeded(
    *,
    seed: int,
    costs: np.ndarray,
    durations: np.ndarray,
    budget: float,
    time: float | None,
    least: int,
    more: int,
    include: int | None,
    column: np.ndarray | None,
) -> None:
    allowances = [Allowance("budget", costs, budget)]
    allowances += [] if time is None else [Allowance("time", durations, time)]
    included = () if include is None else (Inclusion(include),)
    if include is not None and any(allowance.amounts[include] > allowance.most for allowance in allowances):
        return  # refused before anything is composed
    per = () if column is None else (Grouping("c", column, 2),)
    terms = Terms(allowances=tuple(allowances), include=included, per=per, same=column if more == 0 else None)
    nothing_fits = any((allowance.amounts > allowance.most).all() for allowance in allowances)
    if nothing_fits and include is None:
        with pytest.raises(TermsUnmet):
            composed(state_of(seed), least, least + more, terms)
        return
    picks = composed(state_of(seed), least, least + more, terms).picks
    assert len(set(picks.tolist())) == len(picks) <= least + more
    for allowance in allowances:
        assert allowance.amounts[picks].sum() <= allowance.most * (1 + 1e-8)


@given(seed=st.integers(0, 50), costs=amounts, budget=limits, least=st.integers(1, 6), more=st.integers(0, 2))
@settings(deadline=None, max_examples=100)
def test_a_batch_within_a_budget_is_too_small_only_if_it_must_be(
    seed: int, costs: np.ndarray, budget: float, least: int, more: int
) -> None:
    terms = Terms(allowances=(Allowance("budget", costs, budget),))
    possible = any(costs[list(picks)].sum() <= budget for picks in combinations(range(A), least))
    try:
        size = len(composed(state_of(seed), least, least + more, terms).picks)
    except TermsUnmet:
        size = 0
    assert size >= least if possible else size < least


@given(seed=st.integers(0, 50), costs=amounts, column=st.lists(st.integers(0, 8), min_size=A, max_size=A).map(np.array))
@settings(deadline=None, max_examples=100)
def test_a_shared_value_is_one_that_can_be_paid(seed: int, costs: np.ndarray, column: np.ndarray) -> None:
    terms = Terms(allowances=(Allowance("budget", costs, 3.0),), same=column)
    pairs = combinations(range(A), 2)
    possible = any(column[one] == column[other] and costs[[one, other]].sum() <= 3.0 for one, other in pairs)
    try:
        picks = composed(state_of(seed), 2, 4, terms).picks
    except TermsUnmet:
        picks = np.zeros(0, dtype=np.int64)
    assert (len(picks) >= 2) == possible
    assert len(set(column[picks].tolist())) <= 1


def unrelated(means: list[float]) -> State:
    """Candidates that say nothing of each other, each with its own mean; the last one is measured, and is worth 0."""
    n = len(means)
    state = start(np.eye(n + 1), EngineSettings(Linear(), lam=1.0, xi=0.1, F=1.0))
    state = measure(state, [n], [0.0])
    return state.replace(mean=np.append(means, 0.0), available=np.append(np.ones(n, dtype=bool), False))


@given(
    gains=st.lists(st.floats(0.01, 10.0), min_size=1, max_size=8),
    data=st.data(),
    budget=st.floats(1.0, 20.0),
    time=st.none() | st.floats(1.0, 20.0),
    size=st.integers(1, 8),
)
@settings(deadline=None, max_examples=100)
def test_of_independent_candidates_the_batch_is_within_its_factor_of_the_best(
    gains: list[float], data: st.DataObject, budget: float, time: float | None, size: int
) -> None:
    state, n = unrelated(gains), len(gains)
    drawn = st.lists(st.floats(0.0, 20.0), min_size=n, max_size=n)
    limits = [("budget", budget)] + ([] if time is None else [("time", time)])
    allowances = tuple(Allowance(name, np.array([*data.draw(drawn), 0.0]), most) for name, most in limits)  # type: ignore[arg-type]

    def fits(picks: tuple[int, ...]) -> bool:
        return all(allowance.amounts[list(picks)].sum() <= allowance.most for allowance in allowances)

    promise = [gain + float(once_each(state, Ask(1, 1, 1)).alpha) * 1.0 for gain in gains]
    subsets = (picks for count in range(1, size + 1) for picks in combinations(range(n), min(count, n)))
    best = max((sum(promise[pick] for pick in picks) for picks in subsets if fits(picks)), default=0.0)
    try:
        batch = composed(state, 1, size, Terms(allowances=allowances))
    except TermsUnmet:
        assert best == 0.0
        return
    assert best == pytest.approx(0.0) or batch.ucb.sum() >= best / (2 * (len(allowances) + 1)) - 1e-9


def test_many_cheap_candidates_are_better_than_one_that_takes_all() -> None:
    """By promise alone the batch would be the dear one; per cost it is the others, which promise more together."""
    state = unrelated([5.0, 4.0, 4.0, 4.0])
    costs = np.array([9.0, 3.0, 3.0, 3.0, 0.0])
    assert composed(state, 1, 4, Terms(allowances=(Allowance("budget", costs, 9.0),))).picks.tolist() == [1, 2, 3]


def test_one_dear_candidate_is_better_than_a_cheap_one_that_leaves_no_room_for_it() -> None:
    """Per cost the batch would be the cheap one."""
    state = unrelated([5.0, 1.0])
    costs = np.array([9.0, 0.5, 0.0])
    assert composed(state, 1, 1, Terms(allowances=(Allowance("budget", costs, 9.0),))).picks.tolist() == [0]


def test_the_best_candidate_is_left_out_if_it_leaves_no_room_for_a_second() -> None:
    state = unrelated([10.0, 1.0, 1.0])
    costs = np.array([5.0, 2.0, 4.0, 0.0])
    terms = Terms(allowances=(Allowance("budget", costs, 6.0),))
    assert composed(state, 1, 2, terms).picks.tolist() == [0]
    assert sorted(composed(state, 2, 2, terms).picks.tolist()) == [1, 2]


def test_a_budget_for_nothing_says_what_the_cheapest_costs() -> None:
    terms = Terms(allowances=(Allowance("budget", np.full(A, 4.5), 4.0),))
    with pytest.raises(TermsUnmet, match=r"costs 4\.5, and `budget` leaves 4"):
        composed(state_of(0), 1, 3, terms)


def test_what_adds_up_to_the_budget_fits_it() -> None:
    """0.1 + 0.1 + 0.1 is 0.30000000000000004."""
    terms = Terms(allowances=(Allowance("budget", np.full(A, 0.1), 0.3),))
    assert len(composed(state_of(0), 1, 5, terms).picks) == 3
