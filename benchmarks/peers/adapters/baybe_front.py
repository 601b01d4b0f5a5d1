"""BayBE: a campaign over the list with its Pareto objective and its defaults."""

from collections.abc import Sequence

from baybe import Campaign, Settings
from baybe.objectives import ParetoObjective
from baybe.searchspace import SubspaceDiscrete
from baybe.targets import NumericalTarget

from benchmarks.peers.adapters.adapter import Given
from benchmarks.peers.adapters.compiling import compile_afresh
from benchmarks.peers.adapters.frames import frame
from benchmarks.peers.adapters.fronts import FrontAdapter, Row


class BayBEFront(FrontAdapter):
    def __init__(self, given: Given, objectives: int) -> None:
        super().__init__(given, objectives)
        Settings(random_seed=given.seed).activate()
        table = frame(given)
        self._table = table.loc[:, table.nunique() > 1]
        self._names = [f"objective_{number}" for number in range(objectives)]
        targets = [NumericalTarget(name) for name in self._names]
        self._campaign = Campaign(
            SubspaceDiscrete.from_dataframe(self._table.drop_duplicates()),
            targets[0] if objectives == 1 else ParetoObjective(targets),
            allow_recommending_already_measured=False,
        )

    def tell(self, rows: Sequence[int], values: Sequence[Row]) -> None:
        super().tell(rows, values)
        done = [(row, measured) for row, measured in zip(rows, values, strict=True) if measured is not None]
        if done:
            measured = {name: [values[number] for _, values in done] for number, name in enumerate(self._names)}
            self._campaign.add_measurements(self._table.loc[[row for row, _ in done]].assign(**measured))
        failed = [row for row, measured in zip(rows, values, strict=True) if measured is None]
        if failed:
            self._campaign.toggle_discrete_candidates(self._table.loc[failed], exclude=True)

    def ask(self, q: int) -> list[int]:
        return list(self._campaign.recommend(q).index)


def start(given: Given, variant: str) -> FrontAdapter:
    compile_afresh()
    return BayBEFront(given, int(variant))
