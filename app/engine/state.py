"""The state of a study: a frozen value; every verb of the engine takes one and gives the next."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from app.engine.arrays import Array, Flags, Numbers
from app.engine.rows import Rows
from app.engine.settings import Settings


@dataclass(frozen=True, eq=False)
class State:
    """What is known after the last feedback. Arrays over candidates have length A, those of the dictionary m."""

    settings: Settings
    X: Array
    """(A, d) features."""

    counts: Numbers
    sums: Array
    pending: Numbers
    """(A,) measurements handed out and not yet reported."""
    available: Flags
    latest: Numbers
    """(A,) step of each candidate's latest measurement, 0 for none."""

    S: Numbers
    """(m,) the dictionary."""
    rows: Rows
    """Z (m, A): column x is z(x), with Z_Sᵀ Z_S = K_SS."""
    G: Array
    """(m, m) Σ_i counts_i z_i z_iᵀ."""
    H: Array
    """(m, m) inv(L) with G + λI = L Lᵀ; so V⁻¹ = Hᵀ H."""
    w: Array
    """(m,) Σ_i sums_i z_i."""
    mean: Array
    """(A,) zᵀ V⁻¹ w."""
    residual: Array
    """(A,) k(x, x) − zᵀz, what the dictionary does not see; never negative."""
    spread: Array
    """(A,) zᵀ V⁻¹ z."""

    information: float = 0.0
    """Σ_s log(1 + 3·leverage_fb(x_s)), the running sum of Theorem 2."""
    step: int = 0
    """How often measurements have been taken in: addresses the draws of the dictionary."""
    updates: int = 0
    """Incremental updates since the last computation from scratch."""
    rescues: dict[str, int] = field(default_factory=dict)

    @property
    def Z(self) -> Array:  # noqa: N802
        """(m, A) the embedding of every candidate."""
        return self.rows.array

    @property
    def leverage(self) -> Array:
        """(A,) cov(x, x) = residual/λ + zᵀ V⁻¹ z."""
        return self.residual / self.settings.lam + self.spread

    @property
    def variance(self) -> Array:
        """(A,) posterior variance of f: λ·leverage."""
        return self.residual + self.settings.lam * self.spread

    @property
    def measured(self) -> Numbers:
        """Numbers of the candidates measured at least once."""
        return np.flatnonzero(self.counts)

    @property
    def effective_dimension(self) -> float:
        """tr K(K + λI)⁻¹ over all measurements: Σ_i counts_i leverage(x_i)."""
        return float(self.counts @ self.leverage)

    def but(self, **changes: Any) -> Self:
        """The same state with some fields changed."""
        return type(self)(**{**self.__dict__, **changes})
