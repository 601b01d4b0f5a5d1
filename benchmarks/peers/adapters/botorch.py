"""BoTorch: SingleTaskGP with its defaults, and an acquisition function optimised over the list."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from botorch.acquisition.logei import qLogExpectedImprovement, qLogNoisyExpectedImprovement
from botorch.acquisition.monte_carlo import qUpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf_discrete
from gpytorch.mlls import ExactMarginalLogLikelihood

from benchmarks.peers.adapters.adapter import Adapter, Given

ACQUISITIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "qLogNEI": lambda model, X, _: qLogNoisyExpectedImprovement(model, X_baseline=X, prune_baseline=True),
    "qLogEI": lambda model, _, y: qLogExpectedImprovement(model, best_f=y.max()),
    "qUCB": lambda model, *_: qUpperConfidenceBound(model, beta=4.0),
}


class BoTorch(Adapter):
    def __init__(self, given: Given, variant: str) -> None:
        super().__init__(given)
        self._X = torch.tensor(given.features(), dtype=torch.double)
        self._acquisition = ACQUISITIONS[variant]
        torch.manual_seed(given.seed)

    def ask(self, q: int) -> list[int]:
        choices = self.choices()
        X, y = self._measured()
        acquisition = self._acquisition(self._fitted(X, y), X, y)
        picked, _ = optimize_acqf_discrete(acquisition, q=q, choices=self._X[choices], unique=True)
        return _rows(self._X, choices, picked)

    def recommend(self) -> int:
        if not self.given.noisy:
            return super().recommend()
        X, y = self._measured()
        model = self._fitted(X, y)
        with torch.no_grad():
            mean = model.posterior(X).mean
        return self.rows[int(mean.argmax())]

    def _measured(self) -> tuple[Any, Any]:
        return self._X[self.rows], torch.tensor(self.values, dtype=torch.double).unsqueeze(-1)

    def _fitted(self, X: Any, y: Any) -> Any:
        model = SingleTaskGP(X, y)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model


def _rows(X: Any, choices: Any, picked: Any) -> list[int]:
    """The candidates of the points picked; of equal candidates each in turn."""
    rows: list[int] = []
    for point in picked:
        equal = choices[(X[choices] == point).all(dim=-1).numpy()]
        rows.append(int(np.setdiff1d(equal, rows)[0]))
    return rows


def start(given: Given, variant: str) -> Adapter:
    return BoTorch(given, variant)
