"""What was timed and how well everybody chose, as Markdown."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.labs.records import Record
from benchmarks.pages import markdown
from benchmarks.peers.catalogue import CATALOGUE
from benchmarks.peers.timing import Timing

SMALL = ("agnp", "crossed_barrel", "esol_descriptors", "hpo_svm_letter")
"""Tables on which even the slowest can be run."""
SEEDS = range(5)
HEADER = ("candidates", "results", "who", "list", "record, s", "ask, s", "ask, processor s", "peak, MB")


def speeds(timings: Sequence[Timing]) -> str:
    """A row for each timing: sizes in order, the fastest ask first, failures last."""
    ordered = sorted(timings, key=lambda one: (one.candidates, one.n, bool(one.error), one.ask[1]))
    return markdown(HEADER, map(_row, ordered))


def regrets(records: Iterable[Record]) -> str:
    """A row for everybody, the least cumulative regret first; simple regret (cumulative regret), seeds if not all."""
    cells: dict[str, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for one in records:
        if one.table in SMALL and one.protocol == "T60 q5" and one.seed in SEEDS:
            cells[one.policy][one.table].append(one)
    complete = {who: of for who, of in cells.items() if set(of) == set(SMALL)}
    ordered = sorted(complete, key=lambda who: np.mean([_mean(complete[who][table], "cumulative") for table in SMALL]))
    rows = [(_named(who), *(_cell(complete[who][table]) for table in SMALL)) for who in ordered]
    return markdown(("", *SMALL), rows)


def _cell(studies: Sequence[Record]) -> str:
    figures = f"{_mean(studies, 'simple'):.3f} ({_mean(studies, 'cumulative'):.2f})"
    return figures if len(studies) == len(SEEDS) else f"{figures} of {len(studies)}"


def _mean(studies: Sequence[Record], figure: str) -> float:
    return float(np.mean([getattr(one, figure) for one in studies]))


def _named(who: str) -> str:
    return who if _native(who) else f"{who}, snapped"


def _row(one: Timing) -> tuple[str, ...]:
    whose = (f"{one.candidates}", f"{one.n}", one.who, "native" if _native(one.who) else "snapped")
    if one.error:
        return *whose, one.error, "–", "–", "–"
    figures = f"{one.record[0]:.2f}", f"{one.ask[0]:.2f}", f"{one.ask[1]:.2f}", f"{one.peak / 1e6:.0f}"
    return *whose, *figures


def _native(who: str) -> bool:
    return who not in CATALOGUE or CATALOGUE[who].native
