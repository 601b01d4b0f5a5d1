"""Figures for docs/benchmarks: quiet axes, direct labels, one accent colour; SVG and PNG."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from benchmarks.experiment import Trace

ACCENT, GREY = "#0f766e", "#8a8f98"
PLAIN = FuncFormatter(lambda value, _: f"{value:g}")
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
    "lines.linewidth": 1.4,
    "svg.hashsalt": "nextbatch",
}


def plot_runs(traces: Sequence[Trace], title: str, path: Path) -> None:
    """Time of every trace (the engine, then the literal form), dictionary and batch size over measurements."""
    with mpl.rc_context(STYLE):
        figure, (time, members, sizes) = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
        for trace, name, colour in zip(traces, ("engine", "literal"), (ACCENT, GREY), strict=False):
            time.plot(_steps(trace), trace.seconds, color=colour)
            _label(time, name, (_steps(trace)[-1], trace.seconds[-1]), colour)
        members.plot(_steps(traces[0]), traces[0].sizes, color=ACCENT)
        sizes.scatter(_steps(traces[0]), [len(batch) for batch in traces[0].batches], s=7, color=ACCENT, linewidth=0)
        time.set(title="seconds", xlabel="measurements", ylim=(0, None))
        members.set(title="members of the dictionary", xlabel="measurements", ylim=(0, None))
        sizes.set(title="size of each batch", xlabel="measurements", yscale="log")
        sizes.yaxis.set_major_formatter(PLAIN)
        figure.suptitle(title, x=0.005, ha="left", color=GREY)
        save(figure, path)


def plot_scaling(candidates: dict[str, Any], members: dict[str, Any], path: Path) -> None:
    """Milliseconds of a batch over A and over m, with the growth that each is allowed."""
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
        _plot_growth(axes[0], candidates["A"], candidates["seconds"], 1, "candidates", "linear")
        _plot_growth(axes[1], members["m"], members["seconds"], 2, "members of the dictionary", "quadratic")
        save(figure, path)


def plot_lists(lines: Sequence[dict[str, Any]], path: Path) -> None:
    """Processor seconds and peak memory of a long list over A, for each way to compute it, and linear growth."""
    ways = list(dict.fromkeys(line["computing"] for line in lines))
    lengths = np.array(sorted({line["candidates"] for line in lines}), dtype=float)
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(1, 3, figsize=(11, 3), layout="constrained")
        shown: dict[str, Callable[[dict[str, Any]], float]] = {
            "processor seconds of a start": lambda line: float(line["start"]["processor"]),
            "processor seconds of a batch": lambda line: float(line["batch"]["processor"]),
            "GB of all processes at their peak": lambda line: sum(line["peak MB"].values()) / 1024,
        }
        for axis, (title, of) in zip(axes, shown.items(), strict=True):
            for number, way in enumerate(ways):
                own = [line for line in lines if line["computing"] == way]
                style = {"color": GREY if number else ACCENT, "marker": "osD^"[number % 4], "markersize": 4}
                x, y = [line["candidates"] for line in own], [of(line) for line in own]
                axis.loglog(x, y, linestyle="-" if number < 2 else "--", label=way, **style)
            first = of(lines[0])
            axis.loglog(lengths, first * lengths / lengths[0], color=GREY, linewidth=1, linestyle=":", label="linear")
            axis.set_xticks(lengths, [f"{length:,.0f}" for length in lengths], minor=False)
            axis.xaxis.set_minor_locator(NullLocator())
            axis.yaxis.set_major_formatter(PLAIN)
            axis.yaxis.set_minor_formatter(NullFormatter())
            axis.set(title=title, xlabel="candidates")
        axes[0].legend(frameon=False, fontsize=8)
        save(figure, path)


def _plot_growth(axis: Any, sizes: list[int], seconds: list[float], power: int, what: str, allowed: str) -> None:
    x, y = np.array(sizes, dtype=float), 1e3 * np.array(seconds)
    bound = y[0] * (x / x[0]) ** power
    axis.loglog(x, bound, color=GREY, linewidth=1, linestyle=":")
    axis.loglog(x, y, color=ACCENT, marker="o", markersize=4)
    _label(axis, allowed, (x[-1], bound[-1]), GREY)
    _label(axis, "measured", (x[-1], y[-1]), ACCENT)
    axis.set_xticks(x, [f"{size:,.0f}" for size in x], minor=False)
    axis.xaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(PLAIN)
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.set(title="milliseconds of a batch", xlabel=what)


def _steps(trace: Trace) -> Any:
    """Measurements made after each batch."""
    return np.cumsum([len(batch) for batch in trace.batches])


def _label(axis: Any, text: str, at: tuple[float, float], colour: str) -> None:
    """A word just left of and above a point."""
    axis.annotate(text, at, xytext=(-4, 4), textcoords="offset points", ha="right", va="bottom", color=colour)


def save(figure: Any, path: Path) -> None:
    """As SVG and as PNG, the same bytes for the same figure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path.with_name(f"{path.name}.svg"), metadata={"Date": None})
    figure.savefig(path.with_name(f"{path.name}.png"), dpi=160)
    plt.close(figure)
