"""The first batch, when nothing has been measured: candidates spread as the list itself is spread.

k-means++ (Arthur and Vassilvitskii 2007) on the features, some rounds of Lloyd, then the nearest candidate of every
centre that is not taken yet. Designs of highest variance go to the corners of the list instead, where few good
candidates are.
"""

import numpy as np

from app.engine.arrays import Array, Flags, Numbers
from app.engine.randomness import rng_at

ROUNDS = 25
ROWS = 20_000
"""Candidates the centres are computed from at most."""


def first_size(d: int, batch_size: int = 1) -> int:
    """max(q, 10) candidates for ten features or more, else max(q, 5)."""
    return max(batch_size, 10 if d >= 10 else 5)


def first_batch(X: Array, size: int, available: Flags, seed: int) -> Numbers:
    """Distinct available candidates (size,), fewer only when there are no more."""
    numbers = np.flatnonzero(available)
    if len(numbers) <= size:
        return numbers
    rng = rng_at(seed, "first batch", 0)
    rows = numbers if len(numbers) <= ROWS else np.sort(rng.choice(numbers, ROWS, replace=False))
    centres = _lloyd(X[rows], _plus_plus(X[rows], size, rng))
    return _nearest_distinct(X, numbers, centres)


def _plus_plus(points: Array, size: int, rng: np.random.Generator) -> Array:
    """Centres (size, d): the next one at a point drawn with a chance proportional to its squared distance from the
    others."""
    chosen = [int(rng.integers(len(points)))]
    nearest = _squared_distances(points, points[chosen])[:, 0]
    while len(chosen) < size:
        total = np.cumsum(nearest)
        place = int(np.searchsorted(total, rng.random() * total[-1])) if total[-1] > 0 else len(chosen)
        chosen.append(min(place, len(points) - 1))
        nearest = np.minimum(nearest, _squared_distances(points, points[chosen[-1:]])[:, 0])
    return points[chosen]


def _lloyd(points: Array, centres: Array) -> Array:
    """Every centre to the mean of the points nearest to it, until none moves; a centre without points stays."""
    label = np.full(len(points), -1)
    for _ in range(ROUNDS):
        new = _squared_distances(points, centres).argmin(axis=1)
        if (new == label).all():
            break
        label = new
        sizes = np.bincount(label, minlength=len(centres))
        member = (label == np.arange(len(centres))[:, None]).astype(float)
        centres = np.where(sizes[:, None] > 0, member @ points / np.maximum(sizes, 1)[:, None], centres)
    return centres


def _nearest_distinct(X: Array, numbers: Numbers, centres: Array) -> Numbers:
    distances = _squared_distances(X[numbers], centres)
    picks = np.empty(len(centres), dtype=np.int64)
    for j in range(len(centres)):
        place = int(distances[:, j].argmin())
        picks[j] = numbers[place]
        distances[place] = np.inf
    return picks


def _squared_distances(points: Array, centres: Array) -> Array:
    """‖x − c‖², (n, k), never negative."""
    norms = np.einsum("iq,iq->i", points, points)[:, None] + np.einsum("jq,jq->j", centres, centres)
    distances: Array = np.maximum(norms - 2 * (points @ centres.T), 0.0)
    return distances
