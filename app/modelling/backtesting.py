"""From simulated studies to a forecast: how many measurements it takes to come close to the best, and how that varies.

An interval is bounded by order statistics. Of n exchangeable studies, a further one lies between the k-th smallest and
the k-th largest with probability (n + 1 − 2k)/(n + 1), whatever the distribution is; k is the largest with which that
is at least SHARE. With fewer than nine studies even k = 1 covers less.
"""

import math
from collections.abc import Sequence

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.domain.backtests import SHARE, BacktestPlan, BacktestResult, CurvePoint, Needed, SimulatedChoice
from app.domain.studies import Direction, Objective
from app.modelling.simulating import KnownTable

RANDOM_STUDIES = 400
POINTS = 50  # of a curve

Runs = dict[int, list[IndexArray]]
"""Batch size → the candidates that each simulated study measured, in order."""


def result_of(table: KnownTable, plan: BacktestPlan, runs: Runs) -> BacktestResult:
    """What the simulated studies achieved, beside random choice."""
    objective = plan.configuration.objective
    losses = losses_of(objective, table.means)
    choices = [
        _choice(table, plan, losses, "study", size, [losses[measured] for measured in measured_lists])
        for size, measured_lists in runs.items()
    ]
    choices.append(_choice(table, plan, losses, "random", None, _at_random(losses, plan)))
    return BacktestResult(len(losses), float(table.means[np.argmin(losses)]), plan.within, tuple(choices))


def losses_of(objective: Objective, means: FloatArray) -> FloatArray:
    """(A,) how much worse each candidate is than the best."""
    if objective.direction is Direction.TARGET and objective.target is not None:
        away = np.abs(means - objective.target)
        return np.asarray(away - away.min())
    worse = means - means.min() if objective.direction is Direction.MINIMIZE else means.max() - means
    return np.asarray(worse)


def good_enough(objective: Objective, table: KnownTable) -> float:
    """Five per cent of the range of what is known: the default of `within`."""
    losses = losses_of(objective, table.means)
    return float(0.05 * losses.max())


def needed_of(losses: Sequence[FloatArray], within: float) -> Needed:
    """How many measurements each study took until one was good enough, summed up."""
    reached = [np.flatnonzero(lost <= within) for lost in losses]
    counts = np.sort([int(positions[0]) + 1 if len(positions) else math.inf for positions in reached])
    low, median, high = (None if math.isinf(counts[rank]) else int(counts[rank]) for rank in _ranks(len(counts)))
    return Needed(low, median, high, float(np.mean(np.isfinite(counts))))


def _ranks(studies: int) -> tuple[int, int, int]:
    """Where the lower end, the median and the upper end stand among sorted studies, for words and curves alike."""
    k = max(1, math.floor((studies + 1) * (1 - SHARE) / 2))
    return k - 1, (studies - 1) // 2, studies - k


def _choice(
    table: KnownTable,
    plan: BacktestPlan,
    losses: FloatArray,
    choice: str,
    size: int | None,
    runs: Sequence[FloatArray],
) -> SimulatedChoice:
    needed = needed_of(runs, plan.within)
    words = in_words(needed, plan, size)
    curve = _curve(table, plan, losses, runs)
    return SimulatedChoice("random" if choice == "random" else "study", size, needed, curve, words)


def _at_random(losses: FloatArray, plan: BacktestPlan) -> list[FloatArray]:
    rng = np.random.default_rng(plan.configuration.seed)
    most = min(plan.measurements, len(losses))
    return [losses[rng.permutation(len(losses))[:most]] for _ in range(RANDOM_STUDIES)]


def _curve(
    table: KnownTable, plan: BacktestPlan, losses: FloatArray, runs: Sequence[FloatArray]
) -> tuple[CurvePoint, ...]:
    """Quantiles of the best so far, as values of the objective: the median crosses the goal where `needed_of` says."""
    length = min(plan.measurements, max(len(lost) for lost in runs))
    padded = np.full((len(runs), length), np.inf)
    for row, lost in zip(padded, runs, strict=True):
        row[: len(lost)] = lost[:length]
    best = np.sort(np.minimum.accumulate(padded, axis=1), axis=0)
    shown = np.unique(np.linspace(1, length, min(POINTS, length)).astype(int))
    order = np.argsort(losses, kind="stable")
    values, sorted_losses = table.means[order], losses[order]
    points = []
    for count in shown.tolist():
        quantiles = best[list(_ranks(len(runs))), count - 1]
        ends = [float(values[np.searchsorted(sorted_losses, quantile)]) for quantile in quantiles]
        points.append(CurvePoint(count, min(ends[0], ends[2]), ends[1], max(ends[0], ends[2])))
    return tuple(points)


def in_words(needed: Needed, plan: BacktestPlan, size: int | None) -> str:
    """The forecast in a sentence."""
    unit = f" {plan.configuration.objective.unit}" if plan.configuration.objective.unit else ""
    how = "Random choice" if size is None else f"Batches of {size}"
    goal = f"to come within {plan.within:.4g}{unit} of the best known value"
    verb = "needs" if size is None else "need"
    if needed.median is None:
        share = f"{needed.reached:.0%} of the simulated studies came this close"
        return f"{how} {verb} more than {plan.measurements} measurements {goal}; {share}."
    high = f"{needed.high}" if needed.high is not None else f"more than {plan.measurements}"
    measurements = "1 measurement" if needed.median == 1 else f"{needed.median} measurements"
    return f"{how} {verb} about {measurements} {goal}; mostly {needed.low} to {high}."
