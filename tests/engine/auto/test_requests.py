"""What auto mode asks of the engine: first batches, limits and goals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine import Ask, Settings, State, choose, expect, measure, start, start_from, switch
from app.engine.arrays import Array
from app.engine.auto import (
    FeatureColumn,
    Layout,
    Observed,
    Options,
    alpha_for,
    begin,
    first_batch,
    first_size,
    fit,
    is_noisy,
    learn_encoding,
    limits_for,
    needs_refit,
    recommended,
    settings_for,
    spreading,
    sums_for,
    widely,
)
from app.engine.kernels import Gaussian

NONE = np.zeros(4, dtype=np.int64)


def clusters(rng: np.random.Generator) -> Array:
    """Ten candidates around each of five corners."""
    return np.repeat(np.eye(5) * 9, 10, axis=0) + rng.random((50, 5))


def nothing_known(X: Array) -> State:
    return start(X, Settings(Gaussian(1.0)))


@given(st.integers(1, 40), st.integers(1, 50), st.integers(1, 12), st.integers(0, 99))
def test_a_first_batch_has_distinct_free_candidates(size: int, A: int, cells: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, absent, out = rng.integers(0, 2, (A, 3)).astype(float), rng.random(A) < 0.3, rng.random(A) < 0.2
    state = expect(switch(nothing_known(X), np.flatnonzero(absent), False), np.flatnonzero(out))
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
    batch = widely(choose, state, Ask(1, 4, 4, alpha=0.1, limit=once), 5, seed)
    assert batch.spread == 3
    assert sorted(batch.picks[:3] // 10) == [2, 3, 4]
    assert len(set(batch.picks.tolist())) == 4
    fewer = widely(choose, state, Ask(1, 1, 2, alpha=0.1, limit=once), 5, seed)
    assert fewer.picks.tolist() == batch.picks[:2].tolist()
    assert (fewer.ended, fewer.spread, fewer.alpha) == ("size", 2, 0.1)


@pytest.mark.parametrize("before", [[3, 14, 25, 36, 47], list(range(10))])
def test_the_model_chooses_alone_where_every_part_is_seen_or_enough_is_known(before: list[int]) -> None:
    state = measure(nothing_known(clusters(np.random.default_rng(0))), before, np.arange(len(before)))
    ask = Ask(1, 4, 4, alpha=0.1)
    batch = widely(choose, state, ask, 5, 0)
    assert batch.spread == 0
    assert batch.picks.tolist() == choose(state, ask).picks.tolist()


@pytest.mark.parametrize("rows", [20_000, 50])
@pytest.mark.parametrize("seed", range(3))
def test_a_first_batch_of_our_own_needs_no_filling(seed: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a cell is a ring, whose middle is nearest to a candidate of another cell, and in a long list."""
    monkeypatch.setattr(spreading, "ROWS", rows)
    turn = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    ring, others = np.column_stack((np.cos(turn), np.sin(turn))), np.random.default_rng(seed).normal(size=(60, 2))
    state = nothing_known(np.concatenate([ring, others]))
    picks = first_batch(state, 5, 5, seed)
    assert widely(choose, measure(state, picks, np.arange(5.0)), Ask(1, 2, 2, alpha=0.1), 5, seed).spread == 0


def test_a_list_of_millions_is_looked_at_in_part() -> None:
    rng = np.random.default_rng(0)
    picks = first_batch(nothing_known(rng.random((50_000, 2))), 3_000, 5, 0)
    assert len(np.unique(picks)) == 3_000


def test_equal_rows_are_no_parts_of_a_list() -> None:
    state = nothing_known(np.zeros((20, 2)))
    assert len(first_batch(state, 6, 5, 0)) == 6
    known = measure(state, [4], [1.0])
    assert widely(choose, known, Ask(1, 3, 3, alpha=0.1), 5, 0).spread == 0


@pytest.mark.parametrize(("d", "size"), [(3, 5), (9, 5), (10, 10), (130, 10)])
def test_the_first_batch_is_larger_for_many_features(d: int, size: int) -> None:
    assert first_size(d) == size


def test_what_is_known_exactly_is_not_measured_again() -> None:
    observed, pending = Observed.of(4, [0, 1, 1], [1.0, 2, 3]), np.array([0, 0, 1, 0])
    assert limits_for(observed, pending, Options(), noisy=False).tolist() == [0, 0, 0, 1]
    assert limits_for(observed, pending, Options(), noisy=True).tolist() == [1, 0, 1, 1]
    assert limits_for(observed, pending, Options.of("production"), noisy=True).min() > 10**9


@pytest.mark.parametrize(
    ("values", "said", "noisy"),
    [([1.0, 2, 2], None, False), ([1.0, 2, 3], None, True), ([1.0, 2, 3], False, False), ([1.0, 2, 2], True, True)],
)
def test_noise_is_what_the_user_says_or_what_repeats_show(values: list[float], said: bool | None, noisy: bool) -> None:
    assert is_noisy(None, Observed.of(4, [0, 1, 1], values), Options(noisy=said)) is noisy


def test_goals_are_presets_that_can_be_changed() -> None:
    assert Options.of("explore").multiplier > Options.of("best").multiplier
    assert Options.of("production").repeats is None
    assert Options.of("best", multiplier=1.0).multiplier == 1.0
    assert Options.of(**Options.of("explore", noisy=True).describe()) == Options.of("explore", noisy=True)
    for wrong in ({"goal": "fame"}, {"goal": "best", "speed": 3}, {"goal": "best", "repeats": 0}):
        with pytest.raises(ValueError, match=r"unknown|required"):
            Options.of(**wrong)


def run(seed: int, batches: int = 5) -> tuple[Array, list[int]]:
    """A whole study of a mixed table, minimising, through the same calls the service makes."""
    rng = np.random.default_rng(1)
    columns = [
        FeatureColumn("t", "number"),
        FeatureColumn("dry", "boolean"),
        FeatureColumn("acid", "text", tuple("abc")),
    ]
    numbers = np.column_stack((rng.uniform(1, 300, 90), rng.integers(0, 2, 90)))
    codes = rng.integers(0, 3, (90, 1)).astype(np.int32)
    y = (np.log(numbers[:, 0]) - 3) ** 2 + numbers[:, 1] + codes[:, 0]
    encoding = learn_encoding(columns, numbers, codes)
    X, options, model = encoding.apply(numbers, codes), Options(noisy=False), None
    cells = first_size(X.shape[1])
    picks = first_batch(nothing_known(X), cells, cells, seed).tolist()
    for number in range(1, batches + 1):
        observed = Observed.of(90, picks, y[picks])
        if model is None or needs_refit(model, observed):
            model = fit(X, encoding.layout, observed, "minimize", model)
        state = begin(X, model, observed, options, seed)
        limit = limits_for(observed, state.pending, options, is_noisy(model, observed, options))
        batch = widely(choose, state, Ask(number, 4, 4, alpha=alpha_for(model, options), limit=limit), cells, seed)
        picks += batch.picks.tolist()
    return y, picks


@pytest.mark.parametrize("seed", range(3))
def test_a_study_of_a_mixed_table_finds_the_best_candidate_and_repeats_nothing(seed: int) -> None:
    y, picks = run(seed)
    assert len(set(picks)) == len(picks) == 25
    assert y[picks].min() <= np.sort(y)[1]
    assert run(seed)[1] == picks


def test_alpha_is_the_multiplier_in_posterior_standard_deviations() -> None:
    X = np.linspace(0, 1, 8)[:, None]
    observed = Observed.of(8, [0, 3, 5], [1.0, 2, 0])
    model = fit(X, Layout.of_numbers(1), observed, "maximize")
    state = start_from(X, settings_for(model, Options(), 0), *sums_for(model, observed))
    batch = choose(state, Ask(max_size=1, alpha=alpha_for(model, Options())))
    np.testing.assert_allclose(batch.ucb[0], (state.mean + 2 * np.sqrt(state.variance)).max(), rtol=1e-9)


@pytest.mark.parametrize("decades", [0.3, 3.0])
def test_a_long_history_has_a_dictionary_of_bounded_size(decades: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((1500, 3))
    observed = Observed.of(1500, np.arange(1200), np.sin(decades * X[:1200, 0]) + 0.01 * rng.normal(size=1200))
    model = fit(X, Layout.of_numbers(3), observed, "maximize")
    options = Options(members=60)
    state = begin(X, model, observed, options, seed=0)
    assert 30 <= len(state.S) <= 4 * options.members or state.settings.q_bar == 2.0
    again = begin(X, model, observed, options, seed=0)
    np.testing.assert_array_equal(again.mean, state.mean)
    truth = np.sin(decades * X[1200:, 0])
    error = model.objective.to_user(state.mean[1200:]) - truth
    assert np.sqrt((error**2).mean()) < 0.1 * truth.std()


def test_few_measurements_are_all_in_the_dictionary() -> None:
    X = np.linspace(0, 1, 8)[:, None]
    observed = Observed.of(8, [0, 3, 5], [1.0, 2, 0])
    model = fit(X, Layout.of_numbers(1), observed, "maximize")
    assert sorted(begin(X, model, observed, Options(), 0).S) == [0, 3, 5]


def test_the_best_value_is_recommended_without_noise_and_the_best_mean_with_it() -> None:
    """Two candidates that look alike gave 1.2 and 0, two others 1 and 1; nobody measured the last one."""
    X = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]])
    observed = Observed.of(5, [0, 1, 2, 3], [1.2, 0.0, 1.0, 1.0])
    model = fit(X, Layout.of_numbers(1), observed, "maximize")
    state = begin(X, model, observed, Options(), seed=0)

    def best(noisy: bool, among: list[int]) -> int | None:
        return recommended(state, model, observed, noisy, np.array(among))

    assert best(False, [0, 1, 2, 3, 4]) == 0
    assert best(True, [0, 1, 2, 3, 4]) in (2, 3)
    assert best(False, [1, 3, 4]) == 3
    assert best(True, [4]) is None
