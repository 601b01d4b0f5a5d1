"""Words: what each level does by itself, beside what levels do together."""

import math
from dataclasses import dataclass

import numpy as np

from app.engine.arrays import Array
from app.engine.auto.forms.form import Evaluate, Form, PullBack
from app.engine.auto.priors import Odds, Prior
from app.engine.kernels import Columns, Kernel, Linear, Scaled, Sum


@dataclass(frozen=True)
class MainEffects:
    """w₀·part + Σ_g w_g·[x and y have the same level of text column g], the weights w summing to 1.

    Every level of a column shifts the objective by itself, and the part holds what levels do together; theta is
    (log w_g/w₀ for every g, theta of the part). A level has its own column, so that "the same level" is x_gᵀy_g.
    """

    part: Form
    groups: tuple[tuple[int, ...], ...]
    """The columns of every text."""

    @property
    def priors(self) -> tuple[Prior, ...]:
        """Main effects and the part are expected to matter alike."""
        return (Odds(-math.log(len(self.groups))),) * len(self.groups) + self.part.priors

    def on(self, X: Array) -> Evaluate:
        """∂K/∂log w_g/w₀ = w_g (S_g − K), S_g being the matrix of [same level of g]."""
        part, g = self.part.on(X), len(self.groups)
        same = np.array([X[:, list(columns)] @ X[:, list(columns)].T for columns in self.groups])

        def evaluate(theta: Array) -> tuple[Array, PullBack]:
            w = self._weights(theta)
            K_part, pull_part = part(theta[g:])
            K = w[0] * K_part + np.tensordot(w[1:], same, 1)

            def pull(W: Array) -> Array:
                by_weight = w[1:] * (np.tensordot(same, W, 2) - np.vdot(W, K))
                return np.concatenate((by_weight, w[0] * pull_part(W)))

            return K, pull

        return evaluate

    def kernel(self, theta: Array) -> Kernel:
        """The engine's sum."""
        w = self._weights(theta).tolist()
        main = (Scaled(Columns(Linear(), columns), w[i]) for i, columns in enumerate(self.groups, 1))
        return Sum((Scaled(self.part.kernel(theta[len(self.groups) :]), w[0]), *main))

    def _weights(self, theta: Array) -> Array:
        """(w₀, w_1, …), positive, with sum 1."""
        w = np.exp(np.append(0.0, theta[: len(self.groups)]))
        weights: Array = w / w.sum()
        return weights
