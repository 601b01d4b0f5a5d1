"""What holds for every baseline: the same seed gives the same batch, and nothing forbidden is chosen."""

import numpy as np
import pytest

from app.engine import Ask, Settings, State, expect, measure, member, start, switch
from app.engine.arrays import Array
from app.engine.kernels import Gaussian

NAMES = ["uniform", "epsilon-greedy", "thompson", "evolution"]
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(60, 2))
f: Array = -np.sum((X - 0.3) ** 2, axis=1)


def study(name: str, seed: int = 0, measured: int = 25) -> State:
    settings = member(name).settings(Settings(Gaussian(0.5), lam=0.01, xi=0.1, seed=seed))
    first = np.random.default_rng(1).permutation(60)[:measured]
    return measure(start(X, settings), first, f[first]) if measured else start(X, settings)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_and_number_give_the_same_batch_and_others_another(name: str) -> None:
    choose = member(name).choose
    batch = choose(study(name), Ask(3, min_size=20, max_size=20)).picks.tolist()
    assert choose(study(name), Ask(3, min_size=20, max_size=20)).picks.tolist() == batch
    assert choose(study(name, seed=1), Ask(3, min_size=20, max_size=20)).picks.tolist() != batch
    assert choose(study(name), Ask(4, min_size=20, max_size=20)).picks.tolist() != batch


@pytest.mark.parametrize("measured", [0, 5, 25])
@pytest.mark.parametrize("name", NAMES)
def test_candidates_switched_off_are_never_chosen(name: str, measured: int) -> None:
    state = switch(study(name, measured=measured), np.arange(55), available=False)
    assert set(member(name).choose(state, Ask(min_size=40, max_size=40)).picks.tolist()) <= set(range(55, 60))


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_of_one_gives_distinct_candidates_until_none_is_left(name: str) -> None:
    batch = member(name).choose(study(name), Ask(min_size=100, max_size=100, limit=np.ones(60, dtype=np.int64)))
    assert sorted(batch.picks.tolist()) == list(range(60))
    assert batch.ended == "exhausted"


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_has_the_least_size_asked_for_and_claims_no_guarantee(name: str) -> None:
    batch = member(name).choose(study(name), Ask(min_size=4, max_size=9))
    assert len(batch.picks) == len(batch.ucb) == 4
    assert batch.ended == "size"
    assert not batch.guaranteed


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_choose_gives_an_empty_batch(name: str) -> None:
    state = switch(study(name), np.arange(60), available=False)
    batch = member(name).choose(state, Ask(min_size=4, max_size=9))
    assert batch.picks.tolist() == []
    assert batch.ended == "exhausted"


@pytest.mark.parametrize("name", NAMES)
def test_pending_measurements_do_not_stop_a_baseline(name: str) -> None:
    state = expect(study(name), np.arange(60))
    assert len(member(name).choose(state, Ask(min_size=5, max_size=5)).picks) == 5
