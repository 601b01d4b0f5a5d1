"""What was timed, as Markdown."""

from collections.abc import Sequence

from benchmarks.peers.catalogue import CATALOGUE
from benchmarks.peers.timing import Timing

HEADER = ("candidates", "results", "who", "list", "record, s", "ask, s", "ask, processor s", "peak, MB")


def markdown(timings: Sequence[Timing]) -> str:
    """A row for each timing: sizes in order, the fastest ask first, failures last."""
    ordered = sorted(timings, key=lambda one: (one.candidates, one.n, bool(one.error), one.ask[1]))
    rows = [HEADER, ("---",) * len(HEADER), *map(_row, ordered)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _row(one: Timing) -> tuple[str, ...]:
    whose = (f"{one.candidates}", f"{one.n}", one.who, "native" if _native(one.who) else "snapped")
    if one.error:
        return *whose, one.error, "–", "–", "–"
    figures = f"{one.record[0]:.2f}", f"{one.ask[0]:.2f}", f"{one.ask[1]:.2f}", f"{one.peak / 1e6:.0f}"
    return *whose, *figures


def _native(who: str) -> bool:
    return who not in CATALOGUE or CATALOGUE[who].native
