"""The pictures of the page, after the figures of the paper."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt

from benchmarks.paper.cells import HORIZON, NAS, REGRESSION, SEARCH_BANDWIDTHS, SEARCHERS, SHORT, SWEEP, WITH_A_KERNEL
from benchmarks.paper.panels import COLOURS, Series, finish, panel
from benchmarks.paper.summary import Groups, NoCurvesError, figure
from benchmarks.paper.systems import SYSTEMS, VARIANTS
from benchmarks.paper.tables import TITLES
from benchmarks.plots import STYLE, save

BATCHED = ("bbkb", "bbkb-local", "bbkb-exact", "gp-bucb", "gp-bucb-global")
LOG = {"xscale": "log"}


def draw_all(groups: Groups, folder: Path) -> list[str]:
    """Every picture, each under the name of its function; those that could not be drawn for want of curves."""
    mpl.use("agg")
    left = []
    with mpl.rc_context(STYLE):
        for draw in (regret, time, sizes, variants, search_time, search_regret, sweep):
            name = draw.__name__.replace("_", "-")
            try:
                save(draw(groups), folder / name)
            except NoCurvesError:
                plt.close()
                left.append(name)
    return left


def regret(groups: Groups) -> Any:
    """Section 5: regret over that of uniform choice."""
    drawing, axes = _grid(1, 2)
    for axis, name in zip(axes[0], REGRESSION, strict=True):
        look = {"xlim": (20, HORIZON), "ylim": (0, 1.1), **LOG}
        panel(
            axis, _named(on(groups, name, HORIZON, SHORT)), "regret_ratio", f"{TITLES[name]}: regret ÷ uniform", **look
        )
    return drawing


def variants(groups: Groups) -> Any:
    """Global-BBKB with more and less exploration, and with a dictionary that forgets at once."""
    drawing, axes = _grid(1, 2)
    for axis, name in zip(axes[0], REGRESSION, strict=True):
        series = _only(on(groups, name, HORIZON, SHORT), ("bbkb", *VARIANTS, "bkb"))
        panel(axis, series, "regret_ratio", f"{TITLES[name]}: regret ÷ uniform", ylim=(0, 1.1), **LOG)
    return drawing


def time(groups: Groups) -> Any:
    """Section 5: seconds of the first 2,000 steps."""
    drawing, axes = _grid(1, 2)
    for axis, name in zip(axes[0], REGRESSION, strict=True):
        panel(axis, _named(on(groups, name, SHORT)), "seconds", f"{TITLES[name]}: processor seconds", yscale="log")
    return drawing


def sizes(groups: Groups) -> Any:
    """Batch and dictionary over the measurements."""
    drawing, axes = _grid(2, 2)
    for (upper, lower), name in zip(axes.T, REGRESSION, strict=True):
        series = on(groups, name, HORIZON, SHORT)
        batched, modelled = _only(series, BATCHED), _only(series, (*BATCHED, "thompson", "bkb"))
        panel(upper, batched, "batch", f"{TITLES[name]}: size of the batch", yscale="log", **LOG)
        panel(lower, modelled, "members", f"{TITLES[name]}: members of the dictionary", ylim=(0, None), **LOG)
    return drawing


def search_time(groups: Groups) -> Any:
    """Section 5: seconds without training, batch size, and all time with training, after 2,000 random measurements."""
    panels = {"seconds": "processor seconds", "batch": "size of the batch", "hours": "hours with training"}
    drawing, axes = _grid(len(NAS), 3)
    for row, name in zip(axes, NAS, strict=True):
        for axis, (what, title) in zip(row, panels.items(), strict=True):
            panel(axis, searched(groups, name, 2_000), what, f"{TITLES[name]}: {title}", yscale="log")
    return drawing


def search_regret(groups: Groups) -> Any:
    """Section 5: regret ratio and simple regret after random measurements, and simple regret without."""
    panels = (
        ("regret_ratio", 2_000, "regret ÷ uniform, 2,000 before", 1.1),
        ("simple_regret", 2_000, "simple regret, 2,000 before", None),
        ("simple_regret", 0, "simple regret, none before", 0.05),
    )
    drawing, axes = _grid(len(NAS), 3)
    for row, name in zip(axes, NAS, strict=True):
        for axis, (what, before, title, top) in zip(row, panels, strict=True):
            panel(axis, searched(groups, name, before), what, f"{TITLES[name]}: {title}", ylim=(0, top), **LOG)
    return drawing


def sweep(groups: Groups) -> Any:
    """Appendix: regret ratio after 2,000 steps over the bandwidth."""
    drawing, axes = _grid(1, 2)
    for axis, name in zip(axes[0], REGRESSION, strict=True):
        ends = []
        for system in WITH_A_KERNEL:
            found = [(s, records) for s in reversed(SWEEP) if (records := groups.get((name, system, s, SHORT, 0)))]
            if len(found) > 1:
                y = [figure(records, "regret_ratio").mean for _, records in found]
                axis.plot([s for s, _ in found], y, color=COLOURS[system], marker="o", markersize=3)
                ends.append((system, y[-1]))
        finish(
            axis,
            ends,
            title=f"{TITLES[name]}: regret ÷ uniform at 2,000",
            xlabel="bandwidth",
            xticks=SWEEP,
            ylim=(0, None),
        )
    return drawing


def on(groups: Groups, name: str, *steps: int) -> Series:
    """The records of every system on a set, of the first of these lengths that was run."""
    found: Series = {}
    for key, system in SYSTEMS.items():
        wanted = [groups.get((name, key, system.bandwidth(name), length, 0), []) for length in steps]
        found[key] = next(filter(None, wanted), [])
    return {key: records for key, records in found.items() if records}


def searched(groups: Groups, name: str, before: int) -> Series:
    """The records of every searcher on a table of architectures."""
    keys = {system: (name, system, SEARCH_BANDWIDTHS[before], SHORT, before) for system in SEARCHERS}
    return {system: groups[key] for system, key in keys.items() if key in groups}


def _named(series: Series) -> Series:
    """The systems of the paper."""
    return {system: records for system, records in series.items() if system not in VARIANTS}


def _only(series: Series, systems: Iterable[str]) -> Series:
    return {system: series[system] for system in systems if system in series}


def _grid(rows: int, columns: int) -> Any:
    """Panels of one size."""
    return plt.subplots(rows, columns, figsize=(5.6 * columns, 3.9 * rows), layout="constrained", squeeze=False)
