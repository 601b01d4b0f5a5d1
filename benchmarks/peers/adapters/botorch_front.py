"""BoTorch: a SingleTaskGP for each objective with its defaults, and qLogNEHVI optimised over the list."""

from typing import Any

import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import ModelListGP, SingleTaskGP
from botorch.optim import optimize_acqf_discrete
from botorch.utils.multi_objective.hypervolume import infer_reference_point
from botorch.utils.multi_objective.pareto import is_non_dominated
from gpytorch.mlls import SumMarginalLogLikelihood

from benchmarks.peers.adapters.adapter import Given
from benchmarks.peers.adapters.compiling import compile_afresh
from benchmarks.peers.adapters.fronts import FrontAdapter


class BoTorchFront(FrontAdapter):
    def __init__(self, given: Given, objectives: int) -> None:
        super().__init__(given, objectives)
        self._X = torch.tensor(given.features(), dtype=torch.double)
        torch.manual_seed(given.seed)

    def ask(self, q: int) -> list[int]:
        choices = self.choices()
        X, Y = self._X[self.rows], torch.tensor(self.values, dtype=torch.double)
        acquisition = self._acquisition(self._fitted(X, Y), X, Y)
        picked, _ = optimize_acqf_discrete(acquisition, q=q, choices=self._X[choices], unique=True, max_batch_size=256)
        rows: list[int] = []
        for point in picked:
            equal = choices[(self._X[choices] == point).all(dim=-1).numpy()]
            rows.append(next(int(row) for row in equal if row not in rows))
        return rows

    def _fitted(self, X: Any, Y: Any) -> Any:
        model = ModelListGP(*(SingleTaskGP(X, Y[:, k : k + 1]) for k in range(self.objectives)))
        fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
        return model

    def _acquisition(self, model: Any, X: Any, Y: Any) -> Any:
        if self.objectives == 1:
            return qLogNoisyExpectedImprovement(model.models[0], X_baseline=X, prune_baseline=True)
        reference = infer_reference_point(Y[is_non_dominated(Y)])
        return qLogNoisyExpectedHypervolumeImprovement(model, reference, X_baseline=X, prune_baseline=True)


def start(given: Given, variant: str) -> FrontAdapter:
    compile_afresh()
    return BoTorchFront(given, int(variant))
