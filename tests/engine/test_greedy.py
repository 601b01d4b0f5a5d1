"""The dictionary chosen for the prediction, against a naive greedy loop and the exact posterior."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.arrays import FloatArray
from app.engine import EngineSettings, confidence, greedy, measure, start, start_from
from app.engine.greedy import RANKED, members_for
from app.engine.kernels import Gaussian, Matern
from app.engine.stability import Rescues
from tests.engine import oracle
from tests.engine.problems import Lab, lab, labs


def naive(K: FloatArray, counts: FloatArray, m: int) -> list[int]:
    """The largest counts·residual, m times, every residual from scratch."""
    chosen: list[int] = []
    for _ in range(m):
        K_S = K[np.ix_(chosen, chosen)]
        seen = np.einsum("si,si->i", K[chosen], np.linalg.solve(K_S, K[chosen])) if chosen else 0.0
        residual = K.diagonal() - seen
        residual[chosen] = -1.0
        chosen.append(int(np.argmax(residual * counts)))
    return chosen


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most", [1, 7, 30])
def test_the_members_are_those_of_the_naive_greedy_loop(seed: int, most: int) -> None:
    made = lab(seed, A=RANKED, d=3, kernel=Matern(0.4, 1.5), dictionary="greedy", members=most)
    counts = np.random.default_rng(seed).integers(1, 5, RANKED)
    state = start_from(made.X, made.settings, counts, counts * made.f)
    assert members_for(state, most, Rescues()).tolist() == naive(made.K, counts.astype(float), most)
    assert sorted(state.S) == sorted(naive(made.K, counts.astype(float), most))


def test_groups_leave_hardly_more_unseen_than_one_at_a_time() -> None:
    made = lab(A=400, d=4, kernel=Gaussian(0.5))
    state = start_from(made.X, made.settings.replace(dictionary="none"), np.ones(400, dtype=np.int64), made.f)

    def unseen(S: list[int]) -> float:
        return float(400 - np.einsum("si,si->", made.K[S], np.linalg.solve(made.K[np.ix_(S, S)], made.K[S])))

    one_at_a_time = unseen(naive(made.K, np.ones(400), 60))
    assert unseen(members_for(state, 60, Rescues()).tolist()) <= 1.1 * one_at_a_time
    assert unseen(list(range(60))) > 1.2 * one_at_a_time


@given(labs(dictionary="greedy", members=6))
@settings(max_examples=40, deadline=None)
def test_the_posterior_is_that_of_its_members_whatever_is_measured(made: Lab) -> None:
    state, _ = made.run([0, 1], 60)
    assert len(state.S) <= 6
    rows = np.repeat(np.arange(len(made.X)), state.counts).tolist()
    values = np.repeat(state.sums / np.maximum(state.counts, 1), state.counts)
    expected = oracle.nystrom_posterior(made.K, state.S.tolist(), rows, values, made.settings.lam)
    scale = made.K.diagonal().max()
    np.testing.assert_allclose(state.mean, expected.mean, atol=1e-6 * max(1.0, np.abs(values).max()))
    np.testing.assert_allclose(state.leverage, expected.leverage, rtol=1e-5, atol=1e-8 * scale / made.settings.lam)


def test_a_dictionary_that_is_not_full_is_exact() -> None:
    made = lab(dictionary="greedy", members=40)
    state, _ = made.run([0, 1], 60)
    rows = np.repeat(np.arange(40), state.counts).tolist()
    values = np.repeat(state.sums / np.maximum(state.counts, 1), state.counts)
    exact = oracle.exact_posterior(made.K, rows, values, made.settings.lam)
    np.testing.assert_allclose(state.mean, exact.mean, atol=1e-8)
    np.testing.assert_allclose(state.leverage, exact.leverage, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_lost_against_the_exact_posterior_is_small_and_less_than_by_a_draw(seed: int) -> None:
    made = lab(seed, A=500, d=3, kernel=Matern(0.7, 2.5), lam=0.05)
    counts = (np.arange(500) < 300).astype(np.int64)
    values = made.values(np.arange(300), 0)
    sums = np.concatenate((values, np.zeros(200)))
    exact = oracle.exact_posterior(made.K, list(range(300)), values, 0.05)

    def lost(**changes: object) -> tuple[float, int]:
        state = start_from(made.X, made.settings.replace(**changes), counts, sums)
        return float((np.abs(state.mean - exact.mean) / np.sqrt(0.05 * exact.leverage)).max()), len(state.S)

    drawn, size = lost(dictionary="sampled", q_bar=2.0)
    chosen, _ = lost(dictionary="greedy", members=size)
    assert chosen < 0.5
    assert chosen < drawn


def test_a_full_dictionary_is_chosen_anew_and_grows_again(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    original = greedy.members_for
    monkeypatch.setattr(greedy, "members_for", lambda *arguments: calls.append(1) or original(*arguments))
    made = lab(A=120, dictionary="greedy", members=20)
    state = start(made.X, made.settings)
    for number in range(60):
        state = measure(state, [number], [made.f[number]])
        assert len(state.S) <= 20
    assert 5 <= len(calls) <= 60 // 5


def test_of_very_many_measured_candidates_a_random_share_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greedy, "POOL", 3)
    monkeypatch.setattr(greedy, "LEAST_POOL", 10)
    made = lab(A=100, dictionary="greedy", members=10)
    state = start_from(made.X, made.settings, np.ones(100, dtype=np.int64), made.f)
    again = start_from(made.X, made.settings, np.ones(100, dtype=np.int64), made.f)
    assert len(state.S) == 10
    np.testing.assert_array_equal(state.S, again.S)


def test_twins_are_never_members_both() -> None:
    X = np.repeat(np.linspace(0, 1, 5)[:, None], 8, axis=0)
    settings = EngineSettings(Gaussian(0.2), lam=0.1, dictionary="greedy", members=30)
    state = start_from(X, settings, np.ones(40, dtype=np.int64), np.sin(5 * X[:, 0]))
    assert len(np.unique(X[state.S])) == len(state.S) == 5


@given(st.sampled_from(["tight", "paper"]))
@settings(max_examples=2, deadline=None)
def test_theorem_2_claims_nothing_of_a_greedy_dictionary(kind: str) -> None:
    state = lab(dictionary="greedy", confidence=kind, q_bar=None).begin([0, 1])
    assert not confidence.is_proven(state)
    assert confidence.is_proven(state.replace(settings=state.settings.replace(confidence="sharp")))
