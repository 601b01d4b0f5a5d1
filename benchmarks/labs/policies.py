"""Who chooses: a policy sees a table without its values, then the measurements so far."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from app.arrays import IndexArray
from app.engine import Ask, EngineSettings, State, choose, rng_at, start
from app.engine.auto import (
    AutoOptions,
    FittedModel,
    Observed,
    alpha_for,
    cell_count,
    first_batch,
    fit,
    is_noisy,
    learn_encoding,
    limits_for,
    needs_refit,
    next_batch,
    recommended,
    state_for,
    to_confirm,
)
from app.engine.kernels import Gaussian
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.tables import Table

FIRST = 5

CONFIRM = 3
"""Results that each of the best few has in the end, where a policy confirms them."""

LAST = 6
"""Results that this takes: two more of each of three candidates."""


class Policy(ABC):
    """One study under way."""

    @abstractmethod
    def ask(self, observed: Observed, size: int) -> IndexArray:
        """The next candidates, at most `size` of them unless it is the first batch."""

    @abstractmethod
    def recommend(self, observed: Observed) -> int:
        """The candidate to use in the end."""

    def processor(self) -> float:
        """Seconds of processor time used so far by what chooses: this process, unless it is another."""
        return time.process_time()


class Random(Policy):
    """Uniform, without replacement."""

    def __init__(self, table: Table, protocol: Protocol, seed: int) -> None:
        self._order, self._sign = rng_at(seed, "random", 0).permutation(len(table.truth)), sign_of(table)
        self._size = protocol.q

    def ask(self, observed: Observed, size: int) -> IndexArray:
        return self._order[observed.size : observed.size + size].astype(np.int64)

    def recommend(self, observed: Observed) -> int:
        return int(observed.numbers[np.argmax(self._sign * observed.values)])


class Auto(Policy):
    """Auto mode, called as the service calls it."""

    def __init__(self, table: Table, protocol: Protocol, seed: int, options: AutoOptions | None = None) -> None:
        self.options = options or AutoOptions(noisy=protocol.noisy)
        encoding = learn_encoding(table.columns, table.numbers, table.codes)
        self.X, self.layout = encoding.apply(table.numbers, table.codes), encoding.layout
        self.direction, self.seed, self.protocol = table.direction, seed, protocol
        self.model: FittedModel | None = None
        self.number = 0

    def ask(self, observed: Observed, size: int) -> IndexArray:
        cells = cell_count(self.X.shape[1])
        if observed.size == 0:
            nothing = start(self.X, EngineSettings(Gaussian(1.0), dictionary="none"))
            return first_batch(nothing, max(cells, self.protocol.q), cells, self.seed)
        self.number += 1
        state, model = self.state(observed)
        limit = limits_for(state, observed, self.options, is_noisy(observed, self.options))
        request = Ask(self.number, size, size, alpha=alpha_for(model, self.options), limit=limit)
        return next_batch(choose, state, observed, self.options, request, cells, self.seed).picks

    def recommend(self, observed: Observed) -> int:
        """As the certificate does."""
        state, model = self.state(observed)
        noisy = is_noisy(observed, self.options)
        best = recommended(state, model, observed, noisy, np.flatnonzero(observed.counts))
        if best is None:
            raise LookupError("nothing was measured")
        return best

    def state(self, observed: Observed) -> tuple[State, FittedModel]:
        """The posterior, with the model fitted anew if it is time."""
        if self.model is None or needs_refit(self.model, observed):
            self.model = fit(self.X, self.layout, observed, self.direction, self.model)
        return state_for(self.X, self.model, observed, self.options, self.seed), self.model


class Confirming(Auto):
    """Auto mode, not told about noise, that spends the last results of the same T on the best few: `confirm: 3`."""

    def __init__(self, table: Table, protocol: Protocol, seed: int) -> None:
        super().__init__(table, protocol, seed, AutoOptions())

    def ask(self, observed: Observed, size: int) -> IndexArray:
        if observed.size >= self.protocol.T - max(LAST, self.protocol.q):
            state, model = self.state(observed)
            measured = np.flatnonzero(observed.counts)
            again = to_confirm(state, model, observed, self.options, measured, CONFIRM)
            if len(again):
                return again[:size]
        return super().ask(observed, size)


def common_start(table: Table, protocol: Protocol, seed: int) -> IndexArray:
    """A first batch at random, at least FIRST, that everybody can be given."""
    order = rng_at(seed, f"first {table.name}", 0).permutation(len(table.truth))
    return order[: max(FIRST, protocol.q)].astype(np.int64)


def sign_of(table: Table) -> float:
    """What makes larger values better."""
    return 1.0 if table.direction == "maximize" else -1.0


def unsaid(table: Table, protocol: Protocol, seed: int) -> Auto:
    """Auto mode that is not told whether measurements are noisy."""
    return Auto(table, protocol, seed, AutoOptions())


MakePolicy = Callable[[Table, Protocol, int], Policy]
POLICIES: dict[str, MakePolicy] = {
    "random": Random,
    "auto": Auto,
    "auto, noise unsaid": unsaid,
    "auto, confirmed": Confirming,
}
