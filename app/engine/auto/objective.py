"""The user's objective and the model's: direction, robust clipping and standardisation, all undone in what users
see."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from app.engine.arrays import Array

Direction = Literal["maximize", "minimize"]

CLIP = 3.0
"""Values worse than median − CLIP·IQR are failures: how bad they are says nothing about the rest."""

CONSTANT = 1e-9
"""A spread below this share of the largest value is rounding: the objective is constant so far."""

SMALLEST, LARGEST = 1e-290, 1e290
"""The scale stays within these, so that values divided by it are numbers."""

BEYOND = 1e9
"""Values in model units are cut here."""


@dataclass(frozen=True)
class Objective:
    """model = ±(max(value, clip) − offset)/scale for maximising; for minimising the sign turns and min takes the
    place of max."""

    direction: Direction = "maximize"
    offset: float = 0.0
    scale: float = 1.0
    clip: float | None = None
    """The worst value believed, in the user's units."""

    @classmethod
    def learn(cls, values: Array, direction: Direction) -> Self:
        """Clip the bad side at median − 3·IQR (unless IQR is 0 or rounding), then standardise; values (n,), n ≥ 1."""
        if direction not in ("maximize", "minimize"):
            raise ValueError(f"direction must be maximize or minimize, not {direction!r}")
        size = float(min(max(np.abs(values).max(), SMALLEST), LARGEST))
        sign = 1.0 if direction == "maximize" else -1.0
        good = sign * (values / size)
        lower, median, upper = np.quantile(good, (0.25, 0.5, 0.75))
        clip = median - CLIP * (upper - lower)
        clipped = bool(upper - lower > CONSTANT and good.min() < clip)
        good = np.maximum(good, clip) if clipped else good
        spread = float(good.std())
        scale = size * (spread if spread > CONSTANT else 1.0)
        limit = sign * float(clip) * size if clipped else None
        return cls(direction, sign * float(good.mean()) * size, max(scale, SMALLEST), limit)

    @property
    def sign(self) -> float:
        """+1 for maximising, −1 for minimising."""
        return 1.0 if self.direction == "maximize" else -1.0

    def to_model(self, values: Array) -> Array:
        """The user's values in model units: higher is better, finite."""
        if self.clip is not None:
            values = np.maximum(values, self.clip) if self.sign > 0 else np.minimum(values, self.clip)
        with np.errstate(over="ignore"):  # halves: the difference of two finite numbers may overflow
            u = self.sign * ((values / 2 - self.offset / 2) / self.scale * 2)
        return np.clip(u, -BEYOND, BEYOND)

    def mean_to_user(self, mean: Array) -> Array:
        """Means, or bounds such as ucb (the optimistic side: low when minimising), in the user's units."""
        with np.errstate(over="ignore"):
            return np.nan_to_num(self.offset + self.sign * self.scale * np.asarray(mean, dtype=float))

    def width_to_user(self, width: Array) -> Array:
        """Standard deviations and regret bounds in the user's units."""
        with np.errstate(over="ignore"):
            return np.nan_to_num(self.scale * np.asarray(width, dtype=float))

    def centred_at(self, mean: float) -> Self:
        """The same objective with its zero moved to `mean` (in model units): a constant prior mean."""
        offset = float(self.mean_to_user(np.array(mean)))
        return type(self)(self.direction, offset, self.scale, self.clip)

    def describe(self) -> dict[str, Any]:
        """Plain JSON; `Objective.build` is the inverse."""
        return dict(self.__dict__)

    @classmethod
    def build(cls, description: dict[str, Any]) -> Self:
        """The objective that `describe` wrote."""
        return cls(**description)
