"""A peer as a policy of the labs: told what is new, asked, and asked for its recommendation."""

import numpy as np

from app.engine import rng_at
from app.engine.arrays import Numbers
from app.engine.auto import Observed
from benchmarks.labs.policies import Policy, sign_of
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.tables import Table
from benchmarks.peers.link import Link, given

FIRST = 5
"""Least size of the first batch, drawn at random: the same for every peer."""


class Peer(Policy):
    def __init__(self, link: Link, variant: str, table: Table, protocol: Protocol, seed: int) -> None:
        self._link, self._sign, self._told = link, sign_of(table), 0
        first = rng_at(seed, f"first {table.name}", 0).permutation(len(table.truth))
        self._first = first[: max(FIRST, protocol.q)].astype(np.int64)
        link.start(variant=variant, noisy=protocol.noisy, seed=seed, **given(table))

    def ask(self, observed: Observed, size: int) -> Numbers:
        if observed.size == 0:
            return self._first
        self._tell(observed)
        return np.array(self._link.call("ask", q=size), dtype=np.int64)

    def recommend(self, observed: Observed) -> int:
        self._tell(observed)
        return int(self._link.call("recommend"))

    def processor(self) -> float:
        return self._link.processor

    def _tell(self, observed: Observed) -> None:
        new = slice(self._told, observed.size)
        values = self._sign * observed.values[new]
        self._link.call("tell", rows=observed.numbers[new].tolist(), values=values.tolist())
        self._told = observed.size
