"""Enumerates the full product of finite axes in blocks."""

import numpy as np

from app.domain.errors import InvalidCandidates
from app.services.intake.cells import Floats
from app.services.intake.findings import refuse
from app.services.intake.limits import Limits
from app.services.intake.space.axes import FiniteAxis, points_at, spread
from app.services.intake.space.rules import Rules
from app.services.intake.space.sizes import block_rows, readable


def enumerate_points(axes: list[FiniteAxis], rules: Rules, limits: Limits) -> Floats:
    """Every point of the product that the rules allow, the last parameter running fastest."""
    size = spread(axes)
    if size > limits.product:
        raise refuse(
            "product-too-large",
            f"{readable(size)} combinations; the limit is {limits.product}. Take fewer values, or give `sample`",
            pointer="/parameters",
        )
    blocks = [np.empty((0, len(axes)), dtype="<f8")]
    kept = 0
    rows = block_rows(len(axes))
    for start in range(0, size, rows):
        points = points_at(axes, np.arange(start, min(start + rows, size)))
        blocks.append(points[rules.allow(points)])
        kept += len(blocks[-1])
        if kept > limits.rows or kept * len(axes) > limits.cells:
            raise _too_many(size, limits)
    return np.concatenate(blocks)


def _too_many(size: int, limits: Limits) -> InvalidCandidates:
    return refuse(
        "too-many-rows",
        f"of {readable(size)} combinations more than the limit remain: {limits.rows} rows, {limits.cells} cells."
        " Take fewer values, or give `sample`",
        pointer="/parameters",
    )
