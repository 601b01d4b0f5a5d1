"""Figures of the labs: how regret falls with measurements, and what an ask costs."""

from collections.abc import Iterable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from benchmarks.labs.records import Record
from benchmarks.labs.summary import shared
from benchmarks.plots import ACCENT, GREY, PLAIN, STYLE, save

COLOURS = ("#b45309", "#7c3aed", "#2563eb", "#be185d", "#4d7c0f", "#0891b2", "#dc2626", "#475569")


def plot_labs(records: Iterable[Record], ours: str, title: str, path: Path) -> None:
    """Regret of the best so far and mean regret over measurements, and seconds of an ask; means over shared tables."""
    studies = shared(records)
    colours = _colours(sorted({one.policy for one in studies}, key=lambda policy: (policy != ours, policy)), ours)
    with mpl.rc_context(STYLE):
        figure, (best, mean, cost) = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
        for policy, colour in colours.items():
            own = [one for one in studies if one.policy == policy]
            best.plot(*_curve(own, np.minimum.accumulate), color=colour, label=policy)
            mean.plot(*_curve(own, _running_mean), color=colour)
        best.set(title="regret of the best so far", xlabel="measurements", yscale="log")
        mean.set(title="mean regret of all so far", xlabel="measurements", ylim=(0, None))
        _plot_costs(cost, studies, colours)
        best.yaxis.set_major_formatter(PLAIN)
        best.legend(frameon=False, fontsize=7)
        figure.suptitle(f"{title}, {len({one.table for one in studies})} tables", x=0.005, ha="left", color=GREY)
        save(figure, path)


def _plot_costs(axis: Any, studies: Sequence[Record], colours: dict[str, str]) -> None:
    """A dot for the mean of every table."""
    asked = [policy for policy in colours if policy != "random"]
    for height, policy in enumerate(reversed(asked)):
        tables = sorted({one.table for one in studies})
        own = [[one.processor for one in studies if (one.policy, one.table) == (policy, table)] for table in tables]
        axis.scatter([np.mean(part) for part in own], [height] * len(own), s=14, color=colours[policy], linewidth=0)
    axis.set_yticks(range(len(asked)), list(reversed(asked)))
    axis.set(title="processor seconds of an ask", xscale="log", ylim=(-0.5, max(len(asked), 1) - 0.5))
    axis.xaxis.set_major_formatter(PLAIN)


def _colours(policies: Sequence[str], ours: str) -> dict[str, str]:
    others = cycle(COLOURS)
    fixed = {ours: ACCENT, "random": GREY}
    return {policy: fixed.get(policy) or next(others) for policy in policies}


def _curve(studies: Sequence[Record], along: Any) -> tuple[Any, Any]:
    """Measurements, and the mean over tables of the means over seeds, as long as the shortest study."""
    length = min(len(one.regrets) for one in studies)
    tables = sorted({one.table for one in studies})
    own = [[along(one.regrets[:length]) for one in studies if one.table == table] for table in tables]
    return np.arange(1, length + 1), np.mean([np.mean(part, axis=0) for part in own], axis=0)


def _running_mean(regrets: Sequence[float]) -> Any:
    return np.cumsum(regrets) / np.arange(1, len(regrets) + 1)
