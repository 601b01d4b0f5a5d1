"""Whole runs as naive loops over the dense formulas: Algorithm 1 with every rule, GP-BUCB, and BKB.

Nothing is updated and nothing is lazy: every step evaluates every candidate from scratch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.engine import oracle
from tests.engine.oracle import Array

Measure = Callable[[int, int], float]
"""The value of a candidate, given its number and how many measurements came before."""

Draw = Callable[[int, list[int], Array], Sequence[bool]]
"""Which measured candidates (in increasing order, with their inclusion probabilities) enter the n-th dictionary."""


@dataclass(frozen=True)
class Problem:
    """A finite optimisation problem and the constants of Theorem 2."""

    K: Array
    measure: Measure
    draw: Draw | None = None
    """None: every chosen candidate is in the dictionary, at once, which makes all posteriors exact."""
    lam: float = 1.0
    xi: float = 0.1
    F: float = 1.0
    delta: float = 0.1
    q_bar: float = 2.0
    threshold: float = 2.0
    confidence: str = "sharp"
    """Or Theorem 2, under any other name."""
    alpha_per_beta: float | None = None
    """None: √threshold, the tight one; the paper has threshold itself."""


@dataclass
class Run:
    """What has happened so far."""

    rows: list[int] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    S: list[int] = field(default_factory=list)
    chosen_leverages: list[float] = field(default_factory=list)
    batches: list[list[int]] = field(default_factory=list)
    dictionaries: list[list[int]] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)


def algorithm_1(problem: Problem, rule: str, start: Sequence[int], horizon: int) -> Run:
    """BBKB: `start` is the first batch; then batches until `horizon` measurements are made."""
    run = Run()
    _feedback(problem, run, list(start))
    while len(run.rows) < horizon:
        _feedback(problem, run, _batch(problem, run, rule, horizon - len(run.rows)))
    return run


def _batch(problem: Problem, run: Run, rule: str, room: int) -> list[int]:
    """Lines 4–8: argmax of ũ_t = μ̃_fb + α̃ σ̃_t until the rule is broken; the breaking candidate is the last."""
    mean = oracle.nystrom_posterior(problem.K, run.S, run.rows, run.y, problem.lam).mean
    run.alphas.append(_alpha(problem, run))
    batch: list[int] = []
    quantum = 0.0
    while len(batch) < room:
        S = _in_force(problem, run, batch)
        leverage = oracle.nystrom_leverage(problem.K, S, [*run.rows, *batch], problem.lam)
        ucb = mean + run.alphas[-1] * np.sqrt(np.maximum(leverage, 0))
        quantum = quantum or nine_digits(ucb, mean)
        batch.append(int(np.argmax(np.rint(ucb / quantum))))
        if not continues(problem, run, rule, batch):
            break
    return batch


def nine_digits(ucb: Array, mean: Array) -> float:
    """UCBs are compared in multiples of this throughout a batch (decision 14); the smallest number wins a tie."""
    top = int(np.argmax(ucb))
    return float(1e-9 * (2 * abs(mean[top]) + abs(ucb[top])))


def continues(problem: Problem, run: Run, rule: str, batch: Sequence[int]) -> bool:
    """The rules of ENGINE 3, each evaluated from nothing."""
    K, S, rows, lam, C = problem.K, _in_force(problem, run, batch), run.rows, problem.lam, problem.threshold
    fits = oracle.global_bound(oracle.nystrom_leverage(K, S, rows, lam), batch) <= C
    match rule:
        case "global":
            return fits
        case "local":
            return fits or bool(oracle.local_bound(K, S, rows, batch, lam).max() <= C)
        case "exact":
            projected = oracle.projected_ratio(K, S, rows, batch, lam)
            return bool(np.maximum(projected, oracle.unprojected_ratio(K, S, rows, batch, lam)).max() <= C)
        case "product":
            return oracle.product_bound(K, S, rows, batch, lam) <= C
    return False


def _in_force(problem: Problem, run: Run, batch: Sequence[int]) -> list[int]:
    """The dictionary inside a batch: frozen if sampled; an exact one holds the members of the batch too."""
    return run.S if problem.draw else sorted({*run.rows, *batch})


def _feedback(problem: Problem, run: Run, batch: list[int]) -> None:
    """Lines 10–18: measure, then draw every past measurement anew with the leverages of the start of the batch."""
    leverage = oracle.nystrom_leverage(problem.K, run.S, run.rows, problem.lam)
    for x in batch:
        run.y.append(problem.measure(x, len(run.rows)))
        run.rows.append(x)
        run.chosen_leverages.append(float(leverage[x]))
    run.S = _dictionary(problem, run, leverage)
    run.batches.append(batch)
    run.dictionaries.append(run.S)


def _dictionary(problem: Problem, run: Run, leverage: Array) -> list[int]:
    measured = sorted(set(run.rows))
    if problem.draw is None:
        return measured
    chances = [oracle.summed_inclusion(leverage[x], problem.q_bar, run.rows.count(x)) for x in measured]
    drawn = problem.draw(len(run.batches), measured, np.array(chances))
    S = [x for x, chosen in zip(measured, drawn, strict=True) if chosen]
    return S or [max(measured, key=lambda x: (leverage[x], -x))]


def _alpha(problem: Problem, run: Run) -> float:
    factor = np.sqrt(problem.threshold) if problem.alpha_per_beta is None else problem.alpha_per_beta
    constants = problem.lam, problem.xi, problem.delta, problem.F
    if problem.confidence == "sharp":
        return float(factor * oracle.sharp_beta(problem.K, run.S, run.rows, *constants))
    return float(factor * oracle.beta(run.chosen_leverages, *constants))


def gp_bucb(problem: Problem, start: Sequence[int], horizon: int) -> list[list[int]]:
    """GP-BUCB (Desautels and others, adaptive) on the exact process: an independent loop, with the sharp beta."""
    K, lam = problem.K, problem.lam
    rows, batches = list(start), [list(start)]
    y = [problem.measure(x, t) for t, x in enumerate(rows)]
    while len(rows) < horizon:
        before = oracle.exact_posterior(K, rows, y, lam)
        beta = oracle.sharp_beta(K, sorted(set(rows)), rows, lam, problem.xi, problem.delta, problem.F)
        alpha = np.sqrt(problem.threshold) * beta
        batch: list[int] = []
        product = 1.0
        while product <= problem.threshold and len(rows) + len(batch) < horizon:
            joined = [*rows, *batch]
            sigma2 = oracle.exact_posterior(K, joined, np.zeros(len(joined)), lam).leverage
            batch.append(int(np.argmax(before.mean + alpha * np.sqrt(sigma2))))
            product *= 1 + sigma2[batch[-1]]
        y += [problem.measure(x, len(rows) + s) for s, x in enumerate(batch)]
        rows += batch
        batches.append(batch)
    return batches


def bkb(problem: Problem, start: Sequence[int], horizon: int) -> list[int]:
    """BKB: one candidate, one value, one new dictionary at a time, after a start; draws as the problem says."""
    run = Run()
    _feedback(problem, run, list(start))
    while len(run.rows) < horizon:
        posterior = oracle.nystrom_posterior(problem.K, run.S, run.rows, run.y, problem.lam)
        ucb = posterior.mean + _alpha(problem, run) * np.sqrt(np.maximum(posterior.leverage, 0))
        _feedback(problem, run, [int(np.argmax(ucb))])
    return run.rows
