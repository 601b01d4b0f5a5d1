"""Shards that other processes hold: the same bits as shards of this one, and nothing kept that nobody refers to."""

import gc
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine import Ask, EngineSettings, TimeLimitReached, add_candidates, choose, measure, start
from app.engine.embedding import Rows
from app.engine.kernels import Gaussian, Matern
from app.engine.remote_shards import RemoteShard, ShardStore, Spread, spread_over
from tests.engine.test_shards import RULES, VECTORS, divisions, lived, stories


def travelled(value: Any) -> Any:
    """A value as another process gets it: its arrays are read-only."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=[bytes(buffer) for buffer in buffers])  # noqa: S301


class Elsewhere:
    """A host whose arguments and answers travel as bytes."""

    def __init__(self) -> None:
        self.store = ShardStore()
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.calls.append(name)
            return travelled(getattr(self.store, name)(*travelled(arguments)))

        return call


def elsewhere(hosts: list[Elsewhere], least: int = 0) -> Spread:
    return Spread(lambda: hosts, least)


@pytest.fixture
def hosts() -> list[Elsewhere]:
    return [Elsewhere(), Elsewhere()]


@pytest.mark.parametrize("rule", RULES)
@given(
    division=divisions(),
    story=stories(),
    seed=st.integers(0, 50),
    hosts=st.integers(1, 3),
    precision=st.sampled_from(["float64", "float32"]),
    resparsify=st.sampled_from(["strict", "lazy"]),
)
@settings(max_examples=15, deadline=None)
def test_shards_elsewhere_give_the_same_bits(
    rule: str,
    division: tuple[int, int],
    story: list[tuple[Any, ...]],
    seed: int,
    hosts: int,
    precision: str,
    resparsify: str,
) -> None:
    A, shard = division
    X = np.random.default_rng(seed).random((A, 2))
    given_settings = EngineSettings(
        Gaussian(0.4),
        lam=0.05,
        xi=0.1,
        rule=rule,
        resparsify=resparsify,
        seed=seed,
        shard=shard,
        precision=precision,
    )
    here, expected = lived(X, given_settings, story)
    with spread_over(elsewhere([Elsewhere() for _ in range(hosts)])):
        there, batches = lived(X, given_settings, story)
    assert all(isinstance(one, RemoteShard) for one in there.embedding.shards)
    assert there.embedding.starts == here.embedding.starts
    for name in (*VECTORS, "Z"):
        assert np.array_equal(getattr(there, name), getattr(here, name)), name
    assert [batch.picks.tolist() for batch in batches] == [batch.picks.tolist() for batch in expected]
    assert [batch.ucb.tolist() for batch in batches] == [batch.ucb.tolist() for batch in expected]
    assert there.rescues == here.rescues


def test_only_long_lists_in_shards_are_spread(hosts: list[Elsewhere]) -> None:
    X = np.random.default_rng(0).random((60, 2))
    settings_of = EngineSettings(Gaussian(0.4))
    with spread_over(elsewhere(hosts, least=60)):
        assert isinstance(start(X, settings_of).embedding.shards[0], Rows)
        assert isinstance(start(X[1:], replace(settings_of, shard=20)).embedding.shards[0], Rows)
        state = start(X, replace(settings_of, shard=20))
    assert not state.embedding.is_here
    assert [len(host.store) for host in hosts] == [2, 1]


def test_more_candidates_go_where_the_others_are(hosts: list[Elsewhere]) -> None:
    X = np.random.default_rng(0).random((60, 2))
    settings_of = EngineSettings(Gaussian(0.4), shard=25)
    with spread_over(elsewhere(hosts, least=60)):
        far = add_candidates(measure(start(X, settings_of), [3], [1.0]), X[:4] + 0.01)
        near = add_candidates(measure(start(X[:50], settings_of), [3], [1.0]), X[:20] + 0.01)
    assert (far.embedding.is_here, near.embedding.is_here) == (False, True)


def test_hosts_forget_what_nobody_refers_to(hosts: list[Elsewhere]) -> None:
    X = np.random.default_rng(1).random((90, 3))
    with spread_over(elsewhere(hosts)):
        state = start(X, EngineSettings(Matern(0.5, 2.5), lam=0.05, xi=0.1, shard=30))
        for number in range(6):
            batch = choose(state, Ask(number, max_size=4))
            state = measure(state, batch.picks, np.sin(X[batch.picks, 0]))
        gc.collect()
        assert sum(len(host.store) for host in hosts) == 3
        del state
    gc.collect()
    assert sum(len(host.store) for host in hosts) == 0


def test_what_was_interrupted_is_forgotten(hosts: list[Elsewhere], monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(1).random((90, 3))
    sweep = ShardStore.sweep

    def late(self: ShardStore, *arguments: Any) -> Any:
        sweep(self, *arguments)
        raise TimeLimitReached

    with spread_over(elsewhere(hosts)):
        state = start(X, EngineSettings(Gaussian(0.4), lam=0.05, shard=30))
        held = sum(len(host.store) for host in hosts)
        monkeypatch.setattr(ShardStore, "sweep", late)
        with pytest.raises(TimeLimitReached):
            measure(state, [1], [1.0])
    gc.collect()
    assert sum(len(host.store) for host in hosts) == held == 3


def test_the_embedding_of_a_list_never_travels(hosts: list[Elsewhere]) -> None:
    X = np.random.default_rng(1).random((90, 3))
    with spread_over(elsewhere(hosts)):
        state = measure(start(X, EngineSettings(Gaussian(0.4), lam=0.05, shard=30)), [1, 40, 80], [1.0, 2.0, 3.0])
        batch = choose(state, Ask(1, max_size=4))
        for host in hosts:
            host.calls.clear()
        measure(state, batch.picks, [1.0] * len(batch.picks))
    assert {"sweep", "columns"} <= set(hosts[0].calls) <= {"sweep", "columns", "kernel_columns", "forget"}
