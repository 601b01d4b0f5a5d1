"""A close look at the few candidates that may be chosen next; the others follow when they could matter, or are read.

After a batch hardly any candidate can be chosen next, and only for those need the posterior be known. So a state may
have a focus: the candidates `near` the top, with every measured one, are a small state of their own, over which the
verbs of the engine run as over any other. All candidates are brought up to date together, by one sweep for many
batches, when one outside could win.

What they could win with follows from the last sweep (0), the anchor. Members have only been added since, so in the
coordinates (z, z_D) of now the anchor's operator is V_0 ⊕ λI. In the norm of its inverse ‖(z, z_D)‖² ≤ leverage_0(x).

    mean(x) − mean_0(x) = Δᵀ(z, z_D) ≤ e·√leverage_0(x)       Δ = (θ − θ_0, θ_D),  e² = ‖θ − θ_0‖²_{V_0} + λ‖θ_D‖²
    leverage(x) ≤ g·leverage_0(x)                             if V ≽ (V_0 ⊕ λI)/g

New measurements only add to V. What a measurement of before gains with the new coordinates, v vᵀ + u vᵀ + v uᵀ for its
parts u = (z, 0) and v = (0, z_D), is at least −‖u‖‖v‖ (V_0 ⊕ λI) in that norm. Hence

    1/g = 1 − Σ_i counts_i·√(projected_leverage_0(x_i)·‖z_D(x_i)‖²/λ)     over what was measured before, but no members
    ucb(x) ≤ mean_0(x) + (e + alpha·√g)·√leverage_0(x)
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, cast

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine import sweep
from app.engine.confidence import alpha as theory_alpha
from app.engine.posterior import from_scratch, has_drifted, shrinkage
from app.engine.stability import SMALLEST, Rescues
from app.engine.state import SWEPT, State

SHORTEST_LIST = 8192
"""Shorter lists are always swept as a whole."""

FEWEST, SHARE = 1024, 1 / 64
"""How many candidates are near: at least so many, and this share of the list."""

WIDER = 1.3
"""They are those with the highest mean + WIDER·alpha·√leverage: uncertain ones may gain most until the next sweep."""

LASTING = 1.1
"""A focus begins only where it would still do if the bounds of all others were wider by this factor. Otherwise the
candidates are too much alike for any of them to be left for later."""

EARLIER = 0.8
"""Those outside who may be the highest are found for so much smaller a factor than the one asked for."""

ROUNDING = 1e-6
"""Bounds are raised by this share of the width: as far as leverages may drift before they are computed anew."""


class OutsideMattersError(Exception):
    """A candidate outside the focus could change the answer."""


class Outside:
    """The candidates of a sweep that are not near: the highest mean + factor·√leverage of any of them.

    Whoever is the highest for one factor is before everyone with a smaller leverage for every larger factor. So only
    the others are looked at again, until a factor is smaller.
    """

    def __init__(self, state: State, numbers: IndexArray) -> None:
        self._state, self._near = state, numbers
        self._smallest = math.inf
        self._mean, self._widths = np.empty(0), np.empty(0)

    def highest(self, factor: float) -> float:
        """mean + factor·√leverage of the highest; −∞ if nobody is outside."""
        if factor < self._smallest:
            self._look_at_all(EARLIER * factor)
        bounds = factor * self._widths
        bounds += self._mean
        return float(bounds.max())

    def _look_at_all(self, factor: float) -> None:
        mean, widths = self._state.mean, np.sqrt(self._state.leverage)
        widths[self._near] = -math.inf
        top = int(np.argmax(mean + factor * widths))
        left = widths >= widths[top]
        self._smallest, self._mean, self._widths = factor, mean[left], widths[left]


@dataclass(frozen=True, eq=False)
class Focused:
    """The candidates near the top, and the state of the last sweep over all of them."""

    anchor: State
    numbers: IndexArray
    near: State
    outside: Outside
    _bounds: dict[float, float] = field(default_factory=dict, init=False)

    @classmethod
    def on(cls, anchor: State, numbers: IndexArray, near: State | None = None) -> Self:
        """A focus on some candidates of a state, all measured ones among them, as they are there, or now."""
        return cls(anchor, numbers, near or sweep.part(anchor, numbers), Outside(anchor, numbers))

    def slots(self, numbers: IndexArray) -> IndexArray | None:
        """Where candidates are in `near`; None if one is not."""
        slots = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return slots if (self.numbers[slots] == numbers).all() else None

    def swept(self) -> dict[str, Any]:
        """One sweep from the anchor, for all measurements and members since."""
        anchor, near, rescues = self.anchor, self.near, Rescues()
        m = len(anchor.S)
        more = near.counts - anchor.counts[self.numbers]
        J, D = np.flatnonzero(more), near.S[m:]
        if len(J) == len(D) == 0:
            return {name: getattr(anchor, name) for name in SWEPT}
        E = shrinkage(anchor, sweep.embedding_of(near, J)[:m], more[J], rescues)
        z_D = sweep.embedding_of(near, D)
        T = np.asarray(np.linalg.inv(z_D[m:]).T if len(D) else np.zeros((0, 0)), dtype=float)
        K_D = sweep.kernel_rows(anchor, self.numbers[D], anchor.X, rescues)
        added = sweep.Addition(self.numbers[D], K_D, z_D[:m], T)
        theta = near.V_inverse(near.w)
        state = sweep.update(anchor, self.numbers[J], E, added, near.H, theta, rescues)
        return {name: getattr(state, name) for name in SWEPT}

    def highest_outside(self, alpha: float) -> float:
        """mean_0 + (e + alpha·√g)·√leverage_0 of the best candidate that is not near."""
        if alpha not in self._bounds:
            self._bounds[alpha] = self._highest_outside(alpha)
        return self._bounds[alpha]

    def _highest_outside(self, alpha: float) -> float:
        change, growth = self._changes
        if not math.isfinite(growth):
            return math.inf
        return self.outside.highest(max((change + alpha * math.sqrt(growth)) * (1 + ROUNDING), SMALLEST))

    @cached_property
    def _changes(self) -> tuple[float, float]:
        """e and g."""
        anchor, near, lam = self.anchor, self.near, self.anchor.settings.lam
        m = len(anchor.S)
        theta = near.V_inverse(near.w)
        old, new = theta[:m] - anchor.V_inverse(anchor.w), theta[m:]
        change = math.sqrt(max(0.0, float(old @ anchor.G @ old + lam * (old @ old) + lam * (new @ new))))
        before = anchor.counts[self.numbers]
        before[near.S[:m]] = 0
        i = np.flatnonzero(before)
        v = np.sqrt((sweep.embedding_of(near, i, m) ** 2).sum(axis=0) / lam)
        u = np.sqrt(anchor.projected_leverage[self.numbers[i]])
        least = 1 - float(before[i] @ (u * v))
        return change, 1 / least if least > 0 else math.inf


def refocused(state: State, recent: int) -> State:
    """The state with a focus that will do for a batch like the last one, which had `recent` distinct candidates."""
    settings = state.settings
    if not settings.focus or len(state.X) < SHORTEST_LIST or not _only_grows(state):
        return state.whole
    alpha = settings.focus * theory_alpha(state)
    n = 2 * recent + 4
    if state.focus is not None and state.focus.highest_outside(alpha) < _needed(state.near, alpha, n):
        return state
    whole = _without_drift(state)
    focused = _focus_on_the_top(whole, alpha)
    worth_while = focused.highest_outside(LASTING * alpha) < _needed(focused.near, alpha, n)
    return with_focus(whole, focused) if worth_while else whole


def _without_drift(state: State) -> State:
    """All candidates; those of a focus are not computed anew by the number of updates, but if they have drifted."""
    whole, rescues = state.whole, Rescues()
    if state.focus is None or not has_drifted(whole):
        return whole
    return from_scratch(whole, whole.S, rescues).with_rescues(rescues)


def advanced(state: State, near: State, counts: IndexArray, sums: FloatArray) -> State:
    """`state`, which has a focus, after its near candidates were taught, with the new counts and sums of all."""
    focus = replace(cast("Focused", state.focus), near=near)
    fields = {name: value for name, value in state.__dict__.items() if name not in (*SWEPT, "focus")}
    fields.update(S=focus.numbers[near.S], G=near.G, H=near.H, w=near.w, updates=near.updates)
    fields.update(counts=counts, sums=sums)
    return State.focused(focus, **fields)


def near_batch(state: State) -> State | None:
    """The near candidates as a batch sees them; None without a focus, or if an open measurement is of another one."""
    if state.focus is None:
        return None
    numbers = state.focus.numbers
    pending = state.pending[numbers]
    if pending.sum() != state.pending.sum():
        return None
    available = state.available[numbers]
    return state.focus.near.replace(pending=pending, available=available, rescues=state.rescues)


def _only_grows(state: State) -> bool:
    """Whether members of the dictionary mostly stay, and measurements count by their number."""
    s = state.settings
    return state.weights is None and (s.dictionary == "all" or (s.dictionary == "sampled" and s.resparsify == "lazy"))


def _needed(near: State, alpha: float, n: int) -> float:
    """The n-th highest UCB."""
    ucb = near.mean + alpha * np.sqrt(near.leverage)
    place = max(0, len(ucb) - n)
    return float(np.partition(ucb, place)[place])


def _focus_on_the_top(state: State, alpha: float) -> Focused:
    """The candidates with the highest UCBs, and all that were measured or are being measured."""
    promise = state.mean + WIDER * alpha * np.sqrt(state.leverage)
    size = min(len(promise), max(FEWEST, int(SHARE * len(promise))))
    chosen = (state.counts > 0) | (state.pending > 0)
    chosen[np.argpartition(promise, len(promise) - size)[-size:]] = True
    numbers = np.flatnonzero(chosen)
    return Focused.on(state, numbers)


def with_focus(state: State, focus: Focused) -> State:
    """A state of which everything is computed, with a focus."""
    return State.focused(focus, **{name: value for name, value in state.__dict__.items() if name != "focus"})
