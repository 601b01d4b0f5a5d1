"""Begin widely: measure something in every part of the list before the model is believed.

The list is divided into cells: k-means++ (Arthur and Vassilvitskii 2007) on the features, some rounds of Lloyd. The
middle of every cell is measured first. Designs of highest variance go to the corners of the list instead, where few
good candidates are. Measurements from before count for the cells they are in, and only the others are filled.
"""

from dataclasses import replace

import numpy as np

from app.engine.arrays import Array, Flags, Numbers
from app.engine.ask import Ask, Batch, Choose
from app.engine.events import expect
from app.engine.randomness import rng_at
from app.engine.state import State

ROUNDS = 25
ROWS = 20_000
"""Candidates that are looked at, at most; of a longer list, so many at random."""

CELLS = 200
"""At most; of a larger first batch, the rest is chosen at random."""

PLENTY = 2
"""With so many measurements for every cell the model is believed, wherever they are."""


def first_size(d: int) -> int:
    """Cells: ten for ten features or more, else five."""
    return 10 if d >= 10 else 5


def first_batch(state: State, size: int, cells: int, seed: int) -> Numbers:
    """Nothing is measured yet: distinct candidates (size,), fewer only when there are no more.

    What was handed out before counts, so that batches asked for in a row are spread together.
    """
    free, taken = _free_and_taken(state)
    picks = middles(state, max(cells, int(taken.sum()) + size), seed)
    free[picks] = False
    return np.concatenate((picks, rng_at(seed, "first batch", 1).permutation(np.flatnonzero(free))))[:size]


def widely(choose: Choose, state: State, ask: Ask, cells: int, seed: int) -> Batch:
    """What `choose` chooses, after the middles of the cells in which nothing was measured or handed out."""
    _, taken = _free_and_taken(state)
    if taken.sum() >= PLENTY * cells:
        return choose(state, ask)
    picks = middles(state, cells, seed)[: ask.max_size]
    if len(picks) == 0:
        return choose(state, ask)
    if len(picks) == ask.max_size:
        return Batch(picks, "size", np.zeros(len(picks)), guaranteed=False, alpha=ask.alpha or 0.0, spread=len(picks))
    rest = choose(expect(state, picks), _after(ask, picks))
    return replace(
        rest,
        picks=np.concatenate((picks, rest.picks)),
        ucb=np.concatenate((np.zeros(len(picks)), rest.ucb)),
        guaranteed=False,
        spread=len(picks),
    )


def middles(state: State, cells: int, seed: int) -> Numbers:
    """The candidate nearest to the centre of every cell in which none is taken, nor this one."""
    free, taken = _free_and_taken(state)
    rng = rng_at(seed, "first batch", 0)
    some = _some(np.flatnonzero(free | taken), rng)
    if len(some) <= cells:
        return np.flatnonzero(free)
    points = state.X[some]
    centres = _lloyd(points, _plus_plus(points, min(cells, CELLS), rng))
    middle = some[_nearest_distinct(points, centres)]
    inhabitants = np.bincount(_nearest(points, centres), minlength=len(centres))
    seen = np.bincount(_nearest(state.X[taken], centres), minlength=len(centres)) + taken[middle]
    unseen: Numbers = middle[(inhabitants > 0) & (seen == 0)]
    return unseen


def _free_and_taken(state: State) -> tuple[Flags, Flags]:
    """What may be measured for the first time, and what was measured or handed out."""
    taken = (state.counts > 0) | (state.pending > 0)
    return state.available & ~taken, taken


def _some(numbers: Numbers, rng: np.random.Generator) -> Numbers:
    """At most ROWS of them, in order; the same ones as long as the list is the same."""
    return numbers if len(numbers) <= ROWS else np.sort(rng.choice(numbers, ROWS, replace=False))


def _after(ask: Ask, picks: Numbers) -> Ask:
    """What is left of a request when these are chosen."""
    left = replace(ask, min_size=max(1, ask.min_size - len(picks)), max_size=ask.max_size - len(picks))
    if ask.limit is None:
        return left
    limit = ask.limit.copy()
    limit[picks] = 0
    return replace(left, limit=limit)


def _plus_plus(points: Array, size: int, rng: np.random.Generator) -> Array:
    """Centres (size, d): the next one at a point drawn with a chance proportional to its squared distance from the
    others."""
    norms = np.einsum("iq,iq->i", points, points)

    def away(number: int) -> Array:
        squared: Array = np.maximum(norms - 2 * (points @ points[number]) + norms[number], 0)
        return squared

    chosen = [int(rng.integers(len(points)))]
    nearest = away(chosen[0])
    while len(chosen) < size:
        total = np.cumsum(nearest)
        place = int(np.searchsorted(total, rng.random() * total[-1])) if total[-1] > 0 else len(chosen)
        chosen.append(min(place, len(points) - 1))
        nearest = np.minimum(nearest, away(chosen[-1]))
    return points[chosen]


def _lloyd(points: Array, centres: Array) -> Array:
    """Every centre to the mean of the points nearest to it, until none moves; a centre without points stays."""
    label = np.full(len(points), -1)
    for _ in range(ROUNDS):
        new = _nearest(points, centres)
        if (new == label).all():
            break
        label = new
        sizes = np.bincount(label, minlength=len(centres))
        member = (label == np.arange(len(centres))[:, None]).astype(float)
        centres = np.where(sizes[:, None] > 0, member @ points / np.maximum(sizes, 1)[:, None], centres)
    return centres


def _nearest_distinct(points: Array, centres: Array) -> Numbers:
    """The point nearest to each centre that is not nearest to an earlier one."""
    distances = _partial_distances(points, centres) + np.einsum("iq,iq->i", points, points)[:, None]
    picks = np.empty(len(centres), dtype=np.int64)
    for j in range(len(centres)):
        picks[j] = distances[:, j].argmin()
        distances[picks[j]] = np.inf
    return picks


def _nearest(points: Array, centres: Array) -> Numbers:
    """The number of the centre nearest to each point."""
    nearest: Numbers = _partial_distances(points, centres).argmin(axis=1)
    return nearest


def _partial_distances(points: Array, centres: Array) -> Array:
    """‖x − c‖² without the ‖x‖² that all centres share, (n, k)."""
    partial: Array = (centres**2).sum(axis=1) - 2 * (points @ centres.T)
    return partial
