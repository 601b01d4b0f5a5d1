"""What is kept of a study: its figures, a line of JSON each, so that an interrupted run goes on where it was."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import numpy as np

from app.engine.arrays import Numbers
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
    """Mean of all asks after the first."""

    @classmethod
    def of(
        cls,
        table: Table,
        protocol: Protocol,
        seed: int,
        policy: str,
        numbers: Numbers,
        recommended: int,
        seconds: list[float],
    ) -> Self:
        """The figures of the candidates measured, in order."""
        truth = table.truth if table.direction == "maximize" else -table.truth
        regret = truth.max() - truth
        width = np.ptp(truth)
        top = np.sort(truth)[-max(1, round(0.01 * len(truth)))]
        return cls(
            policy,
            table.name,
            protocol.name,
            seed,
            simple=float(regret[numbers].min() / width),
            hit=bool(truth[numbers].max() >= top),
            cumulative=float(regret[numbers].mean() / regret.mean()),
            recommended=float(regret[recommended] / width),
            seconds=float(np.mean(seconds[1:] or seconds)),
        )

    @property
    def key(self) -> Key:
        """Which study it was."""
        return self.policy, self.table, self.protocol, self.seed


def read(path: Path) -> list[Record]:
    """All records of a file; none if there is no file yet."""
    if not path.exists():
        return []
    return [Record(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def append(path: Path, record: Record) -> None:
    """One more line."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(record)) + "\n")
