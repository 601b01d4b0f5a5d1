"""The points of a space: all of them in order, or a sample that is the same for the same seed on every machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import prod

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.deadline import check_deadline
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import IntakeLimits
from app.services.intake.space.axes import Axis, FiniteAxis, readable_size
from app.services.intake.space.rules import Rules

_ENUMERATED = 1_000_000
"""Up to this many combinations, a sample is chosen from the list of all: tight constraints cannot starve it."""
_CELLS_AT_ONCE = 1 << 19


@dataclass(frozen=True)
class Space:
    """Axes, the rules that points must meet, and how many points to sample; None takes all of them."""

    axes: tuple[Axis, ...]
    rules: Rules
    sample: int | None
    seed: int


def space_points(space: Space, limits: IntakeLimits, findings: Findings) -> FloatArray:
    """The allowed points of a space, one row each; without `sample`, every axis must be finite."""
    finite = [axis for axis in space.axes if isinstance(axis, FiniteAxis)]
    if space.sample is None:
        return _enumerate(finite, space.rules, limits)
    if len(finite) == len(space.axes) and _product_size(finite) <= min(_ENUMERATED, limits.product, limits.rows):
        return _choose(_enumerate(finite, space.rules, limits), space.sample, space.seed, findings)
    return _draw_distinct(space, space.sample, limits)


def _enumerate(axes: Sequence[FiniteAxis], rules: Rules, limits: IntakeLimits) -> FloatArray:
    """Every allowed point of the product, the last parameter running fastest."""
    size = _product_size(axes)
    if size > limits.product:
        message = (
            f"There are {readable_size(size)} combinations, and at most {limits.product:,} can be listed."
            " Use fewer values, or give `sample`."
        )
        raise refuse("product-too-large", message, pointer="/parameters")
    blocks = [np.empty((0, len(axes)), dtype="<f8")]
    allowed = 0
    rows = _block_rows(len(axes))
    for start in range(0, size, rows):
        check_deadline()
        points = _points_at(axes, np.arange(start, min(start + rows, size)))
        blocks.append(points[rules.allow(points)])
        allowed += len(blocks[-1])
        if allowed > limits.rows or allowed * len(axes) > limits.cells:
            message = (
                f"Of {readable_size(size)} combinations, more meet the rules than this server takes:"
                f" {limits.rows:,} rows and {limits.cells:,} cells. Use fewer values, or give `sample`."
            )
            raise refuse("too-many-rows", message, pointer="/parameters")
    return np.concatenate(blocks)


def _product_size(axes: Sequence[FiniteAxis]) -> int:
    """How many points the full product of the axes has."""
    return prod(len(axis) for axis in axes)


def _points_at(axes: Sequence[FiniteAxis], numbers: IndexArray) -> FloatArray:
    """The points of the product with these numbers, one row each."""
    points = np.empty((len(numbers), len(axes)), dtype="<f8")
    rest = numbers
    for position in reversed(range(len(axes))):
        rest, digit = np.divmod(rest, len(axes[position]))
        points[:, position] = axes[position].values[digit]
    return points


def _choose(points: FloatArray, sample: int, seed: int, findings: Findings) -> FloatArray:
    if 0 < len(points) < sample:
        findings.warning(
            "fewer-than-asked",
            f"The rules allow fewer points than `sample`: {len(points):,}. The list has all of them.",
        )
    order = np.argsort(np.random.PCG64(seed).random_raw(len(points)), kind="stable")
    return points[np.sort(order[:sample])]


def _draw_distinct(space: Space, sample: int, limits: IntakeLimits) -> FloatArray:
    """Draw points of the whole space; take the distinct ones that are allowed, in the order drawn."""
    bits = np.random.PCG64(space.seed)  # numpy guarantees its raw stream, but not that of its distributions
    seen: set[bytes] = set()  # hashes: the points themselves may be a hundred times as long
    distinct: list[FloatArray] = []
    rows = _block_rows(len(space.axes))
    for _ in range(0, limits.draws, rows):
        check_deadline()
        points = _draw(space, rows, bits)
        points = points[space.rules.allow(points)]
        new = np.array([_is_new(point, seen) for point in points], dtype=bool)
        distinct.append(points[new])
        if len(seen) >= sample:
            return np.concatenate(distinct)[:sample]
    message = (
        f"Of {limits.draws:,} points drawn, {len(seen):,} are distinct and meet the rules: fewer than `sample`."
        " Relax the rules, narrow the ranges, or give a `step` to each parameter of an `equals` constraint."
    )
    raise refuse("sample-starved", message, pointer="/sample")


def _draw(space: Space, rows: int, bits: "np.random.PCG64") -> FloatArray:
    raw = bits.random_raw(rows * len(space.axes)).reshape(rows, len(space.axes))
    quantiles = (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53
    columns = [axis.at(quantiles[:, position]) for position, axis in enumerate(space.axes)]
    return np.column_stack(columns) + 0.0  # + 0.0 turns −0.0 into 0.0, which is the same point


def _is_new(point: FloatArray, seen: set[bytes]) -> bool:
    """Whether a point was not seen before; now it is."""
    digest, known = blake2b(point.tobytes(), digest_size=16).digest(), len(seen)
    seen.add(digest)
    return len(seen) > known


def _block_rows(width: int) -> int:
    """How many points with this many parameters are handled at once."""
    return max(1, _CELLS_AT_ONCE // width)
