"""The user's objective and the model's: direction, robust clipping and standardisation, all undone in what users
see."""

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from app.engine.arrays import Array
from app.engine.auto.warping import finite, learn_power, unwarp, warp

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
    """From the user's value to the model's, where higher is better, mean and variance are about 0 and 1:

    u = ±(value − offset)/scale, values worse than `clip` counting as clip, − for minimising
    model = (warp(u, power) − centre)/spread
    """

    direction: Direction = "maximize"
    offset: float = 0.0
    scale: float = 1.0
    clip: float | None = None
    """The worst value believed, in the user's units."""
    power: float = 1.0
    centre: float = 0.0
    spread: float = 1.0

    @staticmethod
    def learn(values: Array, direction: Direction) -> "Objective":
        """Clip the bad side at median − 3·IQR (unless IQR is 0 or rounding), standardise, take the skew out; values
        (n,)."""
        if direction not in ("maximize", "minimize"):
            raise ValueError(f"direction must be maximize or minimize, not {direction!r}")
        plain = _standardised(values, direction)
        u = plain.to_model(values)
        power = learn_power(u)
        v = warp(u, power)
        deviation = float(v.std())
        return replace(plain, power=power, centre=float(v.mean()), spread=deviation if deviation > CONSTANT else 1.0)

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
        return (warp(np.clip(u, -BEYOND, BEYOND), self.power) - self.centre) / self.spread

    def to_user(self, model: ArrayLike) -> Array:
        """Means (then medians) and bounds such as ucb, which is the low side when minimising, in the user's units."""
        u = unwarp(self.centre + self.spread * np.asarray(model, dtype=float), self.power)
        with np.errstate(over="ignore"):
            return finite(self.offset + self.sign * self.scale * u)

    def std_to_user(self, mean: ArrayLike, std: ArrayLike) -> Array:
        """Half the distance between mean − std and mean + std in the user's units."""
        at, width = np.asarray(mean, dtype=float), np.asarray(std, dtype=float)
        return np.abs(self.to_user(at + width) / 2 - self.to_user(at - width) / 2)

    def regret_to_user(self, lower: float, upper: float) -> float:
        """How far apart two bounds in model units, lower ≤ upper, are for the user."""
        with np.errstate(over="ignore"):
            return float(finite(np.abs(self.to_user(upper) - self.to_user(lower))))

    def centred_at(self, mean: float) -> Self:
        """The same objective with its zero moved to `mean` (in model units): a constant prior mean."""
        return replace(self, centre=self.centre + self.spread * mean)

    def describe(self) -> dict[str, Any]:
        """Plain JSON; `Objective.build` is the inverse."""
        return dict(self.__dict__)

    @classmethod
    def build(cls, description: dict[str, Any]) -> Self:
        """The objective that `describe` wrote."""
        return cls(**description)


def _standardised(values: Array, direction: Direction) -> Objective:
    """Clip, offset and scale alone; of values divided by the largest, whose squares are numbers."""
    size = float(min(max(np.abs(values).max(), SMALLEST), LARGEST))
    sign = 1.0 if direction == "maximize" else -1.0
    good = sign * (values / size)
    lower, median, upper = np.quantile(good, (0.25, 0.5, 0.75))
    clip = median - CLIP * (upper - lower)
    clipped = bool(upper - lower > CONSTANT and good.min() < clip)
    good = np.maximum(good, clip) if clipped else good
    deviation = float(good.std())
    scale = size * (deviation if deviation > CONSTANT else 1.0)
    limit = sign * float(clip) * size if clipped else None
    return Objective(direction, sign * float(good.mean()) * size, max(scale, SMALLEST), limit)
