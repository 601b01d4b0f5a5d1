"""Draws distinct points of a space, the same for the same seed on every machine."""

import numpy as np

from app.services.intake.cells import Floats
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import Limits
from app.services.intake.space.axes import FiniteAxis, spread
from app.services.intake.space.description import Space
from app.services.intake.space.product import enumerate_points
from app.services.intake.space.sizes import block_rows

_ENUMERATED = 1_000_000
"""Up to this many combinations all are listed and some chosen, so tight constraints cannot starve the draw."""


def sample_points(space: Space, wanted: int, limits: Limits, findings: Findings) -> Floats:
    """`wanted` distinct points that the rules allow; fewer, with a warning, only if there are no more."""
    finite = [axis for axis in space.axes if isinstance(axis, FiniteAxis)]
    if len(finite) == len(space.axes) and spread(finite) <= min(_ENUMERATED, limits.product, limits.rows):
        return _chosen(enumerate_points(finite, space.rules, limits), wanted, space.seed, findings)
    return _drawn(space, wanted, limits)


def _chosen(points: Floats, wanted: int, seed: int, findings: Findings) -> Floats:
    if 0 < len(points) < wanted:
        findings.warning("fewer-than-asked", f"only {len(points)} points meet the rules; all are taken")
    order = np.argsort(np.random.PCG64(seed).random_raw(len(points)), kind="stable")
    return points[np.sort(order[:wanted])]


def _drawn(space: Space, wanted: int, limits: Limits) -> Floats:
    """Rejection: draw points of the whole space, keep those allowed and new, in the order drawn."""
    bits = np.random.PCG64(space.seed)  # its raw stream is fixed for good, unlike that of numpy's distributions
    kept: dict[bytes, None] = {}
    rows = block_rows(len(space.axes))
    for _ in range(0, limits.draws, rows):
        points = _draw(space, rows, bits)
        for point in points[space.rules.allow(points)]:
            kept.setdefault(point.tobytes())
        if len(kept) >= wanted:
            return _points(list(kept)[:wanted], len(space.axes))
    raise refuse(
        "sample-starved",
        f"{limits.draws} draws gave {len(kept)} distinct points that meet the rules, {wanted} are wanted."
        " Relax the rules, narrow the ranges, or give steps to the parameters of an `equals` constraint",
        pointer="/sample",
    )


def _draw(space: Space, rows: int, bits: np.random.PCG64) -> Floats:
    raw = bits.random_raw(rows * len(space.axes)).reshape(rows, len(space.axes))
    quantiles = (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53
    columns = [axis.at(quantiles[:, position]) for position, axis in enumerate(space.axes)]
    return np.column_stack(columns) + 0.0  # + 0.0: −0.0 is the same point as 0.0


def _points(kept: list[bytes], width: int) -> Floats:
    return np.frombuffer(b"".join(kept), dtype="<f8").reshape(-1, width).copy()
