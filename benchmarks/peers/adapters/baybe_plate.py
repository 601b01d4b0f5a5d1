"""BayBE whose batches share one value of a column: its `DiscreteBatchConstraint`."""

from baybe.constraints import DiscreteBatchConstraint
from baybe.searchspace import SubspaceDiscrete

from benchmarks.peers.adapters.adapter import Adapter, Given
from benchmarks.peers.adapters.baybe import BayBE


class BayBEPlate(BayBE):
    def __init__(self, given: Given, column: str) -> None:
        self._column = column
        super().__init__(given)

    def space(self) -> SubspaceDiscrete:
        listed = SubspaceDiscrete.from_dataframe(self._table.drop_duplicates())
        return SubspaceDiscrete(
            listed.parameters, listed.exp_rep, constraints=(DiscreteBatchConstraint([self._column]),)
        )


def start(given: Given, variant: str) -> Adapter:
    """`variant` names the column that a batch shares."""
    return BayBEPlate(given, variant)
