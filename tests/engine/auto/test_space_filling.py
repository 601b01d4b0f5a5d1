"""A first batch that fills the space: something in every part of the list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.arrays import FloatArray
from app.engine import Ask, choose, expect, measure
from app.engine.auto import cell_count, fill_cells_then_choose, first_batch, space_filling
from tests.engine.problems import nothing_known, switched_off


def clusters(rng: np.random.Generator) -> FloatArray:
    """Ten candidates around each of five corners."""
    return np.repeat(np.eye(5) * 9, 10, axis=0) + rng.random((50, 5))


@given(st.integers(1, 40), st.integers(1, 50), st.integers(1, 12), st.integers(0, 99))
def test_a_first_batch_has_distinct_free_candidates(size: int, A: int, cells: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, absent, out = rng.integers(0, 2, (A, 3)).astype(float), rng.random(A) < 0.3, rng.random(A) < 0.2
    state = expect(switched_off(nothing_known(X), np.flatnonzero(absent)), np.flatnonzero(out))
    picks = first_batch(state, size, cells, seed)
    free = ~absent & ~out
    assert len(set(picks.tolist())) == len(picks) == min(size, free.sum())
    assert free[picks].all()
    np.testing.assert_array_equal(picks, first_batch(state, size, cells, seed))


@pytest.mark.parametrize("seed", range(5))
def test_a_first_batch_visits_every_cluster(seed: int) -> None:
    state = nothing_known(clusters(np.random.default_rng(seed)))
    assert sorted(first_batch(state, 5, 5, seed) // 10) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("seed", range(5))
def test_one_of_five_is_the_most_promising_and_still_every_cluster_is_visited(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state, promise = nothing_known(clusters(rng)), rng.random(50)
    promise[[7, 8, 23]] = 5.0, 4.0, 3.0
    picks = first_batch(state, 5, 5, seed, promise)
    assert picks[0] == 7
    assert sorted(picks // 10) == [0, 1, 2, 3, 4]
    middles = first_batch(state, 5, 5, seed)
    assert set(picks[1:].tolist()) == {pick for pick in middles.tolist() if pick // 10 != 0}


@given(st.integers(1, 40), st.integers(1, 50), st.integers(1, 12), st.integers(0, 99))
def test_whatever_is_promised_a_first_batch_has_distinct_free_candidates(
    size: int, A: int, cells: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X, absent, out = rng.integers(0, 2, (A, 3)).astype(float), rng.random(A) < 0.3, rng.random(A) < 0.2
    state = expect(switched_off(nothing_known(X), np.flatnonzero(absent)), np.flatnonzero(out))
    picks = first_batch(state, size, cells, seed, rng.integers(0, 3, A).astype(float))
    free = ~absent & ~out
    assert len(set(picks.tolist())) == len(picks) == min(size, free.sum())
    assert free[picks].all()


@pytest.mark.parametrize("seed", range(5))
def test_so_do_single_candidates_asked_for_in_a_row(seed: int) -> None:
    state, visited = nothing_known(clusters(np.random.default_rng(seed))), []
    for _ in range(5):
        picks = first_batch(state, 1, 5, seed)
        visited += (picks // 10).tolist()
        state = expect(state, picks)
    assert sorted(visited) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("seed", range(5))
def test_measurements_from_before_count_for_their_part_of_the_list(seed: int) -> None:
    before = [3, 14, 15]
    state = measure(nothing_known(clusters(np.random.default_rng(seed))), before, [1.0, 2.0, 3.0])
    once = np.where(np.isin(np.arange(50), before), 0, 1)
    batch = fill_cells_then_choose(choose, state, Ask(1, 4, 4, alpha=0.1, limit=once), 5, seed)
    assert batch.space_filling == 3
    assert sorted(batch.picks[:3] // 10) == [2, 3, 4]
    assert len(set(batch.picks.tolist())) == 4
    fewer = fill_cells_then_choose(choose, state, Ask(1, 1, 2, alpha=0.1, limit=once), 5, seed)
    assert fewer.picks.tolist() == batch.picks[:2].tolist()
    assert (fewer.ended, fewer.space_filling, fewer.alpha) == ("size", 2, 0.1)


@pytest.mark.parametrize("before", [[3, 14, 25, 36, 47], list(range(10))])
def test_the_model_chooses_alone_where_every_part_is_seen_or_enough_is_known(before: list[int]) -> None:
    state = measure(nothing_known(clusters(np.random.default_rng(0))), before, np.arange(len(before)))
    ask = Ask(1, 4, 4, alpha=0.1)
    batch = fill_cells_then_choose(choose, state, ask, 5, 0)
    assert batch.space_filling == 0
    assert batch.picks.tolist() == choose(state, ask).picks.tolist()


@pytest.mark.parametrize("rows", [20_000, 50])
@pytest.mark.parametrize("seed", range(3))
def test_a_first_batch_of_our_own_needs_no_filling(seed: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a cell is a ring, whose middle is nearest to a candidate of another cell, and in a long list."""
    monkeypatch.setattr(space_filling, "MOST_ROWS", rows)
    turn = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    ring, others = np.column_stack((np.cos(turn), np.sin(turn))), np.random.default_rng(seed).normal(size=(60, 2))
    state = nothing_known(np.concatenate([ring, others]))
    picks = first_batch(state, 5, 5, seed)
    assert (
        fill_cells_then_choose(
            choose, measure(state, picks, np.arange(5.0)), Ask(1, 2, 2, alpha=0.1), 5, seed
        ).space_filling
        == 0
    )


def test_a_list_of_millions_is_looked_at_in_part() -> None:
    rng = np.random.default_rng(0)
    picks = first_batch(nothing_known(rng.random((50_000, 2))), 3_000, 5, 0)
    assert len(np.unique(picks)) == 3_000


def test_equal_rows_are_no_parts_of_a_list() -> None:
    state = nothing_known(np.zeros((20, 2)))
    assert len(first_batch(state, 6, 5, 0)) == 6
    known = measure(state, [4], [1.0])
    assert fill_cells_then_choose(choose, known, Ask(1, 3, 3, alpha=0.1), 5, 0).space_filling == 0


@pytest.mark.parametrize(("d", "size"), [(3, 5), (9, 5), (10, 10), (130, 10)])
def test_the_first_batch_is_larger_for_many_features(d: int, size: int) -> None:
    assert cell_count(d) == size
