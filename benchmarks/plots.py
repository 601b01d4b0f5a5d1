"""Figures for docs/benchmarks: quiet axes, direct labels, one accent colour; SVG and PNG."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from benchmarks.experiment import Trace

ACCENT, GREY = "#0f766e", "#8a8f98"
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#c9ccd1",
    "axes.labelcolor": "#3c4048",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "xtick.color": "#6b7078",
    "ytick.color": "#6b7078",
    "svg.hashsalt": "nextbatch",
}


def plot_runs(traces: Sequence[Trace], title: str, path: Path) -> None:
    """Time, dictionary and batch size over the measurements; the engine first, then the literal form."""
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
        for trace, name, colour in zip(traces, ("engine", "literal"), (ACCENT, GREY), strict=False):
            steps = np.cumsum([len(batch) for batch in trace.batches])
            sizes = [len(batch) for batch in trace.batches]
            for axis, values in zip(axes, (trace.seconds, trace.sizes, sizes), strict=True):
                axis.plot(steps, values, color=colour, linewidth=1.4, label=name)
        for axis, what in zip(axes, ("seconds", "dictionary members", "batch size"), strict=True):
            axis.set(title=what, xlabel="measurements")
        axes[0].set_yscale("log")
        axes[2].set_yscale("log")
        axes[0].legend(frameon=False)
        figure.suptitle(title, x=0.01, ha="left")
        _save(figure, path)


def plot_scaling(candidates: dict[str, Any], members: dict[str, Any], path: Path) -> None:
    """Seconds of a batch over A and over m, with the straight line each is allowed."""
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
        for axis, figures, key, power in zip(axes, (candidates, members), ("A", "m"), (1, 2), strict=True):
            sizes, seconds = np.array(figures[key], dtype=float), np.array(figures["seconds"])
            axis.loglog(sizes, seconds[0] * (sizes / sizes[0]) ** power, color=GREY, linewidth=1, linestyle=":")
            axis.loglog(sizes, seconds, color=ACCENT, marker="o", markersize=4)
            axis.set(title=f"seconds of a batch over {key}", xlabel=key)
            axis.annotate(f"{key}^{power}", (sizes[-1], seconds[0] * (sizes[-1] / sizes[0]) ** power), color=GREY)
        _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(path.with_suffix(".png"), dpi=160)
    plt.close(figure)
