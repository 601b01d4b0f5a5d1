"""What borrowing changed: paired differences of regret, and the experiments to the same regret, with intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.arrays import FloatArray

AFTER = (10, 20)
TARGETS = (0.1, 0.05)
RESAMPLED = 2000
ARMS = ("related", "unrelated", "shuffled")

Curves = dict[tuple[str, int], FloatArray]
"""Task and seed → the regret after 1, 2 … results."""


def report(records: Sequence[dict[str, Any]], *, by_task: bool = False) -> str:
    """A table in Markdown: one row for each file (or task) and kind of earlier results."""
    heads = [f"regret at {count}: without, with, difference" for count in AFTER]
    heads += [f"experiments to {target:g}: without, with, ratio" for target in TARGETS]
    lines = [f"| table | earlier results | studies | {' | '.join(heads)} |", "|---" * (3 + len(heads)) + "|"]
    groups: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        name = f"{record['file']}: {record['task']}" if by_task else record["file"]
        groups.setdefault(name, []).append(record)
    if not by_task and len(groups) > 1:
        groups["all, each table alike"] = list(records)
    for name, group in groups.items():
        lines += [_row(name, arm, group) for arm in ARMS if any(record["arm"] == arm for record in group)]
    return "\n".join(lines)


def beside(ours: Sequence[dict[str, Any]], peers: Sequence[dict[str, Any]]) -> str:
    """A table in Markdown: our regret and a peer's in the studies that both have run."""
    heads = [f"regret at {count}: ours, BayBE, difference" for count in AFTER]
    lines = [f"| table | earlier results | studies | {' | '.join(heads)} |", "|---" * (3 + len(heads)) + "|"]
    theirs = {_place(record): record["regret"] for record in peers}
    pairs = [(record, theirs[_place(record)]) for record in ours if _place(record) in theirs]
    for file in dict.fromkeys(record["file"] for record, _ in pairs):
        for arm in ("without", *ARMS):
            group = [(r["regret"], curve) for r, curve in pairs if (r["file"], r["arm"]) == (file, arm)]
            if group:
                lines.append(f"| {file} | {arm} | {len(group)} | {' | '.join(_compared(group))} |")
    return "\n".join(lines)


def _compared(group: Sequence[tuple[Sequence[float], Sequence[float]]]) -> list[str]:
    weights = np.full(len(group), 1 / len(group))
    cells = []
    for count in AFTER:
        mine, theirs = np.array([[curve[count - 1] for curve in pair] for pair in group]).T
        change, error = _mean_and_error(mine - theirs, weights)
        cells.append(f"{mine.mean():.3f}, {theirs.mean():.3f}, {change:+.3f} ± {1.96 * error:.3f}")
    return cells


def _place(record: dict[str, Any]) -> tuple[object, ...]:
    return record["file"], record["task"], record["seed"], record["arm"]


def _row(name: str, arm: str, records: Sequence[dict[str, Any]]) -> str:
    without, borrowing, files = _paired(records, arm)
    weights = _weights(files)
    cells = []
    for count in AFTER:
        pair = (without[:, count - 1], borrowing[:, count - 1])
        change, error = _mean_and_error(pair[1] - pair[0], weights)
        cells.append(f"{weights @ pair[0]:.3f}, {weights @ pair[1]:.3f}, {change:+.3f} ± {1.96 * error:.3f}")
    for target in TARGETS:
        counts = [needed(curves, target) for curves in (without, borrowing)]
        low, high = _ratio_interval(counts[0], counts[1], weights)
        means = [float(weights @ count) for count in counts]
        cells.append(f"{means[0]:.1f}, {means[1]:.1f}, {means[1] / means[0]:.2f} ({low:.2f} to {high:.2f})")
    return f"| {name} | {arm} | {len(without)} | {' | '.join(cells)} |"


def needed(curves: FloatArray, target: float) -> FloatArray:
    """(n,) results until the regret is at most the target; one more than there are if it never is."""
    reached = curves <= target
    counts = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, curves.shape[1] + 1)
    return np.asarray(counts, dtype=float)


def _paired(records: Sequence[dict[str, Any]], arm: str) -> tuple[FloatArray, FloatArray, list[str]]:
    curves = {(r["file"], r["task"], r["seed"], r["arm"]): r["regret"] for r in records}
    pairs = [place[:3] for place in curves if place[3] == arm and (*place[:3], "without") in curves]
    shortest = min(len(curves[(*place, kind)]) for place in pairs for kind in ("without", arm))
    without, borrowing = (np.array([curves[(*place, kind)][:shortest] for place in pairs]) for kind in ("without", arm))
    return without, borrowing, [place[0] for place in pairs]


def _weights(files: Sequence[str]) -> FloatArray:
    """Every file counts alike, however many studies it has."""
    names, positions, counts = np.unique(files, return_inverse=True, return_counts=True)
    return np.asarray(1 / (len(names) * counts[positions]))


def _mean_and_error(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    mean = float(weights @ values)
    return mean, float(np.sqrt(weights**2 @ (values - mean) ** 2))


def _ratio_interval(without: FloatArray, borrowing: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """A bootstrap over pairs."""
    rng = np.random.default_rng(0)
    chosen = rng.choice(len(without), (RESAMPLED, len(without)), p=weights)
    ratios = borrowing[chosen].mean(axis=1) / without[chosen].mean(axis=1)
    low, high = np.quantile(ratios, (0.025, 0.975))
    return float(low), float(high)
