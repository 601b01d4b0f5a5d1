"""How many candidates a batch has: five if nobody says, and beyond five as many as promise nearly as much as the first.

Candidates are chosen one after the other, each as if those before it had been measured. What a candidate promises is
its expected improvement over the best measured one,

    promise = s (u Φ(u) + φ(u)),   u = (m − m*)/s

with the posterior mean m at the last feedback and the deviation s that the candidates before it have left. The batch
ends before the first candidate that promises less than a stated share of what the first one does: from then on it is
better to wait for results. (The rule of the theory bounds how far leverages drift. Where the noise is small it ends
every batch after one candidate: right for what it guarantees, and useless on a bench.)
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy

from app.arrays import FloatArray
from app.engine.ask import Ask, Choose, Selection
from app.engine.state import State

SHARE = 0.7
"""The least that a candidate must promise, as a share of what the first does."""

BENCH = 5
"""The size of a batch that nobody stated; a batch is not cut below it. Five at a time need hardly more experiments than
one at a time, and a fifth of the rounds (docs/benchmarks/auto-variants.md)."""

SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class SizedSelection:
    """A batch, and what each of its choices promises as a share of the first; `next_share` is that of one more."""

    selection: Selection
    shares: FloatArray
    """(size,); those of repeats and of a wide start are 1."""
    next_share: float | None = None
    """None where no further candidate was considered."""


def choose_worthwhile(choose: Choose, state: State, ask: Ask, share: float = SHARE) -> SizedSelection:
    """What `choose` chooses, between ask.min_size and ask.max_size, cut where the promise falls."""
    whole = choose(state, replace(ask, min_size=ask.max_size))
    shares = promised_shares(state, whole)
    least = max(ask.min_size, min(BENCH, ask.max_size))
    kept = least + int(np.argmin(np.append(shares[least:] >= share, False)))
    if kept >= len(whole.picks):
        complete = len(whole.picks) == ask.max_size
        return SizedSelection(replace(whole, ended="size" if complete else "exhausted"), shares)
    cut = replace(whole, picks=whole.picks[:kept], ucb=whole.ucb[:kept], ended="promise")
    return SizedSelection(cut, shares[:kept], float(shares[kept]))


def with_one_more(choose: Choose, state: State, ask: Ask, sized: SizedSelection) -> SizedSelection:
    """The same batch, knowing also what the last of a batch of one more would promise; as it is if that is known, or if
    no other may be chosen. (To choose a longer batch once more is three times as fast as to continue this one.)"""
    if sized.next_share is not None or sized.selection.ended == "exhausted":
        return sized
    size = len(sized.selection.picks) + 1
    longer = choose(state, replace(ask, min_size=size, max_size=size))
    if len(longer.picks) < size:
        return sized
    return replace(sized, next_share=float(promised_shares(state, longer)[-1]))


@np.errstate(over="ignore")  # what is as good as certain is so many deviations away that their square is infinite
def promised_shares(state: State, batch: Selection) -> FloatArray:
    """(size,) what each choice promises, over what the first that the model chose does."""
    first = batch.requested + batch.noise_probes + batch.remeasured + batch.space_filling
    shares = np.ones(len(batch.picks))
    if first >= len(batch.picks) or batch.alpha <= 0:
        return shares
    mean = state.mean[batch.picks[first:]]
    deviation = np.maximum((batch.ucb[first:] - mean) / batch.alpha * np.sqrt(state.settings.lam), SMALLEST)
    u = (mean - state.mean[state.measured].max()) / deviation
    promise = np.maximum(deviation * (u * scipy.special.ndtr(u) + np.exp(-u * u / 2) / np.sqrt(2 * np.pi)), SMALLEST)
    shares[first:] = promise / promise[0]
    return shares
