"""BoFire's SOBO strategy (qLogNEI); the list is a categorical input with the features as descriptors."""

from collections.abc import Sequence

import bofire.strategies.api as strategies
import numpy as np
import pandas as pd
from bofire.data_models.domain.api import Domain, Inputs, Outputs
from bofire.data_models.features.api import CategoricalDescriptorInput, ContinuousOutput
from bofire.data_models.objectives.api import MaximizeObjective
from bofire.data_models.strategies.api import SoboStrategy

from benchmarks.peers.adapters.adapter import Adapter, Given

INPUT, TARGET = "candidate", "objective"


class BoFire(Adapter):
    def __init__(self, given: Given) -> None:
        super().__init__(given)
        X = given.features()
        X = X[:, np.ptp(X, axis=0) > 0]
        listed = CategoricalDescriptorInput(
            key=INPUT,
            categories=[str(row) for row in range(given.size)],
            descriptors=[f"x{column}" for column in range(X.shape[1])],
            values=X.tolist(),
        )
        wanted = ContinuousOutput(key=TARGET, objective=MaximizeObjective(w=1.0))
        domain = Domain(inputs=Inputs(features=[listed]), outputs=Outputs(features=[wanted]))
        self._strategy = strategies.map(SoboStrategy(domain=domain, seed=given.seed))

    def tell(self, rows: Sequence[int], values: Sequence[float]) -> None:
        super().tell(rows, values)
        told = {INPUT: [str(row) for row in rows], TARGET: list(values), f"valid_{TARGET}": 1}
        self._strategy.tell(pd.DataFrame(told))

    def ask(self, q: int) -> list[int]:
        return [int(row) for row in self._strategy.ask(q)[INPUT]]


def start(given: Given, variant: str) -> Adapter:  # noqa: ARG001
    return BoFire(given)
