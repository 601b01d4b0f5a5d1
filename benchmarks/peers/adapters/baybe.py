"""BayBE: a campaign over the list with its defaults."""

from collections.abc import Sequence

from baybe import Campaign, Settings
from baybe.searchspace import SearchSpace, SubspaceDiscrete
from baybe.targets import NumericalTarget

from benchmarks.peers.adapters.adapter import Adapter, Given
from benchmarks.peers.adapters.frames import frame

TARGET = "objective"


class BayBE(Adapter):
    def __init__(self, given: Given) -> None:
        super().__init__(given)
        Settings(random_seed=given.seed).activate()
        table = frame(given)
        self._table = table.loc[:, table.nunique() > 1]
        self._campaign = Campaign(
            self.space(),
            NumericalTarget(TARGET),
            allow_recommending_already_measured=given.noisy,
        )

    def space(self) -> SubspaceDiscrete | SearchSpace:
        """What the campaign may recommend."""
        return SubspaceDiscrete.from_dataframe(self._table.drop_duplicates())

    def tell(self, rows: Sequence[int], values: Sequence[float]) -> None:
        super().tell(rows, values)
        self._campaign.add_measurements(self._table.loc[rows].assign(**{TARGET: list(values)}))

    def ask(self, q: int) -> list[int]:
        return list(self._campaign.recommend(q).index)

    def recommend(self) -> int:
        if not self.given.noisy:
            return super().recommend()
        means = self._campaign.posterior_stats()[f"{TARGET}_mean"]
        return self.rows[int(means.to_numpy().argmax())]


def start(given: Given, variant: str) -> Adapter:  # noqa: ARG001
    return BayBE(given)
