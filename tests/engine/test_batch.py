"""Batches against naive loops that look at every candidate at every step (Algorithm 1)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine import Ask, EngineSettings, State, alpha, beta, choose, expect, measure, start
from app.engine import shortlist as shortlist_module
from app.engine.kernels import Gaussian
from tests.engine import oracle, oracle_runs
from tests.engine.problems import Lab, lab, labs, switched_off

RULES = ["global", "local", "exact", "product", "sequential"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_algorithm_1_chooses_what_the_naive_loop_chooses(rule: str, seed: int) -> None:
    made = lab(seed, rule=rule)
    expected = oracle_runs.algorithm_1(made.oracle(), rule, [0, 1], 100)
    state, batches = made.run([0, 1], 100)
    assert batches == expected.batches
    assert sorted(state.S) == expected.S


@pytest.mark.parametrize("rule", ["global", "exact"])
def test_a_short_shortlist_chooses_the_same(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = lab(5, A=60, rule=rule)
    _, batches = made.run([0, 1], 150)
    monkeypatch.setattr(shortlist_module, "FIRST_LENGTH", 2)
    assert made.run([0, 1], 150)[1] == batches


def naive(state: State, width: float, size: int, limit: np.ndarray, pending: list[int]) -> list[int]:
    """The greedy loop from dense formulas, the dictionary frozen, ties (to nine digits) to the smallest number."""
    s = state.settings
    K, S = s.kernel.matrix(state.X, state.X), state.S.tolist()
    rows = np.repeat(np.arange(len(state.X)), state.counts).tolist()
    left, picks = limit.copy(), []
    while len(picks) < size and (left > 0).any():
        joined = [*rows, *pending, *picks]
        if s.hallucination == "full":
            cov = oracle.nystrom_posterior(K, S, rows, np.zeros(len(rows)), s.lam).cov
            B = [*pending, *picks]
            after = cov - cov[:, B] @ np.linalg.solve(np.eye(len(B)) + cov[np.ix_(B, B)], cov[B])
            leverage = after.diagonal()
        else:
            leverage = oracle.nystrom_leverage(K, S, joined, s.lam)
        ucb = np.where(left > 0, state.mean + width * np.sqrt(np.maximum(leverage, 0)), -np.inf)
        best = int(np.flatnonzero(ucb >= ucb.max() - 3e-9 * (abs(ucb.max()) + 1e-12))[0])
        picks.append(best)
        left[best] -= 1
    return picks


def assert_as_good(state: State, picks: list[int], expected: list[int], width: float) -> None:
    """The same choices; where they part, the two candidates must be equally good to seven digits."""
    for step, (got, want) in enumerate(zip(picks, expected, strict=True)):
        if got != want:
            ucb = naive_ucb(state, picks[:step], width)
            assert ucb[got] == pytest.approx(ucb[want], rel=1e-7, abs=1e-9)
            return


def naive_ucb(state: State, picks: list[int], width: float) -> np.ndarray:
    s = state.settings
    K = s.kernel.matrix(state.X, state.X)
    rows = np.repeat(np.arange(len(state.X)), state.counts).tolist()
    cov = oracle.nystrom_posterior(K, state.S.tolist(), rows, np.zeros(len(rows)), s.lam).cov
    leverage = cov.diagonal()
    if s.hallucination == "full":
        leverage = (
            cov - cov[:, picks] @ np.linalg.solve(np.eye(len(picks)) + cov[np.ix_(picks, picks)], cov[picks])
        ).diagonal()
    else:
        leverage = oracle.nystrom_leverage(K, state.S.tolist(), [*rows, *picks], s.lam)
    ucb: np.ndarray = state.mean + width * np.sqrt(np.maximum(leverage, 0))
    return ucb


@given(labs(), st.integers(0, 2), st.sampled_from([0.0, 0.3, 3.0]), st.sampled_from(["projected", "full"]))
@settings(max_examples=60, deadline=None)
def test_lazy_and_run_length_paths_choose_what_the_naive_loop_chooses(
    made: Lab, most: int, width: float, hallucination: str
) -> None:
    made = Lab(made.X, made.f, made.noise, made.settings.replace(hallucination=hallucination))
    state = made.begin([0, 1, 2])
    limit = np.full(len(made.X), most or 1000)
    expected = naive(state, width, 12, limit, [])
    batch = choose(state, Ask(min_size=12, max_size=12, alpha=width, limit=limit))
    assert_as_good(state, batch.picks.tolist(), expected, width)


def test_duplicates_are_ties_and_go_to_the_smallest_number() -> None:
    rng = np.random.default_rng(0)
    X = np.tile(rng.random((10, 3)), (5, 1))
    made = lab(A=50, d=3)
    state = measure(start(X, made.settings), [3, 4], [1.0, 0.5])
    batch = choose(state, Ask(min_size=30, max_size=30))
    assert batch.picks.max() < 10


def test_a_tie_with_a_candidate_outside_the_shortlist_goes_to_the_smaller_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shortlist_module, "FIRST_LENGTH", 2)
    far_apart = 100.0 * np.arange(10)[:, None]
    exact = EngineSettings(kernel=Gaussian(1.0), lam=1.0, dictionary="all", hallucination="full")
    state = measure(start(far_apart, exact), np.arange(9), np.zeros(9))
    limit = np.array([1] * 9 + [2])
    batch = choose(state, Ask(min_size=11, max_size=11, alpha=1.0, limit=limit))
    assert batch.picks.tolist() == [9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_a_run_is_as_long_as_single_choices_make_it() -> None:
    made = lab(A=3, lam=1.0, threshold=500.0)
    state = measure(made.begin([0, 1, 2]), [1] * 50, [20.0] * 50)
    batch = choose(state, Ask(max_size=2000))
    assert (batch.picks == 1).sum() > 500
    expected = naive(state, batch.alpha, 300, np.full(3, 10_000), [])
    assert batch.picks[:300].tolist() == expected


def test_pending_candidates_shrink_the_leverage_but_not_the_mean() -> None:
    made = lab()
    state = made.begin([0, 1, 2])
    waiting = expect(state, [5, 9], [2, 1])
    expected = naive(state, 1.0, 8, np.full(40, 1000), [5, 5, 9])
    assert choose(waiting, Ask(min_size=8, max_size=8, alpha=1.0)).picks.tolist() == expected
    assert (waiting.mean == state.mean).all()


@pytest.mark.parametrize("rule", ["global", "local", "exact", "product"])
def test_pending_candidates_are_the_first_members_of_the_batch_for_every_rule(rule: str) -> None:
    made = lab(rule=rule, lam=2.0)
    state, _ = made.run([0, 1, 2], 120)
    alone = choose(state)
    begun = expect(state, alone.picks[:-1])
    rest = choose(begun, Ask(alpha=alone.alpha))
    assert len(alone.picks) > 2
    assert rest.picks.tolist() == alone.picks[-1:].tolist()
    # The product depends a little on the order, and what is pending has lost its own.
    assert rest.ratio_bound == pytest.approx(alone.ratio_bound, rel=1e-3 if rule == "product" else 1e-6)


def test_too_many_pending_candidates_make_one_choice_without_guarantee() -> None:
    made = lab()
    state = expect(made.begin([0, 1, 2]), np.arange(40), 5)
    batch = choose(state)
    assert len(batch.picks) == 1
    assert not batch.guaranteed
    assert batch.ratio_bound > made.settings.threshold


def test_a_measured_candidate_is_no_longer_pending() -> None:
    state = expect(lab().begin([0]), [3, 4], [2, 1])
    assert measure(state, [3], [1.0]).pending[[3, 4]].tolist() == [1, 1]
    assert measure(state, [3], [1.0], expected=False).pending[[3, 4]].tolist() == [2, 1]
    assert expect(state, [3], [-2]).pending[[3, 4]].tolist() == [0, 1]


def test_candidates_switched_off_are_never_chosen() -> None:
    state = switched_off(lab().begin([0]), [1, 2, 3])
    batch = choose(state, Ask(min_size=60, max_size=60))
    assert not np.isin(batch.picks, [1, 2, 3]).any()
    assert choose(switched_off(state, np.arange(40))).ended == "exhausted"


def test_a_limit_of_one_never_chooses_twice_and_ends_when_nothing_is_left() -> None:
    state = lab().begin([0])
    batch = choose(state, Ask(min_size=100, max_size=100, limit=np.ones(40, dtype=np.int64)))
    assert sorted(batch.picks) == list(range(40))
    assert batch.ended == "exhausted"
    assert batch.numbers.tolist() == batch.picks.tolist()
    assert batch.repeats.tolist() == [1] * 40


def test_sizes_outrank_the_rule_and_the_batch_says_so() -> None:
    state = lab().begin([0])
    forced = choose(state, Ask(min_size=10, max_size=10))
    assert (len(forced.picks), forced.guaranteed, forced.ended) == (10, False, "rule")
    state, _ = lab(lam=5.0).run([0, 1], 100)
    cut = choose(state, Ask(max_size=2))
    assert (len(cut.picks), cut.guaranteed, cut.ended) == (2, True, "size")


def test_the_candidate_that_breaks_the_rule_is_the_last() -> None:
    state, _ = lab(lam=1.0).run([0, 1], 100)
    batch = choose(state)
    leverage = state.leverage[batch.picks]
    assert 1 + leverage[:-1].sum() <= 2 < 1 + leverage.sum()
    assert batch.ratio_bound == pytest.approx(1 + leverage[:-1].sum())
    assert batch.guaranteed


def test_alpha_is_beta_times_root_threshold_or_as_in_the_paper_times_threshold() -> None:
    for confidence, factor in (("tight", np.sqrt(3)), ("paper", 3)):
        state = lab(threshold=3.0, confidence=confidence).begin([0, 1])
        assert alpha(state) == pytest.approx(factor * beta(state))
        assert choose(state).alpha == alpha(state)


def test_the_ucb_of_a_batch_is_what_each_candidate_was_chosen_for() -> None:
    state = lab().begin([0, 1])
    batch = choose(state, Ask(min_size=5, max_size=5))
    for step, number in enumerate(batch.picks):
        ucb = naive_ucb(state, batch.picks[:step].tolist(), batch.alpha)
        assert batch.ucb[step] == pytest.approx(ucb[number])


def test_pending_repeats_of_one_candidate_are_counted_as_full_hallucination_sees_them() -> None:
    """A measured candidate teaches all about itself: six pending repeats are a factor of 1 + 6·leverage."""
    made = lab(lam=1.0, rule="product", dictionary="all", hallucination="full", threshold=10.0)
    state = expect(start(made.X, made.settings), [3], [6])
    batch = choose(state, Ask(max_size=1))
    assert batch.ratio_bound == pytest.approx(1 + 6 * made.K[3, 3])
