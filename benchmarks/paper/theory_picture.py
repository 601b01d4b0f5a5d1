"""The theory in numbers, drawn: what grows with the effective dimension, what each rule makes of one state, Lemma 2."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt

from benchmarks.paper.cells import REGRESSION
from benchmarks.paper.tables import TITLES
from benchmarks.paper.theory import DRAWS, RULES
from benchmarks.plots import ACCENT, GREY, PLAIN, STYLE, save

Moments = list[dict[str, Any]]
SHADES = ("#0f766e", "#f59e0b", "#7c3aed")
STROKES = ("-", "-", "--")
"""The last may lie upon another."""


def draw_theory(found: dict[str, Any], path: Path) -> None:
    """A row of three panels for each set."""
    with mpl.rc_context(STYLE):
        drawing, axes = plt.subplots(2, 3, figsize=(14, 7.4), layout="constrained")
        for (growth, sizes, factor), name in zip(axes, REGRESSION, strict=True):
            _growth(growth, found[name]["q̄ = 2, lazy"])
            _sizes(sizes, found[name]["q̄ = 2, lazy"])
            _factor(factor, found[name])
            for axis, title in zip((growth, sizes, factor), ("growth", "next batch by rule", "σ̃² ÷ σ²"), strict=True):
                axis.set(title=f"{TITLES[name]}: {title}", xlabel="measurements", xscale="log")
                axis.xaxis.set_major_formatter(PLAIN)
                axis.yaxis.set_major_formatter(PLAIN)
        save(drawing, path)


def _growth(axis: Any, moments: Moments) -> None:
    """Batches and members stay within a small multiple of the effective dimension."""
    t = [m["t"] for m in moments]
    lines = {"batches": SHADES[0], "members": SHADES[2], "effective_dimension": GREY}
    for what, colour in lines.items():
        axis.plot(t, [m[what] for m in moments], color=colour, label=what.replace("_", " "))
    axis.legend(frameon=False)


def _sizes(axis: Any, moments: Moments) -> None:
    """Of the three rules from the same states."""
    for place, (rule, colour, stroke) in enumerate(zip(RULES, SHADES, STROKES, strict=True)):
        sizes = [m["sizes"][place] for m in moments]
        axis.plot([m["t"] for m in moments], sizes, color=colour, linestyle=stroke, label=rule)
    axis.set_yscale("log")
    axis.legend(frameon=False)


def _factor(axis: Any, found: dict[str, Moments]) -> None:
    """The range of leverage over exact leverage; the band is Lemma 2's."""
    axis.axhspan(1 / 3, 3, color=ACCENT, alpha=0.08, linewidth=0)
    for draw, colour, stroke in zip(DRAWS, SHADES, STROKES, strict=True):
        t = [m["t"] for m in found[draw]]
        for what, label in (("lowest", draw), ("highest", None)):
            axis.plot(t, [m[what] for m in found[draw]], color=colour, linestyle=stroke, label=label)
    axis.set_yscale("log")
    axis.legend(frameon=False)
