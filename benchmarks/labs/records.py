"""What is kept of a study: its figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from app.arrays import IndexArray
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.tables import Table

Key = tuple[str, str, str, int]


@dataclass(frozen=True)
class Record:
    """Figures of one study; regrets are of true values, as a share of the range of the table."""

    policy: str
    table: str
    protocol: str
    seed: int
    simple: float
    """Regret of the best candidate measured."""
    hit: bool
    """Whether one of the best 1 % was measured."""
    cumulative: float
    """Sum of all regrets over what random choice would have in expectation."""
    recommended: float
    """Regret of the candidate recommended in the end."""
    seconds: float
    """Mean of all asks after the first; it tells the values measured since, too."""
    processor: float = float("nan")
    """The same in seconds of processor time; unknown in records made before it was measured."""
    regrets: tuple[float, ...] = ()
    """Of every measurement, in order."""
    rounds: float = float("nan")
    """Batches, the first included; unknown in records made before they were counted."""
    average: float = float("nan")
    """Regret of the candidate with the best average of its measurements; unknown in older records."""

    @classmethod
    def of(
        cls,
        table: Table,
        protocol: Protocol,
        seed: int,
        policy: str,
        numbers: IndexArray,
        values: Sequence[float],
        recommended: int,
        spent: Sequence[tuple[float, float]],
    ) -> Self:
        """The figures of the candidates measured, in order, of what came out, and of the seconds of every ask."""
        truth = table.truth if table.direction == "maximize" else -table.truth
        regret = truth.max() - truth
        width = np.ptp(truth)
        top = np.sort(truth)[-max(1, round(0.01 * len(truth)))]
        seconds, processor = np.mean(spent[1:] or spent, axis=0)
        return cls(
            policy,
            table.name,
            protocol.name,
            seed,
            simple=float(regret[numbers].min() / width),
            hit=bool(truth[numbers].max() >= top),
            cumulative=float(regret[numbers].mean() / regret.mean()),
            recommended=float(regret[recommended] / width),
            seconds=float(seconds),
            processor=float(processor),
            regrets=tuple(np.round(regret[numbers] / width, 6).tolist()),
            rounds=len(spent),
            average=float(regret[best_average(table, numbers, values)] / width),
        )

    @property
    def key(self) -> Key:
        """Which study it was."""
        return self.policy, self.table, self.protocol, self.seed


def best_average(table: Table, numbers: IndexArray, values: Sequence[float]) -> int:
    """The candidate with the best average of its measurements; the smallest number of equals."""
    sign = 1.0 if table.direction == "maximize" else -1.0
    sums = np.bincount(numbers, sign * np.asarray(values), minlength=len(table.truth))
    counts = np.bincount(numbers, minlength=len(table.truth))
    return int(np.argmax(np.where(counts > 0, sums / np.maximum(counts, 1), -np.inf)))
