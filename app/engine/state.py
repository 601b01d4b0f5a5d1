"""The state of a study: a frozen value. Every verb of the engine takes one and returns the next.

What has the length of the list (the embedding, means, residuals, projected leverages) may be left for later: a state
with a `focus` knows the candidates that may be chosen next, and computes the rest when it is first read.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine.embedding import Embedding
from app.engine.settings import EngineSettings
from app.engine.stability import Rescues

SWEPT = ("embedding", "mean", "residual", "projected_leverage")
"""What a state with a focus computes when it is first read."""

OF_NO_POSTERIOR = frozenset({"pending", "available", "latest", "information", "step", "rescues"})
"""What may change without any effect on the posterior."""


class Focus(Protocol):
    """Some candidates, kept up to date for a state whose other candidates may lag behind: see `app.engine.focus`."""

    @property
    def numbers(self) -> IndexArray:
        """Which candidates; every measured one is among them."""

    @property
    def near(self) -> "State":
        """The posterior of these candidates, numbered from 0."""

    def slots(self, numbers: IndexArray) -> IndexArray | None:
        """Where candidates are in `near`; None if one is not."""

    def swept(self) -> dict[str, Any]:
        """SWEPT of all candidates."""

    def highest_outside(self, alpha: float) -> float:
        """A number that no other candidate's mean + alpha·√leverage exceeds."""


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
    focus: Focus | None = None
    """The candidates kept up to date, if the others may lag behind."""

    @classmethod
    def focused(cls, focus: Focus, **fields: Any) -> Self:
        """A state without SWEPT, which is computed when it is first read."""
        return cls._of({**fields, "focus": focus})

    @classmethod
    def _of(cls, fields: dict[str, Any]) -> Self:
        """A state of these fields; a frozen dataclass sets them one by one, which takes longer than a small batch."""
        state = object.__new__(cls)
        state.__dict__.update(fields)
        return state

    def __getattr__(self, name: str) -> Any:
        """Compute what the state left for later."""
        focus = self.__dict__.get("focus")
        if name not in SWEPT or focus is None:
            raise AttributeError(f"a state has no {name}")
        self.__dict__.update(focus.swept())
        return self.__dict__[name]

    @property
    def whole(self) -> Self:
        """The same state with everything computed, and no focus."""
        if self.focus is None:
            return self
        swept = {name: getattr(self, name) for name in SWEPT}
        return type(self)(**{**self.__dict__, **swept, "focus": None})

    @property
    def near(self) -> "State":
        """The posterior of at least all measured candidates; of all candidates, if nothing was left for later."""
        return self if self.focus is None else self.focus.near

    @property
    def precision(self) -> FloatArray | IndexArray:
        """(A,) the weights of the measurements; by default their counts."""
        return self.counts if self.weights is None else self.weights

    @property
    def Z(self) -> FloatArray:  # noqa: N802
        """(m, A) the embedding of every candidate; copied if the list is in several shards."""
        return self.embedding.array

    @property
    def rounding(self) -> float:
        """The relative rounding error of the numbers in which Z is kept."""
        return float(np.finfo(self.embedding.dtype).eps)

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
        """The same state with some fields changed; it keeps its focus if they are of no posterior."""
        unchanged = self if self.focus is not None and changes.keys() <= OF_NO_POSTERIOR else self.whole
        return self._of({**unchanged.__dict__, **changes})

    def with_rescues(self, rescues: Rescues) -> Self:
        """The same state with more rescues counted."""
        return self.replace(rescues=dict(Rescues(self.rescues) + rescues))
