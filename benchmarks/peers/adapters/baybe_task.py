"""BayBE with its task parameter: some rows of the list are candidates, the others results of an earlier study.

A column of the list says which of the two a row is. A list without earlier rows is a plain campaign.
"""

from baybe.parameters import TaskParameter
from baybe.searchspace import SearchSpace, SubspaceDiscrete

from benchmarks.peers.adapters.adapter import Adapter, Given
from benchmarks.peers.adapters.baybe import BayBE

EARLIER, NEW = "earlier", "new"


class BayBETask(BayBE):
    def __init__(self, given: Given, column: str) -> None:
        self._column = column
        super().__init__(given)

    def space(self) -> SubspaceDiscrete | SearchSpace:
        """The candidates alone; the parameters know the values of the earlier rows as well."""
        if self._column not in self._table:
            return super().space()
        rows = self._table.drop_duplicates()
        known = SubspaceDiscrete.from_dataframe(rows.drop(columns=self._column).drop_duplicates())
        task = TaskParameter(self._column, (EARLIER, NEW), active_values=(NEW,))
        return SearchSpace.from_dataframe(rows[rows[self._column] == NEW], [*known.parameters, task])


def start(given: Given, variant: str) -> Adapter:
    """`variant` names the column that says which rows are candidates."""
    return BayBETask(given, variant)
