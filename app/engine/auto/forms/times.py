"""Products of forms."""

from dataclasses import dataclass

import numpy as np

from app.engine.arrays import Array
from app.engine.auto.forms.form import Evaluate, Form, PullBack
from app.engine.auto.priors import Prior
from app.engine.kernels import Kernel, Product


@dataclass(frozen=True)
class Times:
    """The product of two forms: a molecule in a solvent."""

    first: Form
    second: Form

    @property
    def priors(self) -> tuple[Prior, ...]:
        """Those of the first, then those of the second."""
        return self.first.priors + self.second.priors

    def on(self, X: Array) -> Evaluate:
        """Σ W∘∂(K₁∘K₂) = (Σ (W∘K₂)∘∂K₁, Σ (W∘K₁)∘∂K₂)."""
        first, second, q = self.first.on(X), self.second.on(X), len(self.first.priors)

        def evaluate(theta: Array) -> tuple[Array, PullBack]:
            K1, pull1 = first(theta[:q])
            K2, pull2 = second(theta[q:])
            return K1 * K2, lambda W: np.concatenate((pull1(W * K2), pull2(W * K1)))

        return evaluate

    def kernel(self, theta: Array) -> Kernel:
        """The engine's product."""
        q = len(self.first.priors)
        return Product((self.first.kernel(theta[:q]), self.second.kernel(theta[q:])))
