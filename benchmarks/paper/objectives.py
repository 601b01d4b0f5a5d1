"""What is measured: a set's objective in [0, 1], its noise, and how long one measurement takes.

The table of NAS-Bench-101 is not to be had; three other tables of trained architectures take its place. Only
NAS-Bench-Macro has several trainings of each architecture: a measurement is one of them, at random. The other two have
one value each, and Gaussian noise is added as for the regression sets. None has training times: see HOURS.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.arrays import FloatArray, IndexArray
from benchmarks.datasets import Problem, columns, encoded, generated, load

NOISE = 0.01
TRAININGS = 3
HOURS = {
    "nor_conv_3x3": 1.0,
    "nor_conv_1x1": 0.4,
    "avg_pool_3x3": 0.1,
    "conv3x3": 1.0,
    "sepconv3x3": 0.4,
    "conv5x5": 2.0,
    "sepconv5x5": 0.7,
    "avgpool3x3": 0.1,
    "maxpool3x3": 0.1,
    "mb3_k3": 0.5,
    "mb6_k5": 1.0,
}
"""The model of cost: a quarter of an hour, and a quarter times this for every operation (others cost nothing). The
order of magnitude is that of NAS-Bench-101."""


@dataclass(frozen=True)
class Objective:
    """Candidates that can be measured."""

    problem: Problem
    hours: FloatArray
    """(A,) of one measurement."""
    noise: float = NOISE
    """Its standard deviation."""
    trainings: FloatArray | None = None
    """(A, 3) the values a measurement can have; without them it is Gaussian."""

    def values(self, picks: IndexArray, rng: np.random.Generator) -> FloatArray:
        """One noisy measurement of each."""
        f = self.problem.f[picks]
        if self.trainings is None:
            return np.asarray(f + rng.normal(scale=self.noise, size=len(picks)))
        return np.asarray(self.trainings[picks, rng.integers(TRAININGS, size=len(picks))])


def objective(name: str, folder: Path, seed: int) -> Objective:
    """The set of that name, its rows permuted by the seed."""
    if name == "generated":
        return _instant(generated(1_000, 8, seed))
    return _architectures(name, folder, seed) if "nas" in name else _instant(load(name, folder, seed))


def _instant(problem: Problem) -> Objective:
    return Objective(problem, np.zeros(len(problem.f)))


def _architectures(name: str, folder: Path, seed: int) -> Objective:
    """One row per architecture; the single trainings where there are any."""
    replicated = "macro" in name
    *features, accuracy = columns(f"{name}_replicates" if replicated else name, folder)
    every = TRAININGS if replicated else 1
    values = np.array(accuracy, dtype=float).reshape(-1, every)
    texts = [column[::every] for column in features]
    order = np.random.default_rng(seed).permutation(len(values))
    mean = values.mean(axis=1)
    scaled = ((values - mean.min()) / np.ptp(mean))[order]
    problem = Problem(name, np.ascontiguousarray(embedded(texts)[order]), scaled.mean(axis=1))
    hours = training_hours(texts)[order]
    if not replicated:
        return Objective(problem, hours)
    return Objective(problem, hours, float(np.sqrt(scaled.var(axis=1).mean())), scaled)


def embedded(features: Sequence[tuple[str, ...]]) -> FloatArray:
    """As in the appendix: the graph's bits and the operations (one-hot), each half with norms of at most one."""
    bits, operations = _halves(features)
    halves = [
        np.column_stack([part for column in half for part in encoded(column)]) for half in (bits, operations) if half
    ]
    return np.hstack([half / np.linalg.norm(half, axis=1).max() for half in halves])


def training_hours(features: Sequence[tuple[str, ...]]) -> FloatArray:
    """HOURS of every architecture; the bits of a graph cost nothing."""
    _, operations = _halves(features)
    return np.asarray(
        0.25 + 0.25 * np.sum([[HOURS.get(value, 0.0) for value in column] for column in operations], axis=0)
    )


def _halves(features: Sequence[tuple[str, ...]]) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Columns of bits, columns of operations."""
    bits = [column for column in features if set(column) <= {"0", "1"}]
    return bits, [column for column in features if column not in bits]
