"""A list in shards: the same choices as a list in one piece, whatever the division, the rule and the history."""

from dataclasses import replace
from threading import Barrier
from time import sleep
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.arrays import FloatArray
from app.engine import (
    ALGORITHMS,
    Ask,
    EngineSettings,
    Selection,
    State,
    add_candidates,
    algorithm_named,
    choose,
    confidence_bounds,
    design,
    expect,
    load,
    measure,
    revise,
    save,
    start,
    time_limit,
)
from app.engine.blocks import BLOCK, FEWEST_COLUMNS, each_block, sweep_threads
from app.engine.kernels import Gaussian, Matern
from app.engine.stability import Rescues
from app.engine.time_limit import TimeLimitReached

RULES = ("global", "local", "exact", "product", "sequential")
VECTORS = ("mean", "residual", "projected_leverage", "counts", "sums", "pending", "latest", "available", "S", "G", "w")


@st.composite
def divisions(draw: st.DrawFn) -> tuple[int, int]:
    """Candidates, and how many of them are in one shard."""
    A = draw(st.integers(2, 80))
    return A, draw(st.integers(1, A + 3))


@st.composite
def stories(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    """What happens to a study between two batches."""
    step = st.one_of(
        st.tuples(st.just("batch"), st.integers(1, 6)),
        st.tuples(st.just("pending"), st.integers(0, 10**6), st.integers(1, 3)),
        st.tuples(st.just("add"), st.integers(1, 30)),
        st.tuples(st.just("switch"), st.integers(0, 10**6)),
        st.tuples(st.just("revise")),
        st.tuples(st.just("save")),
    )
    return draw(st.lists(step, min_size=2, max_size=8))


def truth(X: FloatArray) -> FloatArray:
    return np.sin(5 * X[:, 0]) + X[:, -1]


def lived(X: FloatArray, given_settings: EngineSettings, story: list[tuple[Any, ...]]) -> tuple[State, list[Selection]]:
    """A study to which all that happens, and its batches."""
    state = measure(start(X, given_settings), [0, len(X) - 1], truth(X[[0, len(X) - 1]]))
    batches = [choose(state, Ask(max_size=5))]
    for number, (kind, *how) in enumerate(story):
        if kind == "batch":
            limit = np.full(len(state.X), 2)
            batches.append(choose(state, Ask(number, max_size=how[0], limit=limit)))
            state = measure(state, batches[-1].picks, truth(state.X[batches[-1].picks]), expected=False)
        elif kind == "pending":
            state = expect(state, [how[0] % len(state.X)], how[1])
        elif kind == "add":
            state = add_candidates(state, np.random.default_rng(number).random((how[0], X.shape[1])))
        elif kind == "switch":
            available = state.available.copy()
            available[how[0] % len(available)] ^= True
            state = state.replace(available=available)
        elif kind == "revise":
            state = revise(state, state.counts, state.sums * 1.5)
        else:
            state = load(save(state), state.X)
    return state, [*batches, choose(state, Ask(99, min_size=3, max_size=8))]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("hallucination", ["projected", "full"])
@given(division=divisions(), story=stories(), seed=st.integers(0, 50), q_bar=st.sampled_from([0.5, 2.0]))
@settings(max_examples=25, deadline=None)
def test_a_list_in_shards_gives_the_same_choices(
    rule: str, hallucination: str, division: tuple[int, int], story: list[tuple[Any, ...]], seed: int, q_bar: float
) -> None:
    A, shard = division
    X = np.random.default_rng(seed).random((A, 2))
    whole = EngineSettings(
        Gaussian(0.4),
        lam=0.05,
        xi=0.1,
        rule=rule,
        hallucination=hallucination,
        resparsify="strict",
        q_bar=q_bar,
        seed=seed,
    )
    one, expected = lived(X, whole, story)
    many, batches = lived(X, replace(whole, shard=shard), story)
    assert [batch.picks.tolist() for batch in batches] == [batch.picks.tolist() for batch in expected]
    assert [batch.ended for batch in batches] == [batch.ended for batch in expected]
    assert many.embedding.starts == tuple(range(0, len(many.X), shard))
    agree(many, one)


def agree(many: State, one: State) -> None:
    for name in VECTORS:
        assert np.allclose(getattr(many, name), getattr(one, name), rtol=1e-7, atol=1e-9), name
    assert np.allclose(many.Z, one.Z, atol=1e-7)
    assert np.allclose(confidence_bounds(many), confidence_bounds(one), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_chooses_the_same(name: str) -> None:
    algorithm = algorithm_named(name)
    X = np.random.default_rng(3).random((200, 3))
    base = algorithm.settings(EngineSettings(Matern(0.5, 2.5), lam=0.05, xi=0.1))
    picks = []
    for shard in (0, 64, 7):
        state = start(X, replace(base, shard=shard))
        state = measure(state, np.arange(0, 200, 9), truth(X[::9]))
        picks.append(algorithm.choose(state, Ask(1, max_size=6)).picks.tolist())
    assert picks[0] == picks[1] == picks[2]


@pytest.mark.parametrize("shard", [1, 16, 64, 1000])
def test_the_design_of_a_first_batch_too(shard: int) -> None:
    X = np.random.default_rng(3).random((100, 3))
    alike = [design(start(X, EngineSettings(Gaussian(0.5), shard=size)), Ask(max_size=9)) for size in (0, shard)]
    assert alike[0].picks.tolist() == alike[1].picks.tolist()


@pytest.mark.parametrize("shard", [0, 700])
def test_threads_change_no_bit(shard: int) -> None:
    X = np.random.default_rng(5).random((5_000, 4))
    lives = []
    for threads in (1, 2, 5):
        with sweep_threads(threads):
            settings = EngineSettings(Gaussian(0.4), lam=0.05, shard=shard, rule="local")
            lives.append(lived(X, settings, [("batch", 5)] * 4))
    for state, batches in lives[1:]:
        assert all(np.array_equal(getattr(state, name), getattr(lives[0][0], name)) for name in VECTORS)
        assert np.array_equal(state.Z, lives[0][0].Z)
        assert [batch.ucb.tolist() for batch in batches] == [batch.ucb.tolist() for batch in lives[0][1]]


def test_two_threads_share_the_blocks_of_one_list() -> None:
    """Each waits in its first block until the other has one, too."""
    both, taken = Barrier(2, timeout=30), []

    def work(block: slice, _rescues: Rescues) -> None:
        if block.start < 2 * FEWEST_COLUMNS:
            both.wait()
        taken.append(block)

    with sweep_threads(2):
        each_block(10 * FEWEST_COLUMNS + 1, BLOCK, work, Rescues())
    covered = np.concatenate([np.arange(block.start, block.stop) for block in taken])
    assert np.array_equal(np.sort(covered), np.arange(10 * FEWEST_COLUMNS + 1))


def test_one_shard_shares_memory_with_the_next_state_and_others_stay_untouched() -> None:
    X = np.random.default_rng(5).random((60, 2))
    state = measure(start(X, EngineSettings(Gaussian(0.4), shard=20, dictionary="all")), [0, 30], [1.0, 2.0])
    longer = add_candidates(state, X[:5])
    assert longer.embedding.starts == (0, 20, 40, 60)
    assert longer.embedding.shards[0] is state.embedding.shards[0]
    before = state.Z
    measure(state, [50], [3.0])
    assert np.array_equal(state.Z, before)


@pytest.mark.parametrize("threads", [1, 4])
def test_the_time_limit_and_rescues_hold_on_threads(threads: int) -> None:
    rescues, taken = Rescues(), []

    def work(block: slice, own: Rescues) -> None:
        own["values clipped"] += block.stop - block.start
        taken.append(block)

    with sweep_threads(threads):
        each_block(5_000, BLOCK, work, rescues)
        assert rescues == {"values clipped": 5_000}
        taken.clear()
        with pytest.raises(TimeLimitReached), time_limit(-1):
            each_block(5_000, BLOCK, work, rescues)
    assert not taken


@pytest.mark.parametrize("threads", [1, 4])
def test_an_error_in_one_block_ends_the_sweep(threads: int) -> None:
    taken = []

    def work(block: slice, _rescues: Rescues) -> None:
        taken.append(block)
        if block.start == 0:
            raise ArithmeticError
        sleep(0.005)

    with sweep_threads(threads), pytest.raises(ArithmeticError):
        each_block(1_000 * FEWEST_COLUMNS, BLOCK, work, Rescues())
    assert len(taken) < 900


def test_a_negative_shard_is_refused_and_none_is_not_described() -> None:
    with pytest.raises(ValueError, match="shard"):
        EngineSettings(Gaussian(1.0), shard=-1)
    assert "shard" not in EngineSettings(Gaussian(1.0)).describe()
    assert EngineSettings.build(EngineSettings(Gaussian(1.0), shard=9).describe()).shard == 9
