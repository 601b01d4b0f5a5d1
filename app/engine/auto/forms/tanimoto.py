"""Fingerprints: Tanimoto with a free amplitude."""

from dataclasses import dataclass

import numpy as np

from app.engine.arrays import Array
from app.engine.auto.forms.form import Evaluate, PullBack
from app.engine.auto.priors import AMPLITUDE, Prior
from app.engine.kernels import Columns, Kernel, Scaled, Tanimoto


@dataclass(frozen=True)
class ScaledTanimoto:
    """amplitude · Tanimoto of the bits of a fingerprint."""

    columns: tuple[int, ...]
    d: int

    @property
    def priors(self) -> tuple[Prior, ...]:
        """Of the amplitude."""
        return (AMPLITUDE,)

    def on(self, X: Array) -> Evaluate:
        """The Tanimoto matrix is computed once."""
        points = np.ascontiguousarray(X[:, list(self.columns)])
        T = Tanimoto().matrix(points, points)

        def evaluate(theta: Array) -> tuple[Array, PullBack]:
            K = np.exp(theta[0]) * T
            return K, lambda W: np.array([np.vdot(W, K)])

        return evaluate

    def kernel(self, theta: Array) -> Kernel:
        """Scaled Tanimoto of all columns, or of some."""
        tanimoto = Tanimoto() if len(self.columns) == self.d else Columns(Tanimoto(), self.columns)
        return Scaled(tanimoto, float(np.exp(theta[0])))
