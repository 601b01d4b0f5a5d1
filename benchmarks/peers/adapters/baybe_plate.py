"""BayBE whose batches share one value of a column: its `DiscreteBatchConstraint`."""

from baybe import Campaign
from baybe.constraints import DiscreteBatchConstraint
from baybe.searchspace import SubspaceDiscrete
from baybe.targets import NumericalTarget

from benchmarks.peers.adapters.adapter import Adapter, Given
from benchmarks.peers.adapters.baybe import TARGET, BayBE


class BayBEPlate(BayBE):
    def __init__(self, given: Given, column: str) -> None:
        super().__init__(given)
        listed = SubspaceDiscrete.from_dataframe(self._table.drop_duplicates())
        shared = (DiscreteBatchConstraint([column]),)
        self._campaign = Campaign(
            SubspaceDiscrete(listed.parameters, listed.exp_rep, constraints=shared),
            NumericalTarget(TARGET),
            allow_recommending_already_measured=given.noisy,
        )


def start(given: Given, variant: str) -> Adapter:
    """`variant` names the column that a batch shares."""
    return BayBEPlate(given, variant)
