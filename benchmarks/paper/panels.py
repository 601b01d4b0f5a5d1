"""One panel of a picture: a line for every system, with its interval, and its name in its colour at the right."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.paper.records import Record
from benchmarks.paper.summary import curve
from benchmarks.paper.systems import SYSTEMS
from benchmarks.plots import PLAIN

COLOURS = {
    "bbkb": "#0f766e",
    "bbkb-local": "#14b8a6",
    "bbkb-exact": "#0369a1",
    "bbkb-narrow": "#365314",
    "bbkb-wide": "#65a30d",
    "bbkb-letter": "#ca8a04",
    "bbkb-strict": "#a3b18a",
    "bbkb-sharp": "#1d4ed8",
    "bbkb-local-sharp": "#60a5fa",
    "gp-bucb": "#c2410c",
    "gp-bucb-global": "#f59e0b",
    "thompson": "#be185d",
    "bkb": "#7c3aed",
    "epsilon-greedy": "#a16207",
    "gp-ucb": "#dc2626",
    "evolution": "#4b5563",
    "uniform": "#9ca3af",
}
GAP = 11.0
"""Points between the middles of two names."""
FEW = 3
"""Repetitions from which on an interval is drawn: Student's for two is thirteen deviations wide."""

Series = dict[str, list[Record]]
Ends = list[tuple[str, float]]


def panel(axis: Any, series: Series, what: str, title: str, **look: Any) -> None:
    """Curves over the measurements."""
    ends: Ends = []
    for system, records in series.items():
        t, mean, half = curve(records, what)
        axis.plot(t, mean, color=COLOURS[system])
        if len(records) >= FEW and look.get("yscale") != "log":
            axis.fill_between(t, mean - half, mean + half, color=COLOURS[system], alpha=0.15, linewidth=0)
        ends.append((system, mean[-1]))
    finish(axis, ends, title=title, xlabel="measurements", **look)


def finish(axis: Any, ends: Ends, **look: Any) -> None:
    """Scales, then names."""
    axis.set(**look)
    axis.xaxis.set_major_formatter(PLAIN)
    axis.yaxis.set_major_formatter(PLAIN)
    heights = [axis.transAxes.inverted().transform(axis.transData.transform((1, y)))[1] for _, y in ends]
    for (system, _), y in zip(ends, apart(heights, _gap(axis)), strict=True):
        at = {"xy": (1.02, y), "xycoords": "axes fraction", "annotation_clip": False}
        axis.annotate(SYSTEMS[system].label, **at, va="center", fontsize=8, color=COLOURS[system])


def apart(heights: Sequence[float], gap: float) -> list[float]:
    """The same heights in the same order, none nearer than the gap to the next, each moved no more than it must be."""
    order = np.argsort(heights, kind="stable")
    placed = np.array(heights, dtype=float)[order]
    for _ in range(1_000):
        short = np.maximum(0, gap - np.diff(placed)) / 2
        placed[:-1] -= short
        placed[1:] += short
        placed = np.maximum(placed, 0)
    result = np.empty_like(placed)
    result[order] = placed
    return [float(y) for y in result]


def _gap(axis: Any) -> float:
    """GAP as a share of the axis' height, four fifths of its row."""
    rows = axis.get_gridspec().nrows
    return float(GAP / (72 * axis.figure.get_figheight() * 0.8 / rows))
