"""A peer as a policy of the labs: told what is new, asked, and asked for its recommendation."""

import numpy as np

from app.arrays import IndexArray
from app.engine.auto import Observed
from benchmarks.labs.policies import Policy, common_start, sign_of
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.tables import Table
from benchmarks.peers.link import Link, given


class Peer(Policy):
    """Begins with the common first batch."""

    def __init__(self, link: Link, variant: str, table: Table, protocol: Protocol, seed: int) -> None:
        self._link, self._sign, self._told = link, sign_of(table), 0
        self._first = common_start(table, protocol, seed)
        link.start(variant=variant, noisy=protocol.noisy, seed=seed, **given(table))

    def ask(self, observed: Observed, size: int) -> IndexArray:
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
