"""Means over repetitions, with their 95 % intervals (Student's t); one repetition has no interval."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student

from app.arrays import BoolArray, FloatArray
from benchmarks.paper.cells import Cell
from benchmarks.paper.records import Record

Key = tuple[str, str, float, int, int]
"""A cell without its repetition: set, system, bandwidth, steps, initial."""
Groups = dict[Key, list[Record]]


NOTHING: Record = {"builds": [], "machines": [], "runs": [], "curves": []}
"""Published before anything was."""


@dataclass(frozen=True)
class Mean:
    """mean ± half, of n."""

    mean: float
    half: float
    n: int

    def __format__(self, digits: str) -> str:
        """Such as 0.109 ± 0.004."""
        mean = format(self.mean, digits)
        return mean if np.isnan(self.half) else f"{mean} ± {format(self.half, digits)}"


def key_of(cell: Cell) -> Key:
    """What all repetitions share."""
    return cell.set, cell.system, cell.bandwidth, cell.steps, cell.initial


def grouped(records: Iterable[Record]) -> Groups:
    """The repetitions of every cell, in order."""
    groups: Groups = defaultdict(list)
    for made in sorted(records, key=lambda record: int(record["seed"])):
        groups[key_of(Cell(**made["cell"]))].append(made)
    return groups


def mean_of(values: Sequence[float]) -> Mean:
    """With the interval of Student's t."""
    n = len(values)
    half = float(student.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    return Mean(float(np.mean(values)), half, n)


def figure(records: Sequence[Record], name: str) -> Mean:
    """One figure over the repetitions."""
    return mean_of([record["figures"][name] for record in records])


def times_of(records: Sequence[Record], others: Sequence[Record], name: str) -> Mean | None:
    """How many times the figure of the others, both of one repetition; None without a repetition in common."""
    base = {record["seed"]: record["figures"][name] for record in others}
    ratios = [record["figures"][name] / base[record["seed"]] for record in records if record["seed"] in base]
    return mean_of(ratios) if ratios else None


class NoCurvesError(Exception):
    """Of some runs only the published figures are at hand."""


def curve(records: Sequence[Record], name: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """t, the mean and the half width of the interval (0 for one repetition); sizes of whole batches only."""
    if not has_curves(records):
        raise NoCurvesError
    values = np.array([record["curves"][name] for record in records])
    means = [mean_of(column.tolist()) for column in values.T]
    half = np.nan_to_num(np.array([mean.half for mean in means]))
    shown = _whole(records) if name == "batch" else np.ones(len(half), dtype=bool)
    return np.array(records[0]["curves"]["t"])[shown], np.array([mean.mean for mean in means])[shown], half[shown]


def has_curves(records: Sequence[Record]) -> bool:
    """Whether all runs are at hand, not only their published figures."""
    return all("curves" in record for record in records)


def _whole(records: Sequence[Record]) -> BoolArray:
    """Where no repetition is in its last batch, which the end of the run cut short."""
    batches = np.array([record["curves"]["batches"] for record in records])
    return np.asarray((batches < batches[:, -1:]).all(axis=0))


def published(groups: Groups, before: Record = NOTHING) -> dict[str, Any]:
    """What goes into the repository: every run's figures, the mean curves (every third point), builds and machines.

    Of cells with runs whose curves are not at hand, those published `before` stay.
    """
    runs = [record for records in groups.values() for record in records]
    made = [record for record in runs if "build" in record]
    kept = [curves for curves in before["curves"] if not has_curves(groups.get(_key(curves), []))]
    machines = [*before["machines"], *(record["machine"] for record in made)]
    return {
        "builds": sorted({*before["builds"], *(record["build"] for record in made)}),
        "machines": list({str(machine): machine for machine in machines}.values()),
        "runs": [
            {"cell": record["cell"], "seed": record["seed"], "figures": _short(record["figures"])} for record in runs
        ],
        "curves": [*kept, *(_curves(key, records) for key, records in groups.items() if has_curves(records))],
    }


def with_published(records: Iterable[Record], before: Record) -> list[Record]:
    """The published runs and, of these records, those of cells that have not been published."""
    known = {Cell(**run["cell"]) for run in before["runs"]}
    return [*before["runs"], *(record for record in records if Cell(**record["cell"]) not in known)]


def _key(named: Record) -> Key:
    return named["set"], named["system"], named["bandwidth"], named["steps"], named["initial"]


def _curves(key: Key, records: Sequence[Record]) -> dict[str, Any]:
    means = {name: curve(records, name)[1] for name in records[0]["curves"]}
    named = dict(zip(("set", "system", "bandwidth", "steps", "initial"), key, strict=True))
    return {
        **named,
        "n": len(records),
        **{name: [_rounded(value) for value in mean[::-3][::-1]] for name, mean in means.items()},
    }


def _short(figures: dict[str, float]) -> dict[str, float]:
    return {name: _rounded(value) for name, value in figures.items()}


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
