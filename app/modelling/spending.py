"""What a study has spent, what is committed, and what is left of its budget, in the unit of its costs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import fsum

from app.arrays import FloatArray
from app.modelling.ledger_state import LedgerState


@dataclass(frozen=True)
class Spending:
    """The cost of what was measured, and of what is on its way."""

    spent: float
    """On measurements that were made: retracted results and failures have cost something, too."""
    committed: float
    """In pending suggestions and reservations."""
    budget: float | None
    unit: str

    @property
    def left(self) -> float | None:
        """What further measurements may cost, negative if the budget is exceeded; None without a budget."""
        return None if self.budget is None else self.budget - self.spent - self.committed


def spending_of(ledger: LedgerState, costs: FloatArray) -> Spending:
    """The spending of a study; `costs` (A,) are those of one measurement of each candidate."""
    return Spending(
        spent=fsum([*costs[ledger.candidates].tolist(), *_times(ledger.failed_tries.items(), costs)]),
        committed=fsum(_times(_committed(ledger), costs)),
        budget=ledger.configuration.budget,
        unit=ledger.configuration.cost_unit or "",
    )


def _committed(ledger: LedgerState) -> Iterator[tuple[int, int]]:
    yield from ((pending.candidate, pending.remaining) for pending in ledger.pending.values())
    yield from ((candidate, 1) for candidate in ledger.reserved)


def _times(measurements: Iterable[tuple[int, int]], costs: FloatArray) -> Iterator[float]:
    """The cost of some candidates, each measured so often."""
    return (float(costs[candidate]) * count for candidate, count in measurements)
