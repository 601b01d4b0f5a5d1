"""The theory in numbers, along one run of Global-BBKB.

At some feedbacks the state is laid beside exact computations with every measured candidate: effective dimension,
Theorem 1's bound on the dictionary, Lemma 2's factor, the coverage of the bounds, and the batch that each rule would
make of this very state.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from app.arrays import FloatArray
from app.engine import Ask, State, beta, choose, rng_at, start_from
from app.engine.dictionary import oversampling
from app.engine.settings import EngineSettings, RuleName
from benchmarks.datasets import Problem
from benchmarks.paper.cells import HORIZON, REGRESSION, REPETITIONS, SHORT, Cell
from benchmarks.paper.objectives import NOISE, Objective, objective
from benchmarks.paper.running import Trace, run, settings_of
from benchmarks.paper.systems import BANDWIDTHS

RULES: tuple[RuleName, ...] = ("global", "local", "exact")
MOMENTS = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
DRAWS: dict[str, tuple[tuple[RuleName, ...], dict[str, Any]]] = {
    "q̄ = 2, lazy": (RULES, {}),
    "q̄ = 2, strict": ((), {"resparsify": "strict"}),
    "q̄ of the theory": ((), {"q_bar": None}),
}
"""How the dictionary is drawn, and for which rules batches are made."""
STEPS = {"abalone": HORIZON, "cadata": SHORT}
LONGEST = 1_000
CENTRES = 50


@dataclass(frozen=True)
class Moment:
    """What was found after t measurements."""

    t: int
    batches: int
    members: int
    effective_dimension: float
    log_determinant: float
    """Of I + K/λ: the information gained, twice."""
    dictionary_bound: float
    """9·C̃·(1 + κ²/λ)·q̄·d_eff of Theorem 1."""
    lowest: float
    highest: float
    """Of leverage over exact leverage; Lemma 2: at least 1/3 and at most 3."""
    covered: float
    """Share of the candidates with |f − mean| ≤ beta·√leverage."""
    error: float
    """The largest |f − mean| over beta·√leverage."""
    sizes: tuple[int, ...]
    """Of the batch that each rule makes of this state."""


def theory(folder: Path) -> dict[str, Any]:
    """On both regression sets, for each of DRAWS; and on Abalone's candidates with functions of known norm."""
    found: dict[str, Any] = {}
    for name in REGRESSION:
        measured, cell = objective(name, folder, 0), Cell(name, "bbkb", BANDWIDTHS[name], STEPS[name], 0)
        found[name] = {label: moments(cell, measured, *rules, **changes) for label, (rules, changes) in DRAWS.items()}
        if name == "abalone":
            found["known norm"] = [known_norm(cell, measured.problem, seed) for seed in range(REPETITIONS)]
    return found


def known_norm(cell: Cell, problem: Problem, seed: int) -> dict[str, Any]:
    """How far, over a run of 500 on a function of norm F, f was from the mean, in units of the bounds."""
    cell = replace(cell, repetition=seed, steps=500)
    found = moments(cell, of_known_norm(problem, settings_of(cell, NOISE), seed))
    return {"seed": seed, "error": max(m["error"] for m in found), "covered": min(m["covered"] for m in found)}


def moments(cell: Cell, measured: Objective, *rules: RuleName, **changes: Any) -> list[dict[str, Any]]:
    """The first feedback at or after each of MOMENTS, with the batches of these rules."""
    found: dict[int, Moment] = {}

    def watch(state: State, trace: Trace) -> None:
        t = int(state.counts.sum())
        last = max(moment for moment in (0, *MOMENTS) if moment <= t)
        if last and last not in found:
            found[last] = moment_of(state, measured.problem.f, len(trace.batches), rules)

    run(cell, measured, watch, **changes)
    return [asdict(moment) for moment in found.values()]


def moment_of(state: State, f: FloatArray, batches: int, rules: tuple[RuleName, ...]) -> Moment:
    """Everything exact is computed from scratch with all measured candidates."""
    s, t, eigenvalues = state.settings, int(state.counts.sum()), spectrum(state)
    effective_dimension = float((eigenvalues / (eigenvalues + s.lam)).sum())
    ratio = state.leverage / exact_leverage(state)
    errors = np.abs(f - state.mean) / (beta(state) * np.sqrt(state.leverage))
    return Moment(
        t=t,
        batches=batches,
        members=len(state.S),
        effective_dimension=effective_dimension,
        log_determinant=float(np.log1p(eigenvalues / s.lam).sum()),
        dictionary_bound=9 * s.threshold * (1 + 1 / s.lam) * oversampling(s, t) * effective_dimension,
        lowest=float(ratio.min()),
        highest=float(ratio.max()),
        covered=float((errors <= 1).mean()),
        error=float(errors.max()),
        sizes=tuple(batch_size(state, rule) for rule in rules),
    )


def spectrum(state: State) -> FloatArray:
    """Eigenvalues of the kernel matrix of all measurements, but for zeros: repeats are weights."""
    measured = state.measured
    root = np.sqrt(state.counts[measured])
    K = state.settings.kernel.matrix(state.X[measured], state.X[measured])
    return np.asarray(np.maximum(np.linalg.eigvalsh(root[:, None] * K * root), 0))


def exact_leverage(state: State) -> FloatArray:
    """Of all candidates, with every measured one in the dictionary."""
    exact = start_from(state.X, state.settings.replace(dictionary="all"), state.counts, state.sums)
    return exact.leverage


def batch_size(state: State, rule: RuleName) -> int:
    """Of the next batch under another rule, LONGEST at most."""
    return len(choose(state.replace(settings=state.settings.replace(rule=rule)), Ask(max_size=LONGEST)).picks)


def of_known_norm(problem: Problem, settings: EngineSettings, seed: int) -> Objective:
    """A function of norm F on the same candidates: Σ_i a_i k(x_i, ·) with aᵀKa = F²."""
    rng = rng_at(seed, "known norm", 0)
    centres = problem.X[rng.choice(len(problem.X), CENTRES, replace=False)]
    a, K = rng.normal(size=CENTRES), settings.kernel.matrix(centres, centres)
    f = settings.kernel.matrix(problem.X, centres) @ a * settings.F / np.sqrt(a @ K @ a)
    return Objective(Problem(problem.name, problem.X, f), np.zeros(len(f)), NOISE)
