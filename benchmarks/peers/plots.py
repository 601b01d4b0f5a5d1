"""A figure of what was timed: processor seconds of an ask, the fastest on top."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from benchmarks.peers.timing import LIBRARY, SERVICE, Timing
from benchmarks.plots import ACCENT, GREY, PLAIN, STYLE, save


def plot_timings(timings: Sequence[Timing], path: Path) -> None:
    """A panel for each size; what failed is left out."""
    done = [one for one in timings if not one.error]
    sizes = sorted({(one.candidates, one.n) for one in done})
    with mpl.rc_context(STYLE):
        figure, panels = plt.subplots(
            1, len(sizes), figsize=(4.4 * len(sizes), 3), layout="constrained", squeeze=False, sharex=True
        )
        for axis, (candidates, n) in zip(panels[0], sizes, strict=True):
            own = sorted(
                (one for one in done if (one.candidates, one.n) == (candidates, n)), key=lambda one: -one.ask[1]
            )
            colours = [ACCENT if one.who in {LIBRARY, SERVICE} else GREY for one in own]
            axis.scatter([one.ask[1] for one in own], range(len(own)), s=22, color=colours, linewidth=0)
            axis.set_yticks(range(len(own)), [one.who for one in own])
            axis.set(
                title=f"{candidates:,} candidates, {n:,} results", xlabel="processor seconds of an ask", xscale="log"
            )
            axis.xaxis.set_major_formatter(PLAIN)
        save(figure, path)
