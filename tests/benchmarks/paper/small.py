"""A small generated problem, and runs on it."""

import numpy as np

from benchmarks.datasets import generated
from benchmarks.paper.cells import Cell
from benchmarks.paper.objectives import Objective
from benchmarks.paper.records import Record, record
from benchmarks.paper.running import run


def cell(system: str, seed: int = 0, steps: int = 90, initial: int = 0) -> Cell:
    return Cell("generated", system, 3.0, steps, seed, initial)


def objective(seed: int = 0) -> Objective:
    """200 candidates; measuring number i takes i hours."""
    return Objective(generated(200, 2, seed), np.arange(200.0))


def made(wanted: Cell) -> Record:
    measured = objective(wanted.repetition)
    return record(wanted, measured, run(wanted, measured))
