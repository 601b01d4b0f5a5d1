"""How honest auto mode is about its doubt: intervals, what is left to gain, and when it would stop.

    python -m benchmarks.labs.calibration run --seeds 0:4
    python -m benchmarks.labs.calibration page --out docs/benchmarks/calibration.jsonl

A study is simulated as in `simulation`, without noise or with real replicates. After some results everything that auto
mode says is compared with the table, which knows the truth.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from rich.progress import track

from app.arrays import FloatArray
from benchmarks.datasets import FOLDER
from benchmarks.labs.moments import SHARES, Moment, study
from benchmarks.labs.tables import LABS, REPLICATED, load
from benchmarks.lines import append, read
from benchmarks.one_thread import one_blas_thread
from benchmarks.pages import DOCS, fill, markdown
from benchmarks.plots import ACCENT, GREY, save

SHOWN = (0.5, 0.8, 0.95)
SHOWN_AFTER = (10, 20, 40, 60)
"""Results after which what was said is shown; whether to stop is looked at after every batch."""

BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
TOLERANCES = (0.05, 0.1, 0.2, 0.3, 0.5)
MORE = (
    "abalone",
    "bicarbonate",
    "cadata",
    "enas_dag6_cifar10",
    "nas_bench_201_cifar10",
    "nas_bench_macro_cifar10",
    "reizman_iv",
    "virtual_suzuki_i",
)
"""Beside the labs; some of the second collection (`second`)."""
HELD_OUT = ("gpu_convolution", "hpo_alexnet", "lnp3", "nas201_latency")
"""Not looked at while the kernel, the tails and what is added for unexplained differences were chosen."""

YOUNG = 20
"""Results before which stopping is never advised."""

CHANCES = (
    ("the best is measured", "chance_measured", "is_measured", "o"),
    ("the next batch is better", "next_chance", "next_better", "s"),
)

RESULTS = Path("benchmarks/results/calibration.jsonl")


def intervals(moments: Sequence[Moment]) -> str:
    """A row for each n: what intervals cover, in the mean over tables."""
    header = ("n", "tables", "studies", *(f"{share:.0%}" for share in SHOWN))
    chosen = [SHARES.index(share) for share in SHOWN]
    rows = [
        (n, len(_by_table(part)), len(part), *(f"{_coverage(part)[i]:.3f}" for i in chosen))
        for n, part in _by_n(moments).items()
    ]
    return markdown(header, rows)


def gains(moments: Sequence[Moment]) -> str:
    """A row for each n: the gain that is left, what was said of it, and how often the bound holds."""
    header = ("n", "true gain", "expected", "upper", "holds")
    rows = [
        (
            n,
            *(f"{np.mean([getattr(one, name) for one in part]):.3f}" for name in ("true_gain", "expected", "upper")),
            f"{np.mean([one.true_gain <= one.upper + 1e-12 for one in part]):.3f}",
        )
        for n, part in _by_n(moments).items()
    ]
    return markdown(header, rows)


def chances(moments: Sequence[Moment]) -> str:
    """A row for each n: what was said of the best candidate and of the next batch, and what is true."""
    header = (
        "n",
        "the best is measured: said",
        "true",
        "the next batch is better: said",
        "true",
        "can still be the best, share of the list",
        "the best is among them or measured",
    )
    names = ("chance_measured", "is_measured", "next_chance", "next_better", "possible", "best_possible")
    rows = [
        (n, *(f"{np.mean([getattr(one, name) for one in part]):.3f}" for name in names))
        for n, part in _by_n(moments).items()
    ]
    return markdown(header, rows)


def reliability(moments: Sequence[Moment]) -> str:
    """A row for each range of what was said: what was said in the mean, and how often it was true."""
    header = (
        "said",
        "the best is measured: moments",
        "said",
        "true",
        "the next batch is better: moments",
        "said",
        "true",
    )
    kinds = [_binned(moments, "chance_measured", "is_measured"), _binned(moments, "next_chance", "next_better")]
    rows = []
    for i, low in enumerate(BINS):
        cells = [
            (len(part), *(f"{x:.3f}" for x in part.mean(axis=0))) if len(part) else (0, "–", "–")
            for part in (kind[i] for kind in kinds)
        ]
        rows.append((f"{low:.1f} to {(*BINS, 1.0)[i + 1]:.1f}", *cells[0], *cells[1]))
    return markdown(header, rows)


def _binned(moments: Sequence[Moment], said: str, true: str) -> list[FloatArray]:
    """(moments, 2) for each of BINS: what was said and what is true."""
    both = np.array([(getattr(one, said), getattr(one, true)) for one in moments], dtype=float).reshape(-1, 2)
    place = np.searchsorted(BINS, both[:, 0], side="right") - 1
    return [both[place == i] for i in range(len(BINS))]


def stops(moments: Sequence[Moment]) -> str:
    """How often stopping would have been advised, and wrongly."""
    old = [one for one in moments if one.n >= YOUNG]
    advised = {tolerance: [one for one in old if one.upper <= tolerance] for tolerance in TOLERANCES}
    wrong = [sum(one.true_gain > tolerance for one in part) for tolerance, part in advised.items()]
    rows = [("stops", *map(len, advised.values())), ("of them wrong", *wrong)]
    return markdown(("at most this share of the range is left", *TOLERANCES), rows)


def first_stops(moments: Sequence[Moment]) -> str:
    """Studies that stop when they are first advised to: how many, after how many results, and how many wrongly.

    A stop is wrong if more was left to gain than the advice calls negligible. The advice of the service, then that of
    studies which state a share of the table's range.
    """
    header = ("negligible", "studies", "stop", "after, mean", "wrong", "left when wrong, most", "left, mean")
    rows = [_first_stops("5 % of the range of the results", moments, lambda one: one.advice == "stop", None)]
    for tolerance in TOLERANCES:
        stops_here = partial(_is_enough, tolerance)
        rows.append(_first_stops(f"{tolerance} of the table's range", moments, stops_here, tolerance))
    return markdown(header, rows)


def _is_enough(tolerance: float, one: Moment) -> bool:
    return one.n >= YOUNG and one.upper <= tolerance


def _first_stops(
    name: str, moments: Sequence[Moment], is_stop: Callable[[Moment], bool], tolerance: float | None
) -> tuple[object, ...]:
    studies = _by_study(moments)
    firsts = [first for part in studies if (first := next((one for one in part if is_stop(one)), None))]
    wrong = [one for one in firsts if one.true_gain > (one.negligible if tolerance is None else tolerance)]
    if not firsts:
        return name, len(studies), 0, "–", 0, "–", "–"
    return (
        name,
        len(studies),
        len(firsts),
        f"{np.mean([one.n for one in firsts]):.1f}",
        len(wrong),
        f"{max(one.true_gain for one in wrong):.3f}" if wrong else "–",
        f"{np.mean([one.true_gain for one in firsts]):.4f}",
    )


def _by_study(moments: Iterable[Moment]) -> list[list[Moment]]:
    """The moments of each study, in order."""
    groups: dict[tuple[str, int, bool], list[Moment]] = defaultdict(list)
    for one in moments:
        groups[one.table, one.seed, one.noisy].append(one)
    return [sorted(part, key=lambda one: one.n) for part in groups.values()]


def plot(moments: Sequence[Moment], path: Path) -> None:
    """What intervals cover against what they say, a line for each n; how often chances come true, a line for each."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.5))
    for shade, (n, part) in zip(np.linspace(0.35, 1, len(SHOWN_AFTER)), _by_n(moments).items(), strict=False):
        left.plot(SHARES, _coverage(part), color=ACCENT, alpha=shade, marker="o", markersize=3, label=f"n = {n}")
    left.set(xlabel="the interval says", ylabel="it covers")
    for label, said, true, marker in CHANCES:
        means = np.array([part.mean(axis=0) for part in _binned(moments, said, true) if len(part)])
        right.plot(*means.T, color=ACCENT, marker=marker, linestyle="-" if marker == "o" else "--", label=label)
    right.set(xlabel="the chance said", ylabel="how often it was true")
    for axes in (left, right):
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=1)
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.legend(frameon=False)
    save(figure, path)


def write(moments: Sequence[Moment], folder: Path) -> None:
    """The tables of calibration.md and its figure; held-out tables and real replicates apart."""
    parts = {
        "": [one for one in moments if one.table not in HELD_OUT and not one.noisy],
        "held out ": [one for one in moments if one.table in HELD_OUT],
        "noisy ": [one for one in moments if one.noisy],
    }
    tables: dict[str, str] = {}
    for name, part in parts.items():
        tables |= {f"{name}{title}": table(part) for title, table in TABLES.items() if part}
    fill(folder / "calibration.md", tables)
    plot(parts[""] or moments, folder / "calibration")


TABLES = {
    "intervals": intervals,
    "gains": gains,
    "chances": chances,
    "reliability": reliability,
    "stops": stops,
    "first stops": first_stops,
}


def _by_n(moments: Iterable[Moment]) -> dict[int, list[Moment]]:
    groups: dict[int, list[Moment]] = defaultdict(list)
    for one in moments:
        if one.n in SHOWN_AFTER:
            groups[one.n].append(one)
    return dict(sorted(groups.items()))


def _by_table(moments: Iterable[Moment]) -> dict[str, list[Moment]]:
    groups: dict[str, list[Moment]] = defaultdict(list)
    for one in moments:
        groups[one.table].append(one)
    return groups


def _coverage(moments: Iterable[Moment]) -> FloatArray:
    """The mean over tables of the means over studies, for each of SHARES."""
    means = [np.mean([one.covered for one in part], axis=0) for part in _by_table(moments).values()]
    coverage: FloatArray = np.mean(means, axis=0)
    return coverage


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labs.calibration", description=__doc__)
    parser.add_argument("command", nargs="?", choices=("run", "page"), default="run")
    parser.add_argument("--data", type=Path, default=FOLDER, help="folder of the tables")
    parser.add_argument("--out", type=Path, default=RESULTS, help="records, one line of JSON each")
    parser.add_argument("--pages", type=Path, default=DOCS, help="folder of the page")
    parser.add_argument("--tables", nargs="+", help="default: all, or those with replicates if noisy")
    parser.add_argument("--noisy", action="store_true", help="real replicates, of the tables that have them")
    parser.add_argument("--seeds", default="0:4", help="first:last, the last not included")
    options = parser.parse_args(arguments)
    if options.command == "page":
        write(read(options.out, Moment), options.pages)
        return 0
    run(options)
    print(*(table(read(options.out, Moment)) for table in TABLES.values()), sep="\n\n")
    return 0


def run(options: argparse.Namespace) -> None:
    """Every study asked for that the file does not hold yet."""
    first, last = map(int, options.seeds.split(":"))
    done = {(one.table, one.seed, one.noisy) for one in read(options.out, Moment)}
    names = options.tables or (REPLICATED if options.noisy else (*LABS, *MORE, *HELD_OUT))
    table = cache(lambda name: load(options.data, name, options.noisy))
    wanted = [(name, seed) for seed in range(first, last) for name in names if (name, seed, options.noisy) not in done]
    with one_blas_thread():
        for name, seed in track(wanted, "studies"):
            for moment in list(study(table(name), seed, options.noisy)):
                append(options.out, moment)


if __name__ == "__main__":
    sys.exit(main())
