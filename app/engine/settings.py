"""Everything a user of the engine can decide, in one frozen value, and the random numbers that its seed addresses."""

import hashlib
import math
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from app.engine.kernels import Kernel, build

RuleName = Literal["global", "local", "exact", "product", "sequential"]
ConfidenceName = Literal["sharp", "tight", "paper"]

WORKING_RANGES: dict[str, tuple[float, float]] = {
    "lam": (1e-120, 1e120),
    "xi": (0.0, 1e60),
    "F": (0.0, 1e60),
    "delta": (1e-100, math.nextafter(1.0, 0.0)),
    "threshold": (1.0, 1e9),
    "q_bar": (1e-12, 1e12),
}
"""Smallest and largest value of each number. Within them squares and quotients of all quantities stay finite."""


@dataclass(frozen=True)
class EngineSettings:
    """The model, its guarantees and how it is computed; the names are those of the notation table."""

    kernel: Kernel
    lam: float = 1.0
    xi: float = 1.0
    """Standard deviation of the noise."""
    F: float = 1.0
    """Bound on the norm of f in the kernel's space."""
    delta: float = 0.05
    """The confidence bounds fail with at most this probability."""
    threshold: float = 2.0
    rule: RuleName = "global"
    confidence: ConfidenceName = "sharp"
    """sharp holds for any dictionary; tight and paper are the paper's Theorem 2, which needs the theory's q̄."""
    dictionary: Literal["sampled", "all", "greedy", "none"] = "sampled"
    """sampled (BBKB, BKB), all measured candidates (the GP-UCB family), those chosen for the prediction (auto mode with
    many measurements), or none (no model at all)."""
    members: int = 1000
    """The largest size of a greedy dictionary."""
    hallucination: Literal["projected", "full"] = "projected"
    """What a chosen candidate teaches before it is measured: only what the frozen dictionary sees of it (the paper's
    Algorithm 1), or everything (exact GP-BUCB if the dictionary is "all")."""
    q_bar: float | None = 2.0
    """Oversampling of the dictionary; None is the theory's 72·threshold·log(4t/δ)."""
    resparsify: Literal["lazy", "strict"] = "lazy"
    """strict: members that lose the draw leave at once, as in the paper; lazy: while they are few, they stay."""
    inclusion: Literal["auto", "independent", "summed"] = "auto"
    """With p for one measurement, a candidate measured n times is drawn with probability 1 − (1 − p)ⁿ (independent),
    or with min(1, n·p) (summed, as in the authors' code). auto: summed if strict."""
    refresh_every: int = 200
    """The state is computed from scratch after this many incremental updates, which bounds their drift; with a focus,
    only when it has drifted."""
    shard: int = 0
    """Candidates in one shard of the embedding; 0: all of them."""
    precision: Literal["float64", "float32"] = "float64"
    """How X and Z are stored. Everything is computed from them in float64, and all other numbers are kept so."""
    seed: int = 0
    focus: float = 0.0
    """After a batch, only the candidates that may be chosen next are brought up to date, and the others when they could
    matter or are read. The number is the multiple of the theory's alpha that asks will use; 0: always all."""

    def __post_init__(self) -> None:
        for name, (lowest, highest) in WORKING_RANGES.items():
            value = getattr(self, name)
            if value is not None and not lowest <= value <= highest:
                raise ValueError(f"{name} must lie between {lowest:g} and {highest:g}")
        if self.precision not in ("float64", "float32"):
            raise ValueError("precision must be float64 or float32")
        if self.members < 1:
            raise ValueError("members must be at least 1")
        if self.shard < 0:
            raise ValueError("shard cannot be negative")
        if not 0 <= self.focus < math.inf:
            raise ValueError("focus must be a number that is not negative")

    @property
    def sums_inclusion(self) -> bool:
        """Whether a candidate measured n times is drawn with min(1, n·p)."""
        return self.inclusion == "summed" or (self.inclusion == "auto" and self.resparsify == "strict")

    def replace(self, **changes: Any) -> Self:
        """The same settings with some of them changed."""
        return replace(self, **changes)

    def describe(self) -> dict[str, Any]:
        """Plain JSON; `EngineSettings.build` is the inverse."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "kernel"}
        for name in ("shard", "focus"):
            if not plain[name]:
                del plain[name]
        if self.precision == "float64":
            del plain["precision"]
        return {**plain, "kernel": self.kernel.describe()}

    @classmethod
    def build(cls, description: dict[str, Any]) -> Self:
        """The settings that `describe` wrote."""
        return cls(**{**description, "kernel": build(description["kernel"])})


def rng_at(seed: int, purpose: str, step: int) -> "np.random.Generator":
    """The generator for one purpose ("dictionary", "thompson", …) at one step of the study with this seed.

    Randomness is addressed, not consumed: the same address always gives the same numbers.
    """
    address = f"{seed}/{purpose}/{step}".encode()
    return np.random.Generator(np.random.PCG64(int.from_bytes(hashlib.sha256(address).digest(), "big")))
