"""scikit-learn: a Gaussian process as its guide builds one, and GP-UCB by hand.

It has no batches: every choice is believed to have its predicted value before the next one is made.
"""

from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from benchmarks.peers.adapters.adapter import Adapter, Given

OPTIMISM = 2.0
"""Standard deviations added to the mean."""


class ScikitLearn(Adapter):
    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self._X = given.features()
        lengthscales = Matern(np.ones(self._X.shape[1]), nu=2.5)
        self._kernel = ConstantKernel() * lengthscales + WhiteKernel(0.01, (1e-6, 1.0))

    def ask(self, q: int) -> list[int]:
        model, picks, believed = self._fitted(), list[int](), list[float]()
        for _ in range(q):
            left = np.setdiff1d(self.choices(), picks)
            mean, deviation = model.predict(self._X[left], return_std=True)
            best = int(np.argmax(mean + OPTIMISM * deviation))
            picks.append(int(left[best]))
            believed.append(float(mean[best]))
            model = self._model(model.kernel_, optimizer=None)
            model.fit(self._X[self.rows + picks], self.values + believed)
        return picks

    def recommend(self) -> int:
        if not self.given.noisy:
            return super().recommend()
        return self.rows[int(np.argmax(self._fitted().predict(self._X[self.rows])))]

    def _fitted(self) -> Any:
        return self._model(self._kernel).fit(self._X[self.rows], self.values)

    def _model(self, kernel: Any, **options: Any) -> Any:
        return GaussianProcessRegressor(kernel, normalize_y=True, random_state=self.given.seed, **options)


def start(given: Given, variant: str) -> Adapter:  # noqa: ARG001
    return ScikitLearn(given)
