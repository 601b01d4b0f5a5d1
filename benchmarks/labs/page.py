"""The page of the labs: every table and figure of it from the records."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from benchmarks.labs.contestants import LIBRARY, OURS, SAME_START
from benchmarks.labs.elsewhere import NAMES as ELSEWHERE
from benchmarks.labs.plots import plot_labs
from benchmarks.labs.records import Record
from benchmarks.labs.summary import FIGURES, against, per_policy, per_table, speed, standings
from benchmarks.pages import fill
from benchmarks.peers.catalogue import CATALOGUE

NATIVE = tuple(name for name, peer in CATALOGUE.items() if peer.native)


def write(records: Sequence[Record], folder: Path) -> None:
    """Tables in their places in labs.md, and a figure for each protocol; tables from elsewhere apart."""
    tables: dict[str, str] = {}
    for title, everybody in _parts(records).items():
        own = [record for record in everybody if record.policy != LIBRARY]
        tables |= {f"{title} {name}": table for name, table in tables_of(own).items()}
        tables[f"{title} speed, library"] = speed(everybody, LIBRARY, NATIVE)
        plot_labs(own, OURS, title, folder / f"labs-{title.replace(' ', '-')}")
    fill(folder / "labs.md", tables)


def _parts(records: Sequence[Record]) -> dict[str, list[Record]]:
    """By protocol, and by whether auto mode was developed on the table."""
    parts: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        parts[f"{record.protocol} elsewhere" if record.table in ELSEWHERE else record.protocol].append(record)
    return parts


def tables_of(records: Sequence[Record]) -> dict[str, str]:
    """Of one protocol, by name."""
    seeded_alike = [record for record in records if record.policy != SAME_START]
    return {
        "means": per_policy(records),
        "differences": against(records, OURS),
        "differences, same start": against(records, SAME_START),
        "standings": standings(seeded_alike, OURS, CATALOGUE),
        "standings, same start": standings(records, SAME_START, CATALOGUE),
        "speed": speed(records, OURS, NATIVE),
        **{figure: per_table(records, figure) for figure in FIGURES},
    }
