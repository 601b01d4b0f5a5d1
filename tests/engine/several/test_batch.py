"""Batches for several posteriors: one posterior alone is the engine's own batch; bounds, limits and rules hold."""

from dataclasses import replace

import numpy as np
import pytest

from app.arrays import FloatArray
from app.engine import Ask, EngineSettings, State, choose, expect, measure, start
from app.engine.kernels import Gaussian
from app.engine.several import Aim, Aims, Bound, QuantityPosterior, batch, choose_for


def state(hallucination: str, seed: int = 0, sign: float = 1.0) -> State:
    rng = np.random.default_rng(seed)
    X = np.random.default_rng(5).random((300, 3))
    settings = EngineSettings(
        Gaussian(0.4), lam=0.05, xi=0.2, dictionary="all", hallucination=hallucination, threshold=3.0, seed=1
    )
    measured = np.random.default_rng(7).choice(300, 25, replace=False)
    values = sign * np.sin(4 * X[measured]).sum(axis=1) + 0.1 * rng.standard_normal(25)
    return measure(start(X, settings), measured, values)


def aims(*states: State, bounds: tuple[Bound, ...] = (), optimistic: bool = False) -> Aims:
    plain = Aims(tuple(Aim(number) for number in range(len(states))), bounds, optimistic=optimistic)
    return plain.scaled_by([known.mean for known in states], states[0].measured)


@pytest.mark.parametrize("hallucination", ["full", "projected"])
@pytest.mark.parametrize("pending", [False, True])
def test_a_batch_for_one_posterior_is_the_engines_own(hallucination: str, pending: bool) -> None:
    known = state(hallucination)
    if pending:
        known = expect(known, [3, 8], [2, 1])
    for ask in (Ask(1, 12, 12, alpha=0.5), Ask(1, 1, 12, alpha=0.5), Ask(2, 1, 6, limit=np.ones(300, dtype=int))):
        own = choose(known, ask)
        several = choose_for([QuantityPosterior(known, ask.alpha)], aims(known), known, ask)
        assert several.picks.tolist() == own.picks.tolist()
        assert several.ended == own.ended
        assert several.ratio_bound == pytest.approx(own.ratio_bound)


def test_the_first_rule_that_breaks_ends_the_batch() -> None:
    calm, wild = state("full"), state("full", seed=1)
    wild = wild.replace(settings=wild.settings.replace(threshold=1.0))
    posteriors = [QuantityPosterior(calm, 0.5), QuantityPosterior(wild, 0.5)]
    batch = choose_for(posteriors, aims(calm, wild), calm, Ask(1, 1, 20))
    assert (batch.ended, len(batch.picks)) == ("rule", 1)


def test_a_batch_is_a_pure_function_and_seeks_all_parts_of_the_front() -> None:
    up, down = state("full"), state("full", seed=2, sign=-1.0)
    posteriors = [QuantityPosterior(up, 0.5), QuantityPosterior(down, 0.5)]
    ask = Ask(4, 20, 20, limit=np.ones(300, dtype=int))
    batch = choose_for(posteriors, aims(up, down), up, ask)
    assert np.array_equal(batch.picks, choose_for(posteriors, aims(up, down), up, ask).picks)
    assert len(set(batch.picks.tolist())) == 20
    chosen = up.mean[batch.picks]
    assert np.ptp(chosen) > 0.5 * np.ptp(up.mean)


def test_the_optimistic_set_holds_what_may_be_feasible() -> None:
    goal, limited = state("full"), state("full", seed=3, sign=-1.0)
    bound = Bound(1, low=float(np.quantile(limited.mean, 0.7)))
    posteriors = [QuantityPosterior(goal, 0.1), QuantityPosterior(limited, 0.1)]
    only_goal = Aims((Aim(0),), (bound,), optimistic=True).scaled_by([goal.mean, limited.mean], goal.measured)
    batch = choose_for(posteriors, only_goal, goal, Ask(1, 10, 10))
    width = 0.1 * np.sqrt(limited.leverage)
    assert (limited.mean + width)[batch.picks].min() >= bound.low


def test_with_nothing_feasible_the_nearest_is_chosen() -> None:
    goal, limited = state("full"), state("full", seed=3)
    bound = Bound(1, low=1e6)
    only_goal = Aims((Aim(0),), (bound,), optimistic=True).scaled_by([goal.mean, limited.mean], goal.measured)
    batch = choose_for([QuantityPosterior(goal, 0.1), QuantityPosterior(limited, 0.1)], only_goal, goal, Ask(1, 1, 1))
    assert batch.picks[0] == np.argmax(limited.mean + 0.1 * np.sqrt(limited.leverage))


def test_with_nothing_feasible_left_the_nearest_of_the_rest_is_chosen() -> None:
    goal, limited = state("full"), state("full", seed=3, sign=-1.0)
    bound = Bound(1, low=float(np.quantile(limited.mean, 0.9)))
    ucb = limited.mean + 0.1 * np.sqrt(limited.leverage)
    left = np.where(ucb >= bound.low, 0, 1)
    left[np.flatnonzero(ucb >= bound.low)[:2]] = 1
    only_goal = Aims((Aim(0),), (bound,), optimistic=True).scaled_by([goal.mean, limited.mean], goal.measured)
    posteriors = [QuantityPosterior(goal, 0.1), QuantityPosterior(limited, 0.1)]
    chosen = choose_for(posteriors, only_goal, goal, Ask(1, 4, 4, limit=left)).picks
    assert set(chosen[:2]) == set(np.flatnonzero(ucb >= bound.low)[:2])
    closed = choose_for(posteriors, only_goal, goal, Ask(1, 1, 1, limit=np.where(ucb >= bound.low, 0, 1))).picks
    assert closed.tolist() == [int(np.argmax(np.where(ucb < bound.low, ucb, -np.inf)))]
    assert len(chosen) == 4


def test_a_plateau_stalls_nothing() -> None:
    """Every value is 0: no objective has a range, and a batch comes all the same."""
    flat = start(state("full").X, state("full").settings)
    flat = measure(flat, np.arange(10), np.zeros(10))
    posteriors = [QuantityPosterior(flat, 1.0)] * 2
    batch = choose_for(posteriors, aims(flat, flat), flat, Ask(1, 5, 5, limit=np.ones(300, dtype=int)))
    assert len(set(batch.picks.tolist())) == 5


def test_a_target_is_approached_from_both_sides() -> None:
    aim = Aim(0, target=0.5)
    assert aim.utility(np.array([0.4, 0.5, 0.6])) == pytest.approx([-0.1, 0.0, -0.1])
    assert aim.utility(np.array([0.0]), np.array([0.2])) == pytest.approx([-0.3])


@pytest.mark.parametrize("hallucination", ["full", "projected"])
@pytest.mark.parametrize("narrow", [True, False])
def test_a_short_list_makes_the_same_choices_as_the_whole(
    hallucination: str, narrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where many candidates are alike, so that the list has to grow or does not do."""
    rng = np.random.default_rng(3)
    scale = 0.02 if narrow else 1.0
    X = 0.5 + scale * (rng.random((600, 3)) - 0.5)
    known = [_grown(X, hallucination, seed) for seed in (1, 2, 3)]
    known = [expect(posterior, [5, 9], [1, 2]) for posterior in known]
    posteriors = [QuantityPosterior(posterior, 0.5) for posterior in known]
    aimed = replace(aims(*known), success=rng.random(600))
    near = []
    monkeypatch.setattr(batch, "SHORTEST_LIST", 600)
    monkeypatch.setattr(batch, "LENGTHS", (4, 32))
    choose_near = batch._choose_near
    monkeypatch.setattr(batch, "_choose_near", lambda *given: near.append(choose_near(*given)) or near[-1])
    for number in range(1, 9):
        ask = Ask(number, 6, 6, limit=np.where(np.arange(600) % 7, 1, 0))
        whole = batch._choose_from_all(posteriors, aimed, known[0], ask)
        chosen = choose_for(posteriors, aimed, known[0], ask)
        assert chosen.picks.tolist() == whole.picks.tolist()
        assert chosen.ucb == pytest.approx(whole.ucb)
        assert (chosen.ended, chosen.ratio_bound) == (whole.ended, pytest.approx(whole.ratio_bound))
    assert any(selection is None for selection in near)
    assert narrow or any(selection is not None for selection in near)


def _grown(X: FloatArray, hallucination: str, seed: int) -> State:
    rng = np.random.default_rng(seed)
    settings = EngineSettings(Gaussian(0.4), lam=0.05, dictionary="all", hallucination=hallucination, seed=1)
    measured = rng.choice(600, 25, replace=False)
    return measure(start(X, settings), measured, np.sin((seed + 3) * X[measured]).sum(axis=1))
