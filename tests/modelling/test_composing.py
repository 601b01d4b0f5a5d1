"""Batches under terms, against brute force on small lists: never violated, never smaller than they must be."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.batches import Inclusion
from app.engine import Ask, EngineSettings, Selection, State, choose, measure, start
from app.engine.kernels import Gaussian
from app.engine.several import Aim, Aims, QuantityPosterior, choose_for, promises_of
from app.modelling.composing import compose
from app.modelling.terms import NO_TERMS, Grouping, Need, Terms

A = 9  # candidates: 512 subsets


def state_of(seed: int) -> State:
    rng = np.random.default_rng(seed)
    state = start(rng.random((A, 2)), EngineSettings(Gaussian(0.4), lam=0.05, xi=0.2, F=1.0))
    return measure(state, [0, 1], rng.normal(size=2))


def once_each(state: State, ask: Ask) -> Selection:
    """The engine's choice of candidates that nobody has on the bench; it never ends a batch by its rule."""
    limit = (state.pending == 0).astype(np.int64)
    return choose(state, replace(ask, min_size=ask.max_size, limit=limit))


def composed(state: State, least: int, most: int, terms: Terms) -> Selection:
    return compose(once_each, state, Ask(1, least, most), terms, state.mean + np.sqrt(state.leverage))


def fits(terms: Terms, picks: tuple[int, ...]) -> bool:
    """Whether a set of distinct candidates meets the terms: written down again, without the code under test."""
    if terms.where is not None and not all(terms.where[pick] or pick in _included(terms) for pick in picks):
        return False
    if terms.exclude is not None and set(picks) & set(terms.exclude.tolist()):
        return False
    if not _included(terms) <= set(picks):
        return False
    if terms.same is not None and len({terms.same[pick] for pick in picks}) > 1:
        return False
    if any(len({group.codes[pick] for pick in picks}) > group.most for group in terms.at_most):
        return False
    values = [[group.codes[pick] for pick in picks] for group in terms.per]
    return all(
        column.count(code) <= group.most for group, column in zip(terms.per, values, strict=True) for code in column
    )


def _included(terms: Terms) -> set[int]:
    return {inclusion.candidate for inclusion in terms.include}


codes = st.lists(st.integers(0, 3), min_size=A, max_size=A).map(lambda column: np.array(column, dtype=np.int64))
some = st.sets(st.integers(0, A - 1), max_size=3)


@st.composite
def any_terms(draw: st.DrawFn) -> Terms:
    one, other = draw(codes), draw(codes)
    include = tuple(Inclusion(number) for number in sorted(draw(st.sets(st.integers(0, A - 1), max_size=1))))
    exclude = draw(some) - {inclusion.candidate for inclusion in include}
    return Terms(
        where=draw(st.none() | st.lists(st.booleans(), min_size=A, max_size=A).map(np.array)),
        exclude=np.array(sorted(exclude), dtype=np.int64) if exclude else None,
        include=include,
        same=draw(st.none() | codes),
        at_most=draw(st.just(()) | st.integers(1, 3).map(lambda most: (Grouping("one", one, most),))),
        per=draw(st.just(()) | st.integers(1, 3).map(lambda most: (Grouping("other", other, most),))),
    )


@given(seed=st.integers(0, 50), terms=any_terms(), least=st.integers(1, 5), more=st.integers(0, 3))
@settings(deadline=None, max_examples=150)
def test_no_term_is_ever_violated(seed: int, terms: Terms, least: int, more: int) -> None:
    picks = tuple(composed(state_of(seed), least, least + more, terms).picks.tolist())
    assert len(set(picks)) == len(picks) <= least + more
    assert fits(terms, picks)


@given(
    seed=st.integers(0, 50),
    column=codes,
    most=st.integers(1, 3),
    per=st.none() | st.integers(1, 3),
    least=st.integers(1, 6),
    where=st.lists(st.booleans(), min_size=A, max_size=A).map(np.array),
)
@settings(deadline=None, max_examples=150)
def test_with_one_column_a_batch_is_too_small_only_if_it_must_be(
    seed: int, column: np.ndarray, most: int, per: int | None, least: int, where: np.ndarray
) -> None:
    limited = () if per is None else (Grouping("c", column, per),)
    terms = Terms(where=where, at_most=(Grouping("c", column, most),), per=limited)
    size = len(composed(state_of(seed), least, least, terms).picks)
    possible = any(fits(terms, picks) for picks in combinations(range(A), least))
    assert size == least if possible else size < least


@given(seed=st.integers(0, 50), column=codes, least=st.integers(1, 5))
@settings(deadline=None, max_examples=80)
def test_the_shared_value_is_the_one_that_promises_most(seed: int, column: np.ndarray, least: int) -> None:
    state = state_of(seed)
    selection = composed(state, least, least, replace(NO_TERMS, same=column))
    best = float(state.mean[state.measured].max())

    def promised(batch: Selection) -> tuple[bool, float]:
        if len(batch.picks) < least:
            return False, float(len(batch.picks))  # then the size counts, which the refusal names
        return True, float(np.maximum(batch.ucb - best, 0).sum())

    rivals = [composed(state, least, least, Terms(where=column == value)) for value in np.unique(column)]
    full, gain = promised(selection)
    assert all((full, gain + 1e-9) >= promised(rival) for rival in rivals)


@given(seed=st.integers(0, 50), least=st.integers(1, 6))
@settings(deadline=None, max_examples=40)
def test_terms_that_exclude_nothing_change_nothing(seed: int, least: int) -> None:
    """One candidate at a time under empty terms gives the batch that the engine chooses in one go."""
    state = state_of(seed)
    apart = Grouping("c", np.arange(A), 1)
    one_by_one = composed(state, least, least, Terms(at_most=(replace(apart, most=A),), per=(apart,)))
    assert one_by_one.picks.tolist() == composed(state, least, least, NO_TERMS).picks.tolist()


@st.composite
def two_columns(draw: st.DrawFn) -> Terms:
    """Two limits on two columns, perhaps with a third on what must be the same, or with a candidate of one's own."""
    groups = [Grouping(name, draw(codes), draw(st.integers(1, 3))) for name in ("one", "other")]
    limited = draw(st.integers(0, 2))  # so many of them are limited by `per`
    return Terms(
        where=draw(st.none() | st.lists(st.booleans(), min_size=A, max_size=A).map(np.array)),
        include=draw(st.just(()) | st.integers(0, A - 1).map(lambda number: (Inclusion(number),))),
        same=draw(st.none() | codes),
        per=tuple(groups[:limited]),
        at_most=tuple(groups[limited:]),
    )


@given(seed=st.integers(0, 50), terms=two_columns(), least=st.integers(1, 6))
@settings(deadline=None, max_examples=300)
def test_with_two_columns_too_a_batch_is_too_small_only_if_it_must_be(seed: int, terms: Terms, least: int) -> None:
    batch = composed(state_of(seed), least, least, terms)
    picks = tuple(batch.picks.tolist())
    sizes = range(least, 0, -1)
    largest = next((n for n in sizes if any(fits(terms, chosen) for chosen in combinations(range(A), n))), 0)
    assert fits(terms, picks) or largest == 0
    assert len(picks) == max(largest, len(terms.include))
    assert batch.is_largest


@pytest.mark.parametrize("seed", range(16))
def test_the_one_value_with_enough_room_is_found_among_many(seed: int) -> None:
    """Of sixteen values fifteen leave `per` with a single candidate, however many they have."""
    rng = np.random.default_rng(seed)
    value, feasible = np.repeat(np.arange(16), 3), seed
    kind = np.where(value == feasible, np.arange(48), -1 - value)
    state = start(rng.random((48, 2)), EngineSettings(Gaussian(0.4), lam=0.05, xi=0.2, F=1.0))
    state = measure(state, [0, 1], rng.normal(size=2))
    batch = composed(state, 3, 3, Terms(same=value, per=(Grouping("kind", kind, 1),)))
    assert sorted(value[batch.picks].tolist()) == [feasible] * 3


def test_a_list_with_too_many_kinds_is_not_searched_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.modelling.planning.MOST_KINDS", 2)
    apart = Grouping("c", np.arange(A), 1)
    batch = composed(state_of(1), A + 1, A + 1, Terms(per=(apart,), at_most=(replace(apart, most=4),)))
    assert (len(batch.picks), batch.is_largest) == (4, False)


@given(seed=st.integers(0, 500), column=codes, least=st.integers(1, 4))
@settings(deadline=None, max_examples=60)
def test_with_several_objectives_the_shared_value_is_the_one_of_the_highest_scores(
    seed: int, column: np.ndarray, least: int
) -> None:
    first, second = state_of(seed), state_of(seed + 1)
    posteriors = [QuantityPosterior(first, 0.3), QuantityPosterior(second, 0.3)]
    aims = Aims((Aim(0), Aim(1))).scaled_by([first.mean, second.mean], first.measured)

    def choose_once(state: State, ask: Ask) -> Selection:
        limit = (state.pending == 0).astype(np.int64)
        return choose_for(posteriors, aims, state, replace(ask, min_size=ask.max_size, limit=limit))

    def composed_for(terms: Terms) -> Selection:
        ask = Ask(1, least, least)
        promise = promises_of(posteriors, aims, first, ask)
        return compose(choose_once, first, ask, terms, promise, Need(least, reached=0.0))

    def promised(batch: Selection) -> tuple[bool, float]:
        if len(batch.picks) < least:
            return False, float(len(batch.picks))
        return True, float(np.maximum(batch.ucb, 0.0).sum())

    full, gain = promised(composed_for(Terms(same=column)))
    rivals = [composed_for(Terms(where=column == value)) for value in np.unique(column)]
    assert all((full, gain + 1e-9) >= promised(rival) for rival in rivals)
