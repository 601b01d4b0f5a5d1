"""What the sparse model of auto mode loses against the exact one, on a real set, beyond the exact range."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from app.engine import EngineSettings, State, start_from
from app.engine.auto import AutoOptions
from app.engine.kernels import Matern
from benchmarks.datasets import Problem

MOST_DOUBLINGS = 4


def losses(problem: Problem, measured: int, lengthscale: float = 3.0, lam: float = 0.1) -> dict[str, Any]:
    """RMSE on what was not measured, and means and variances against the exact model's, for three dictionaries.

    The good candidates are measured more often than the others, as in a study. "drawn" has about 400 members, each
    drawn with its leverage.
    """
    y = (problem.f - problem.f.mean()) / problem.f.std()
    weight = np.exp(y)
    numbers = np.random.default_rng(1).choice(len(y), measured, replace=False, p=weight / weight.sum())
    counts = np.bincount(numbers, minlength=len(y))
    exact_settings = EngineSettings(Matern(lengthscale, 2.5), lam=lam, dictionary="all", hallucination="full")

    def make(**changes: Any) -> State:
        return start_from(problem.X, exact_settings.replace(**changes), counts, counts * y)

    exact, seconds = _timed(make)
    members = AutoOptions().members_for(len(y))
    greedy, greedy_seconds = _timed(lambda: make(dictionary="greedy", members=members))
    drawn, drawn_seconds = _timed(lambda: _drawn(make, 400, measured))
    return {
        "measured": measured,
        "lengthscale": lengthscale,
        "exact": _figures(exact, exact, y, seconds),
        "greedy": _figures(greedy, exact, y, greedy_seconds),
        "drawn": _figures(drawn, exact, y, drawn_seconds),
    }


def _drawn(make: Callable[..., State], wanted: int, measured: int) -> State:
    """q̄ grows from wanted/measured until half as many members as wanted are drawn."""
    for doubling in range(MOST_DOUBLINGS):
        state = make(dictionary="sampled", q_bar=min(2.0, wanted / measured * 2**doubling))
        if 2 * len(state.S) >= wanted:
            break
    return state


def _timed(make: Callable[[], State]) -> tuple[State, float]:
    began = time.process_time()
    state = make()
    return state, time.process_time() - began


def _figures(state: State, exact: State, y: Any, seconds: float) -> dict[str, Any]:
    """Distances of means are in posterior standard deviations of the exact model."""
    off = np.abs(state.mean - exact.mean) / np.sqrt(exact.variance)
    unmeasured = state.counts == 0
    return {
        "members": len(state.S),
        "seconds": seconds,
        "rmse": float(np.sqrt(np.mean((state.mean - y)[unmeasured] ** 2))),
        "mean_off_most": float(off.max()),
        "mean_off_99": float(np.quantile(off, 0.99)),
        "variance_ratio_most": float((state.variance / exact.variance).max()),
    }
