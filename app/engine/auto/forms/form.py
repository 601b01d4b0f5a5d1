"""What a form must be able to do."""

from collections.abc import Callable
from typing import Protocol

from app.engine.arrays import Array
from app.engine.auto.priors import Prior
from app.engine.kernels import Kernel

PullBack = Callable[[Array], Array]
Evaluate = Callable[[Array], tuple[Array, PullBack]]


class Form(Protocol):
    """A kernel with free hyperparameters e^theta, theta (q,)."""

    @property
    def priors(self) -> tuple[Prior, ...]:
        """One for every theta; equal neighbours are evaluated together."""
        ...

    def on(self, X: Array) -> Evaluate:
        """theta to K (n, n) of X (n, d) with itself, and its pull-back."""
        ...

    def kernel(self, theta: Array) -> Kernel:
        """The engine's kernel with these hyperparameters."""
        ...
