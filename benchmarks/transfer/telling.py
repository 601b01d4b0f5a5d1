"""What an earlier study could tell at best: how far down its own ranking the new task's best candidates are.

All results of the related task are known here (400 at random of a longer list), and what they make a study expect of
the new task's candidates is compared with the truth. Whoever follows that ranking alone measures so many candidates.
"""

from collections.abc import Iterator

import numpy as np
from scipy.stats import spearmanr

from app.arrays import FloatArray
from app.domain.candidates import BlockArrays, CandidateBlock
from app.domain.events import EarlierResults
from app.domain.studies import Configuration
from app.modelling.ledger_state import LedgerState
from app.modelling.model import advance
from app.modelling.simulating import KnownTable
from benchmarks.transfer.summary import TARGETS
from benchmarks.transfer.tasks import TaskTable

MOST_RESULTS = 400
BEST_SHARE = 10
"""One of so many candidates is among the best."""


def told(table: TaskTable) -> Iterator[str]:
    """Rows of a table in Markdown, one for each task."""
    for new, known in table.tasks.items():
        expected = _expected(known, _all_results(table, table.related(new)))
        best = np.argsort(-known.values)[: max(len(known.values) // BEST_SHARE, 5)]
        agreement = [spearmanr(expected[rows], known.values[rows]).statistic for rows in (slice(None), best)]
        first = [f"{_first_within(known.values, expected, target)}" for target in TARGETS]
        yield f"| {table.source.file} | {new} | {agreement[0]:.2f} | {agreement[1]:.2f} | {' | '.join(first)} |"


def heading() -> str:
    first = " | ".join(f"first within {target:g}" for target in TARGETS)
    return f"| table | task | agreement | among the best tenth | {first} |\n|---|---|---|---|---|---|"


def _all_results(table: TaskTable, task: str) -> EarlierResults:
    rows = np.arange(len(table.tasks[task].values))
    if len(rows) > MOST_RESULTS:
        rows = np.random.default_rng(0).choice(rows, MOST_RESULTS, replace=False)
    return table.results(task, rows, table.tasks[task].values[rows])


def _expected(known: KnownTable, results: EarlierResults) -> FloatArray:
    """(A,) what a study that borrows these results expects of every candidate, in its own scale."""
    block = CandidateBlock(0, len(known.values), BlockArrays("", ""))
    state = LedgerState(configuration=Configuration(), columns=known.columns, blocks=(block,), borrowed=(results,))
    model = advance(None, state, lambda _block: (known.numbers, known.codes, {}))
    return np.asarray(model.state.X[:, model.layout.borrowed[0]])


def _first_within(values: FloatArray, expected: FloatArray, target: float) -> int:
    """Where the first candidate whose regret is at most the target stands in the ranking."""
    good = values >= values.max() - target * np.ptp(values)
    return int(good[np.argsort(-expected)].argmax()) + 1
