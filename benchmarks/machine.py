"""What the machine could do: measured rates of matrix products, and the least time a run's sweeps could take with them.

After a batch with |J| distinct candidates and |D| new members, r = |J| + 2|D| + 1 coefficient rows have to meet
Z (m, A) once: 8·m·A bytes are read and 2·r·m·A floating-point operations made. The limit is the slower of the two.
"""

import time
from dataclasses import dataclass

import numpy as np

from app.arrays import FloatArray
from benchmarks.experiment import Trace

REPEATS = 7
ROWS = 32


@dataclass(frozen=True)
class Rates:
    """Of one thread, for a matrix as large as the final Z."""

    bytes_per_second: float
    """Reading Z in a matrix-vector product."""
    flops_per_second: float
    """Multiplying ROWS rows with Z."""


def measured_rates(A: int, m: int) -> Rates:
    """The best of a few products of the run's own shape."""
    rng = np.random.default_rng(0)
    Z, row, rows = rng.random((m, A)), rng.random(m), rng.random((ROWS, m))
    return Rates(8 * m * A / _best(row, Z), 2 * ROWS * m * A / _best(rows, Z))


def least_seconds(trace: Trace, A: int, rates: Rates) -> float:
    """The sum over the batches of the slower of reading and multiplying."""
    total = 0.0
    for batch, m, added in zip(trace.batches, trace.sizes, trace.added, strict=True):
        r = len(np.unique(batch)) + 2 * added + 1
        total += max(8 * m * A / rates.bytes_per_second, 2 * r * m * A / rates.flops_per_second)
    return total


def _best(left: FloatArray, Z: FloatArray) -> float:
    """Seconds of left @ Z."""
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        left @ Z
        times.append(time.process_time() - began)
    return min(times)
