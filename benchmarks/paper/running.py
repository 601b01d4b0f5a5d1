"""One run of one system: batch by batch, with the time of the system alone.

Seconds are those of the processor (one thread), for other work shares the machine; those of the clock stand beside.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np

from app.arrays import IndexArray
from app.engine import Ask, EngineSettings, State, measure, rng_at, start, start_from
from app.engine.kernels import Gaussian
from benchmarks.paper.cells import HORIZON, Cell
from benchmarks.paper.objectives import Objective
from benchmarks.paper.systems import SYSTEMS

T = TypeVar("T")


@dataclass
class Stopwatch:
    """Runs while a system thinks."""

    cpu: float = 0.0
    wall: float = 0.0

    def time(self, think: Callable[[], T]) -> T:
        """What it came to."""
        cpu, wall = time.process_time(), time.perf_counter()
        answer = think()
        self.cpu += time.process_time() - cpu
        self.wall += time.perf_counter() - wall
        return answer


@dataclass
class Trace:
    """What a run did, batch by batch."""

    batches: list[IndexArray] = field(default_factory=list)
    members: list[int] = field(default_factory=list)
    """Of the dictionary, after each batch."""
    seconds: list[float] = field(default_factory=list)
    """Of the processor, up to the end of each batch."""
    wall: float = 0.0
    started: float = 0.0
    """Seconds of the start from measurements made before (BLESS)."""
    before: IndexArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The candidates of those."""


Watch = Callable[[State, Trace], None]


def settings_of(cell: Cell, noise: float) -> EngineSettings:
    """λ = ξ², F = 1, δ = 1/T, q̄ = 2, C̃ = 2, and what the system insists on."""
    kernel = Gaussian(cell.bandwidth)
    wanted = EngineSettings(
        kernel, lam=noise**2, xi=noise, F=1.0, delta=1 / HORIZON, q_bar=2.0, confidence="tight", seed=cell.repetition
    )
    return SYSTEMS[cell.system].algorithm.settings(wanted)


def run(cell: Cell, objective: Objective, watch: Watch = lambda *_: None, **changes: Any) -> Trace:
    """The whole run; `watch` sees every state, `changes` are made to the settings."""
    stopwatch, trace, done = Stopwatch(), Trace(), 0
    state = stopwatch.time(partial(begun, cell, objective, trace, **changes))
    trace.started = stopwatch.cpu
    while done < cell.steps:
        batch = stopwatch.time(partial(chosen, cell, state, len(trace.batches), done))
        values = objective.values(batch, rng_at(cell.repetition, "noise", done))
        state = stopwatch.time(partial(measure, state, batch, values, expected=False))
        trace.batches.append(batch)
        trace.members.append(len(state.S))
        trace.seconds.append(stopwatch.cpu)
        done += len(batch)
        watch(state, trace)
    trace.wall = stopwatch.wall
    return trace


def begun(cell: Cell, objective: Objective, trace: Trace, **changes: Any) -> State:
    """With nothing, or with the measurements from before."""
    settings, X = settings_of(cell, objective.noise).replace(**changes), objective.problem.X
    if cell.initial == 0:
        return start(X, settings)
    rng = rng_at(cell.repetition, "initial", 0)
    trace.before = rng.integers(len(X), size=cell.initial)
    values = objective.values(trace.before, rng)
    counts = np.bincount(trace.before, minlength=len(X))
    return start_from(X, settings, counts, np.bincount(trace.before, weights=values, minlength=len(X)))


def chosen(cell: Cell, state: State, number: int, done: int) -> IndexArray:
    """The next batch, never past the end; while nothing is known, two random candidates, the same for all systems."""
    if not state.counts.any():
        rng = rng_at(cell.repetition, "first", 0)
        return rng.choice(len(state.X), 2, replace=False).astype(np.int64)
    system, left = SYSTEMS[cell.system], cell.steps - done
    return system.algorithm.choose(state, Ask(number, min(system.batch, left), left)).picks
