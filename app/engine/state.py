"""The state of a study: a frozen value. Every verb of the engine takes one and returns the next."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine.embedding import Embedding
from app.engine.settings import EngineSettings
from app.engine.stability import Rescues


@dataclass(frozen=True, eq=False)
class State:
    """What is known after the last feedback. Arrays over candidates have length A, those of the dictionary m."""

    settings: EngineSettings
    X: FloatArray
    """(A, d) features."""

    counts: IndexArray
    """(A,) how often each candidate was measured."""
    sums: FloatArray
    """(A,) the sum of its values."""
    pending: IndexArray
    """(A,) measurements handed out and not yet reported."""
    available: BoolArray
    """(A,) whether each candidate may be chosen."""
    latest: IndexArray
    """(A,) the step of each candidate's latest measurement, 0 if there is none."""

    S: IndexArray
    """(m,) the dictionary."""
    embedding: Embedding
    """Z (m, A): column x is z(x), with Z_Sᵀ Z_S = K_SS."""
    G: FloatArray
    """(m, m) Σ_i counts_i z_i z_iᵀ."""
    H: FloatArray
    """(m, m) inv(L) with V = G + λI = L Lᵀ; so V⁻¹ = Hᵀ H."""
    w: FloatArray
    """(m,) Σ_i sums_i z_i."""
    mean: FloatArray
    """(A,) zᵀ V⁻¹ w."""
    residual: FloatArray
    """(A,) k(x, x) − zᵀz, the part of x that the dictionary does not see; never negative."""
    projected_leverage: FloatArray
    """(A,) zᵀ V⁻¹ z, the leverage of the part that it does see."""

    information: float = 0.0
    """Σ_s log(1 + 3·leverage_fb(x_s)), the running sum of Theorem 2."""
    step: int = 0
    """How often measurements have been taken in: addresses the draws of the dictionary."""
    updates: int = 0
    """Incremental updates since the last computation from scratch."""
    rescues: dict[str, int] = field(default_factory=dict)
    weights: FloatArray | None = None
    """(A,) how much its measurements count, if not by their number: less where they have standard errors of their own.
    `sums` are weighted alike."""

    @property
    def precision(self) -> FloatArray | IndexArray:
        """(A,) the weights of the measurements; by default their counts."""
        return self.counts if self.weights is None else self.weights

    @property
    def Z(self) -> FloatArray:  # noqa: N802
        """(m, A) the embedding of every candidate; copied if the list is in several shards."""
        return self.embedding.array

    @property
    def leverage(self) -> FloatArray:
        """(A,) cov(x, x) = residual/λ + zᵀ V⁻¹ z."""
        return self.residual / self.settings.lam + self.projected_leverage

    @property
    def variance(self) -> FloatArray:
        """(A,) posterior variance of f: λ·leverage."""
        return self.residual + self.settings.lam * self.projected_leverage

    @property
    def measured(self) -> IndexArray:
        """Numbers of the candidates measured at least once."""
        return np.flatnonzero(self.counts)

    @property
    def leverage_sum(self) -> float:
        """Σ_i counts_i leverage(x_i): tr K(K + λI)⁻¹, the effective dimension, if S holds all measured candidates."""
        return float(self.precision @ self.leverage)

    def V_inverse(self, B: FloatArray) -> FloatArray:  # noqa: N802
        """V⁻¹ B for B (m,) or (m, n)."""
        solved: FloatArray = self.H.T @ (self.H @ B)
        return solved

    def replace(self, **changes: Any) -> Self:
        """The same state with some fields changed."""
        return type(self)(**{**self.__dict__, **changes})

    def with_rescues(self, rescues: Rescues) -> Self:
        """The same state with more rescues counted."""
        return self.replace(rescues=dict(Rescues(self.rescues) + rescues))
