"""Begin everywhere: measure something in every part of the list before the model is believed.

The list is divided into cells: k-means++ (Arthur and Vassilvitskii 2007) on the features, then some rounds of Lloyd.
The candidate in the middle of every cell is measured first. (Designs of highest variance go to the corners of the list
instead, where few good candidates are.) Earlier measurements count for the cells they lie in, and only the other cells
are filled.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine.ask import Ask, Choose, Selection
from app.engine.embedding import in_float64
from app.engine.lifecycle import expect
from app.engine.settings import rng_at
from app.engine.state import State
from app.engine.time_limit import check_time

PickReason = Literal["space_filling", "noise_probes", "remeasured"]
"""Why the first picks of a batch were chosen before the model chose; named as in `Selection`."""

LLOYD_ROUNDS = 25
MOST_ROWS = 20_000
"""Of a longer list, this many candidates at random are looked at."""

MOST_CELLS = 200
"""Of a larger first batch, the rest is chosen at random."""

ONE_PROMISING_OF = 5
"""Of so many first choices, what is known of the candidates decides one, if anything is known."""

ENOUGH_PER_CELL = 2
"""With this many measurements for every cell the model is believed, wherever they are."""


def cell_count(d: int) -> int:
    """How many cells a list with d features has: ten for ten features or more, else five."""
    return 10 if d >= 10 else 5


def first_batch(state: State, size: int, cells: int, seed: int, promise: FloatArray | None = None) -> IndexArray:
    """Nothing is measured yet: distinct candidates (size,), fewer only if there are no more.

    What was handed out before counts, so that batches asked for one after the other fill the space together. `promise`
    (A,), where something is known of the candidates, decides one of five of them: in the most promising cells the most
    promising candidate takes the place of the one in the middle.
    """
    free, taken = _free_and_taken(state)
    divided = _divide(state, max(cells, int(taken.sum()) + size), seed)
    picks = divided.middles if promise is None else divided.promising_first(promise, promising_of(state, size))
    free[picks] = False
    rest = rng_at(seed, "first batch", 1).permutation(np.flatnonzero(free))
    return np.concatenate((picks, rest))[:size]


def promising_of(state: State, size: int) -> int:
    """How many of the next first choices (the first of them) are decided by what is known of the candidates."""
    before = int(_free_and_taken(state)[1].sum())
    return math.ceil((before + size) / ONE_PROMISING_OF) - math.ceil(before / ONE_PROMISING_OF)


def fill_cells_then_choose(choose: Choose, state: State, ask: Ask, cells: int, seed: int) -> Selection:
    """First the centres of the cells in which nothing was measured or handed out, then what `choose` chooses."""
    _, taken = _free_and_taken(state)
    if taken.sum() >= ENOUGH_PER_CELL * cells:
        return choose(state, ask)
    picks = empty_cell_centres(state, cells, seed)[: ask.max_size]
    if len(picks) == 0:
        return choose(state, ask)
    return choose_after(picks, "space_filling", choose, state, ask)


def choose_after(picks: IndexArray, reason: PickReason, choose: Choose, state: State, ask: Ask) -> Selection:
    """The picks, at most as many as asked for, then what `choose` chooses; `reason` counts the picks in the result."""
    picks = picks[: ask.max_size]
    counted: dict[str, Any] = {reason: len(picks)}
    filled = Selection(picks, "size", np.zeros(len(picks)), **counted)
    if len(picks) == ask.max_size:
        return replace(filled, alpha=ask.alpha or 0.0)
    rest = choose(expect(state, picks), _rest_of(ask, picks))
    return replace(
        rest,
        picks=np.concatenate((picks, rest.picks)),
        ucb=np.concatenate((filled.ucb, rest.ucb)),
        guaranteed=False,
        **counted,
    )


def empty_cell_centres(state: State, cells: int, seed: int) -> IndexArray:
    """The candidate nearest to the centre of every cell in which nothing is taken, unless it is taken itself."""
    return _divide(state, cells, seed).middles


@dataclass(frozen=True, eq=False)
class _EmptyCells:
    """The cells in which nothing is taken: who lives in which, and the candidate in the middle of each."""

    inhabitants: IndexArray
    cells: IndexArray
    """(inhabitants,) the cell of each."""
    middles: IndexArray
    middle_cells: IndexArray

    def promising_first(self, promise: FloatArray, count: int) -> IndexArray:
        """The most promising inhabitants of `count` cells, those that promise most, then the middles of the others."""
        order = np.argsort(-promise[self.inhabitants], kind="stable")
        _, best_of_cells = np.unique(self.cells[order], return_index=True)
        best = order[np.sort(best_of_cells)[:count]]
        others = self.middles[~np.isin(self.middle_cells, self.cells[best])]
        return np.concatenate((self.inhabitants[best], others))


def _divide(state: State, cells: int, seed: int) -> _EmptyCells:
    """The empty cells of the list; if it has no more candidates than that, each is a cell."""
    free, taken = _free_and_taken(state)
    rng = rng_at(seed, "first batch", 0)
    looked_at = _at_most_rows(np.flatnonzero(free | taken), rng)
    if len(looked_at) <= cells:
        alone = np.flatnonzero(free)
        return _EmptyCells(alone, alone, alone, alone)
    points = in_float64(state.X[looked_at])
    centres = _lloyd(points, _plus_plus(points, min(cells, MOST_CELLS), rng))
    middle = looked_at[_nearest_distinct(points, centres)]
    cell = _nearest(points, centres)
    seen = np.bincount(_nearest(in_float64(state.X[taken]), centres), minlength=len(centres)) + taken[middle]
    empty = (np.bincount(cell, minlength=len(centres)) > 0) & (seen == 0)
    return _EmptyCells(looked_at[empty[cell]], cell[empty[cell]], middle[empty], np.flatnonzero(empty))


def _free_and_taken(state: State) -> tuple[BoolArray, BoolArray]:
    """What may be measured for the first time, and what was measured or handed out."""
    taken = (state.counts > 0) | (state.pending > 0)
    return state.available & ~taken, taken


def _at_most_rows(numbers: IndexArray, rng: "np.random.Generator") -> IndexArray:
    """At most MOST_ROWS of them, in order; the same ones as long as the list is the same."""
    return numbers if len(numbers) <= MOST_ROWS else np.sort(rng.choice(numbers, MOST_ROWS, replace=False))


def _rest_of(ask: Ask, picks: IndexArray) -> Ask:
    """What is left of a request once these are chosen."""
    rest = replace(ask, min_size=max(1, ask.min_size - len(picks)), max_size=ask.max_size - len(picks))
    if ask.limit is None:
        return rest
    limit = ask.limit.copy()
    limit[picks] = 0
    return replace(rest, limit=limit)


def _plus_plus(points: FloatArray, size: int, rng: "np.random.Generator") -> FloatArray:
    """Centres (size, d): each next one at a point drawn with a chance proportional to its squared distance from the
    nearest of the others."""
    norms = np.einsum("iq,iq->i", points, points)

    def squared_distances(number: int) -> FloatArray:
        squared: FloatArray = np.maximum(norms - 2 * (points @ points[number]) + norms[number], 0)
        return squared

    chosen = [int(rng.integers(len(points)))]
    nearest = squared_distances(chosen[0])
    while len(chosen) < size:
        check_time()
        total = np.cumsum(nearest)
        drawn = int(np.searchsorted(total, rng.random() * total[-1])) if total[-1] > 0 else len(chosen)
        chosen.append(min(drawn, len(points) - 1))
        nearest = np.minimum(nearest, squared_distances(chosen[-1]))
    return points[chosen]


def _lloyd(points: FloatArray, centres: FloatArray) -> FloatArray:
    """Move every centre to the mean of the points nearest to it, until none moves; a centre without points stays."""
    label = np.full(len(points), -1)
    for _ in range(LLOYD_ROUNDS):
        check_time()
        new_label = _nearest(points, centres)
        if (new_label == label).all():
            break
        label = new_label
        sizes = np.bincount(label, minlength=len(centres))
        belongs = (label == np.arange(len(centres))[:, None]).astype(float)
        centres = np.where(sizes[:, None] > 0, belongs @ points / np.maximum(sizes, 1)[:, None], centres)
    return centres


def _nearest_distinct(points: FloatArray, centres: FloatArray) -> IndexArray:
    """For each centre the nearest point that no earlier centre took."""
    distances = _partial_distances(points, centres) + np.einsum("iq,iq->i", points, points)[:, None]
    nearest = np.empty(len(centres), dtype=np.int64)
    for j in range(len(centres)):
        nearest[j] = distances[:, j].argmin()
        distances[nearest[j]] = np.inf
    return nearest


def _nearest(points: FloatArray, centres: FloatArray) -> IndexArray:
    """The number of the centre nearest to each point."""
    nearest: IndexArray = _partial_distances(points, centres).argmin(axis=1)
    return nearest


def _partial_distances(points: FloatArray, centres: FloatArray) -> FloatArray:
    """‖x − c‖² without the ‖x‖² that all centres share, (n, k)."""
    partial: FloatArray = (centres**2).sum(axis=1) - 2 * (points @ centres.T)
    return partial
