"""How honest auto mode is about its doubt: intervals, what is left to gain, and when it would stop.

    python -m benchmarks.labs.calibration run --seeds 0:4
    python -m benchmarks.labs.calibration page

A study of a table without noise is simulated as in `simulation`. After some results everything that auto mode says is
compared with the table, which knows the truth.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from rich.progress import track
from threadpoolctl import threadpool_limits

from app.arrays import FloatArray, IndexArray
from app.engine import rng_at
from app.engine.auto import (
    AutoOptions,
    Observed,
    Predictive,
    contenders,
    draw_jointly,
    expected_up_to,
    gains_over,
    integrated,
)
from benchmarks.datasets import FOLDER
from benchmarks.labs.policies import Auto, sign_of
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.tables import LABS, Table, load
from benchmarks.lines import append, read
from benchmarks.pages import DOCS, fill, markdown
from benchmarks.plots import ACCENT, GREY, save

MOMENTS = (10, 20, 40, 60)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
SHOWN = (0.5, 0.8, 0.95)
TOLERANCES = (0.05, 0.1, 0.2, 0.3, 0.5)
HELD_OUT = ("abalone", "enas_dag6_cifar10", "nas_bench_201_cifar10")
"""Not looked at while the tails and the factor of the intervals were chosen."""

YOUNG = 20
"""Results before which stopping is never advised."""

RESULTS = Path("benchmarks/results/calibration.jsonl")


@dataclass(frozen=True)
class Moment:
    """What auto mode said after n results, and what is true; gains as a share of the table's range."""

    table: str
    seed: int
    n: int
    covered: tuple[float, ...]
    """The share of unmeasured candidates inside their interval, for each of SHARES."""
    true_gain: float
    expected: float
    upper: float
    chance_measured: float
    is_measured: bool

    @property
    def key(self) -> tuple[str, int, int]:
        return self.table, self.seed, self.n


def study(table: Table, seed: int) -> Iterable[Moment]:
    """A study in batches of five, looked at after MOMENTS results."""
    protocol = Protocol(max(MOMENTS), 5)
    table = table.permuted(rng_at(seed, f"labs {table.name}", 0).permutation(len(table.truth)))
    policy, numbers = Auto(table, protocol, seed, AutoOptions(noisy=False)), np.zeros(0, dtype=np.int64)
    while len(numbers) < min(protocol.T, len(table.truth)):
        picks = policy.ask(Observed.of(len(table.truth), numbers, table.truth[numbers]), protocol.q)
        for n in MOMENTS:
            if len(numbers) < n <= len(numbers) + len(picks):
                yield look(table, policy, np.concatenate((numbers, picks))[:n], seed)
        numbers = np.concatenate((numbers, picks))


def look(table: Table, policy: Auto, numbers: IndexArray, seed: int) -> Moment:
    """Everything that is said after these results."""
    observed = Observed.of(len(table.truth), numbers, table.truth[numbers])
    state, model = policy.state(observed)
    student = integrated(state, model, observed)
    predictive, unmeasured = Predictive(student), observed.counts == 0
    off = np.abs(model.objective.to_model(table.truth) - predictive.location)[unmeasured]
    truth, width = sign_of(table) * table.truth, float(np.ptp(table.truth))
    recommended = int(numbers[np.argmax(truth[numbers])])
    drawn = contenders(state, student, np.array([recommended]))
    values = model.objective.to_user(draw_jointly(state, student, drawn, seed, len(numbers)).values) * sign_of(table)
    gains = gains_over(values, np.arange(len(drawn)), int(np.searchsorted(drawn, recommended))) / width
    upper = float(np.quantile(gains, 0.95))
    return Moment(
        table=table.name,
        seed=seed,
        n=len(numbers),
        covered=tuple(float((off <= predictive.half_width(share)[unmeasured]).mean()) for share in SHARES),
        true_gain=float(truth.max() - truth[recommended]) / width,
        expected=expected_up_to(upper, gains),
        upper=upper,
        chance_measured=float((observed.counts[drawn[values.argmax(axis=0)]] > 0).mean()),
        is_measured=bool(truth[numbers].max() == truth.max()),
    )


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
    header = ("n", "true gain", "expected", "upper", "holds", "chance that the best is measured", "it is")
    names = ("true_gain", "expected", "upper", "holds", "chance_measured", "is_measured")
    rows = []
    for n, part in _by_n(moments).items():
        columns = {name: [getattr(one, name) for one in part] for name in names if name != "holds"}
        columns["holds"] = [one.true_gain <= one.upper + 1e-12 for one in part]
        rows.append((n, *(f"{np.mean(columns[name]):.3f}" for name in names)))
    return markdown(header, rows)


def stops(moments: Sequence[Moment]) -> str:
    """How often stopping would have been advised, and wrongly."""
    old = [one for one in moments if one.n >= YOUNG]
    advised = {tolerance: [one for one in old if one.upper <= tolerance] for tolerance in TOLERANCES}
    wrong = [sum(one.true_gain > tolerance for one in part) for tolerance, part in advised.items()]
    rows = [("stops", *map(len, advised.values())), ("of them wrong", *wrong)]
    return markdown(("at most this share of the range is left", *TOLERANCES), rows)


def plot(moments: Sequence[Moment], path: Path) -> None:
    """What intervals cover against what they say, a line for each n."""
    figure, axes = plt.subplots(figsize=(4.5, 4.5))
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    for shade, (n, part) in zip(np.linspace(0.35, 1, len(MOMENTS)), _by_n(moments).items(), strict=False):
        axes.plot(SHARES, _coverage(part), color=ACCENT, alpha=shade, marker="o", markersize=3, label=f"n = {n}")
    axes.set(xlabel="the interval says", ylabel="it covers", xlim=(0, 1), ylim=(0, 1))
    axes.legend(frameon=False)
    save(figure, path)


def write(moments: Sequence[Moment], folder: Path) -> None:
    """The tables of calibration.md and its figure; held-out tables apart."""
    parts = {
        "": [one for one in moments if one.table not in HELD_OUT],
        "held out ": [one for one in moments if one.table in HELD_OUT],
    }
    tables: dict[str, str] = {}
    for name, part in parts.items():
        made = {"intervals": intervals(part), "gains": gains(part), "stops": stops(part)} if part else {}
        tables |= {f"{name}{title}": table for title, table in made.items()}
    fill(folder / "calibration.md", tables)
    plot(parts[""] or moments, folder / "calibration")


def _by_n(moments: Iterable[Moment]) -> dict[int, list[Moment]]:
    groups: dict[int, list[Moment]] = defaultdict(list)
    for one in moments:
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
    parser.add_argument("--tables", nargs="+", default=LABS)
    parser.add_argument("--seeds", default="0:4", help="first:last, the last not included")
    options = parser.parse_args(arguments)
    if options.command == "page":
        write(read(options.out, Moment), options.pages)
        return 0
    first, last = map(int, options.seeds.split(":"))
    done = {(one.table, one.seed) for one in read(options.out, Moment)}
    table = cache(lambda name: load(options.data, name))
    wanted = [(name, seed) for seed in range(first, last) for name in options.tables if (name, seed) not in done]
    with threadpool_limits(1):
        for name, seed in track(wanted, "studies"):
            for moment in list(study(table(name), seed)):
                append(options.out, moment)
    moments = read(options.out, Moment)
    print(intervals(moments), gains(moments), stops(moments), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
