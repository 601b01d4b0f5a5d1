"""Fronts: the points that no other dominates, the volume that they dominate, and what can still be among them.

Points are rows (n, K) of utilities: higher is better. A point dominates another if it is at least as good in
everything and better in something.
"""

import numpy as np

from app.arrays import BoolArray, FloatArray, IndexArray

COMPARED = 2**22
"""Comparisons of points that are held at once."""

COMPARED_AT_ONCE = 2**19
"""Few points are compared all with all, which is faster than one after the other."""

LARGEST = float(np.finfo(float).max)


def non_dominated(points: FloatArray) -> BoolArray:
    """(n,) which points no other dominates; equal points do not dominate each other."""
    n = len(points)
    front = np.zeros(n, dtype=bool)
    if n == 0:
        return front
    order = np.lexsort(points.T[::-1])[::-1]  # best first objective first: a point is dominated only by earlier ones
    if points.shape[1] == 1:
        return np.asarray(points[:, 0] == points[order[0], 0])
    if points.shape[1] == 2:
        return _non_dominated_pairs(points, order)
    if points.size * n <= COMPARED_AT_ONCE:
        return np.asarray(~_beats(points, points[:, None, :]).any(axis=1))
    rest, number = np.asfortranarray(points[order]), 0
    while number < len(rest):  # whatever is left at `number` is on the front; what it beats comes later
        left = ~_beats(rest[number], rest[number + 1 :])
        if not left.all():
            order = np.concatenate((order[: number + 1], order[number + 1 :][left]))
            rest = np.asfortranarray(points[order])
        number += 1
    front[order] = True
    return front


def _non_dominated_pairs(points: FloatArray, order: IndexArray) -> BoolArray:
    """The same for K = 2 in one pass: best first value first, ties by the second."""
    first, second = points[order].T
    highest = np.maximum.accumulate(second)
    before = np.concatenate(([-np.inf], highest[:-1]))  # the best second value of all earlier points
    equal = np.zeros(len(order), dtype=bool)
    equal[1:] = (first[1:] == first[:-1]) & (second[1:] == second[:-1])
    start = np.maximum.accumulate(np.where(equal, 0, np.arange(len(order))))  # of each run of equal points
    front = np.empty(len(order), dtype=bool)
    front[order] = (second > before)[start]
    return front


def hypervolume(points: FloatArray, reference: FloatArray) -> float:
    """The volume that the points (n, K) dominate above the reference (K,); at most the largest finite number.

    For K ≤ 3 by slices: sorted by the last utility, each slab between two neighbours has the area of the points above
    it. Beyond, by exclusive volumes (While, Bradstreet and Barone 2012).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        above = np.minimum(points[(points > reference).all(axis=1)] - reference, LARGEST)
        volume = _volume(above[non_dominated(above)]) if len(above) else 0.0
    return float(np.fmin(volume, LARGEST))  # what is no number is too large, too


def _volume(points: FloatArray) -> float:
    """Of a front (n, K) above the origin."""
    if len(points) == 0:
        return 0.0
    if points.shape[1] == 1:
        return float(points.max())
    order = np.argsort(-points[:, -1], kind="stable")
    points = points[order]
    if points.shape[1] == 2:
        widths = np.maximum.accumulate(points[:, 0])
        heights = points[:, 1] - np.append(points[1:, 1], 0.0)
        return float(widths @ heights)
    if points.shape[1] > 3:
        return _exclusive_volumes(points)
    total = 0.0
    depths = points[:, -1] - np.append(points[1:, -1], 0.0)
    for number, depth in enumerate(depths.tolist(), start=1):
        if depth > 0:
            flat = points[:number, :-1]
            total += depth * _volume(flat[non_dominated(flat)])
    return total


def _exclusive_volumes(points: FloatArray) -> float:
    """Σ_i of what point i dominates and no later point does: its box less the volume of the others within the box."""
    total = 0.0
    for number in range(len(points)):
        within = np.minimum(points[number + 1 :], points[number])
        total += float(points[number].prod()) - _volume(within[non_dominated(within)])
    return total


def is_possible(lower: FloatArray, upper: FloatArray) -> BoolArray:
    """(n,) which candidates can still be on the front, given bounds (n, K) of their utilities.

    In the manner of ε-PAL (Zuluaga et al. 2016): x is out when some x′ has lower(x′) ≥ upper(x) in everything, and more
    in something.
    """
    sure, upper = np.asfortranarray(lower[non_dominated(lower)]), np.asfortranarray(upper)
    possible = np.empty(len(upper), dtype=bool)
    step = max(1, COMPARED // max(1, sure.size))
    for start in range(0, len(upper), step):
        beaten = _beats(sure, upper[start : start + step, None, :])
        possible[start : start + step] = ~beaten.any(axis=1)
    return possible


def _beats(points: FloatArray, others: FloatArray) -> BoolArray:
    """Which points dominate the others, over the last axis; utility by utility, because that axis is short."""
    at_least, better = points[..., 0] >= others[..., 0], points[..., 0] > others[..., 0]
    for k in range(1, points.shape[-1]):
        at_least &= points[..., k] >= others[..., k]
        better |= points[..., k] > others[..., k]
    dominating: BoolArray = at_least & better
    return dominating
