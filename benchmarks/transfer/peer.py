"""BayBE's task parameter on the same studies, up to 20 results.

It borrows what `benchmarks.transfer run` borrows: the results of the same earlier studies. Without them it begins with
our first batch, as every peer of the other benchmarks does; with them its task parameter chooses the first batch too.
"""

from collections.abc import Sequence

from app.domain.events import EarlierResults
from app.domain.studies import Configuration, Objective
from app.modelling.simulating import KnownTable, simulate
from benchmarks.peers.link import Link, python_of

COLUMN = "study"
"""Says of a row of the peer's list whether it is a candidate (new) or a result of an earlier study (earlier)."""

Cells = dict[str, list[float] | list[str]]


def baybe() -> Link:
    """BayBE's process, from the environment that `make .peers/baybe/ready` makes."""
    return Link("baybe_task", python_of("baybe"))


class BorrowingPeer:
    """One study of a peer: its list are the candidates of the new task, then the earlier results."""

    def __init__(self, link: Link, table: KnownTable, seed: int, borrowed: Sequence[EarlierResults]) -> None:
        self._link, self._table, self._seed = link, table, seed
        listed = _listed(table, borrowed)
        link.start(variant=COLUMN, noisy=False, seed=seed, columns=list(listed), values=list(listed.values()))
        rows = range(len(table.values), len(listed[COLUMN]))
        if rows:
            link.call("tell", rows=list(rows), values=[value for results in borrowed for value in results.values])
        self._begins = not rows

    def measured(self, batch: int, most: int) -> list[int]:
        """The candidates in the order in which the peer measures them."""
        numbers: list[int] = []
        while len(numbers) < most:
            chosen = self._first(batch) if self._begins else self._link.call("ask", q=batch)
            self._begins = False
            self._link.call("tell", rows=chosen, values=self._table.values[chosen].tolist())
            numbers += chosen
        return numbers

    def _first(self, batch: int) -> list[int]:
        ours = Configuration(objectives=(Objective("value"),), seed=self._seed)
        first: list[int] = simulate(self._table, ours, batch, batch).tolist()
        return first


def _listed(table: KnownTable, borrowed: Sequence[EarlierResults]) -> Cells:
    """Column by column, the candidates before the earlier results."""
    numbers, texts = iter(table.numbers.T), iter(table.codes.T)
    listed: Cells = {
        column.name: [column.levels[code] for code in next(texts)] if column.levels else next(numbers).tolist()
        for column in table.columns
    }
    for results in borrowed:
        told = {**results.numbers, **results.texts}
        listed = {name: [*cells, *told[name]] for name, cells in listed.items()}
    count = sum(len(results.values) for results in borrowed)
    return {**listed, COLUMN: ["new"] * len(table.values) + ["earlier"] * count}
