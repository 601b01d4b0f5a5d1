"""A subset of the runs beside the ratios committed.

For one seed and one build regret, batches and dictionary are the same to the last digit; other builds may settle a tie
differently, which TIGHT allows for. Times count as multiples of Global-BBKB's on the same set, within LOOSE.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from app.modelling.drafting import build
from benchmarks.paper.cells import SHORT, Cell
from benchmarks.paper.records import Record, machine
from benchmarks.paper.systems import SYSTEMS, VARIANTS

COMMITTED = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "paper" / "subset.json"
TIGHT = 0.05
"""Largest relative difference of what the seed determines."""
LOOSE = 4.0
"""Largest factor between two ratios of times."""
QUICK = ("bbkb", "bbkb-local", "bbkb-exact", "gp-bucb", "gp-bucb-global", "thompson", "bkb", "uniform")
STEPS = {"generated": 500, "abalone": SHORT, "cadata": 1_000}


def subset() -> Iterator[Cell]:
    """Every system on the small sets, the quick ones on Cadata; one repetition."""
    for (name, steps), system in product(STEPS.items(), SYSTEMS):
        if system not in VARIANTS and (name != "cadata" or system in QUICK):
            yield Cell(name, system, SYSTEMS[system].bandwidth(name), steps, 0)


def ratios(records: list[Record]) -> dict[str, dict[str, float]]:
    """By cell: what is compared."""
    base = {record["cell"]["set"]: _seconds(record) for record in records if record["cell"]["system"] == "bbkb"}
    return {
        Cell(**record["cell"]).name: {
            "regret": round(record["figures"]["regret_ratio"], 6),
            "batches": record["figures"]["batches"],
            "dictionary": record["figures"]["members"],
            "time": round(_seconds(record) / base[record["cell"]["set"]], 3),
        }
        for record in records
    }


def _seconds(record: Record) -> float:
    return float(record["figures"]["seconds"])


@dataclass(frozen=True)
class Compared:
    """One figure, measured and committed."""

    name: str
    measured: float
    committed: float

    @property
    def within(self) -> bool:
        """Its bound: tight or loose, by what it is."""
        if self.name == "time":
            return self.committed / LOOSE <= self.measured <= self.committed * LOOSE
        return abs(self.measured - self.committed) <= TIGHT * abs(self.committed)

    def __str__(self) -> str:
        return f"{self.name} {self.measured:.4g} ({self.committed:.4g}){'' if self.within else ' OUT OF BOUNDS'}"


def compared(measured: dict[str, float], committed: dict[str, float]) -> list[Compared]:
    """All figures of one cell."""
    return [Compared(name, value, committed[name]) for name, value in measured.items()]


def read() -> dict[str, dict[str, float]]:
    """The committed ratios."""
    found: dict[str, dict[str, float]] = json.loads(COMMITTED.read_text())["ratios"]
    return found


def accept(measured: dict[str, dict[str, float]]) -> None:
    """Commit to what was measured."""
    COMMITTED.parent.mkdir(parents=True, exist_ok=True)
    COMMITTED.write_text(json.dumps({"build": build(), "machine": machine(), "ratios": measured}, indent=1) + "\n")
