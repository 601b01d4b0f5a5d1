"""The page of the labs: every table and figure of it from the records.

Ours is the library, which makes the same choices as the service; the service is shown where times are.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from benchmarks.labs.calibration import HELD_OUT, MORE
from benchmarks.labs.contestants import LIBRARY, OURS, SAME_START, UNSAID
from benchmarks.labs.elsewhere import NAMES as ELSEWHERE
from benchmarks.labs.plots import plot_labs
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.records import Record
from benchmarks.labs.summary import FIGURES, against, experiments, per_policy, per_table, speed, standings
from benchmarks.pages import fill
from benchmarks.peers.catalogue import CATALOGUE

OTHERS = (*MORE, *HELD_OUT)
ONE_AT_A_TIME = Protocol(50, 1)
BATCHES = (ONE_AT_A_TIME.name, Protocol(60, 5).name)
"""How ours needs more experiments if it is asked for five at a time."""

NATIVE = tuple(name for name, peer in CATALOGUE.items() if peer.native)


def write(records: Sequence[Record], folder: Path) -> None:
    """Tables in their places in labs.md, and a figure for each protocol; tables from elsewhere apart."""
    tables: dict[str, str] = {}
    for title, everybody in _parts(records).items():
        ours = UNSAID if everybody[0].protocol.endswith("noisy") else LIBRARY
        own = [record for record in everybody if record.policy != OURS]
        tables |= {f"{title} {name}": table for name, table in tables_of(own, ours).items()}
        tables[f"{title} differences"] = against(everybody, ours)
        tables[f"{title} speed"] = speed(everybody, OURS, NATIVE)
        plot_labs(own, ours, title, folder / f"labs-{title.replace(' ', '-')}")
    tables["batch sizes"] = experiments(records, LIBRARY, BATCHES, ONE_AT_A_TIME.T)
    fill(folder / "labs.md", tables)


def _parts(records: Sequence[Record]) -> dict[str, list[Record]]:
    """By protocol, and by whose tables they are."""
    parts: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        parts[record.protocol + _whose(record)].append(record)
    return parts


def _whose(record: Record) -> str:
    """Tables from elsewhere, and those that no peer has run, are shown apart."""
    if record.table in ELSEWHERE:
        return " elsewhere"
    return " others" if record.table in OTHERS and not record.protocol.endswith("noisy") else ""


def tables_of(records: Sequence[Record], ours: str) -> dict[str, str]:
    """Of one protocol, by name."""
    seeded_alike = [record for record in records if record.policy != SAME_START]
    return {
        "means": per_policy(records),
        "differences, same start": against(records, SAME_START),
        "standings": standings(seeded_alike, ours, CATALOGUE),
        "standings, same start": standings(records, SAME_START, CATALOGUE),
        "speed, library": speed(records, ours, NATIVE),
        **{figure: per_table(records, figure) for figure in FIGURES},
    }
