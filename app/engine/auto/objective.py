"""The user's objective and the model's: direction, robust clipping, standardisation and skew, all undone in what users
see.

Skew is taken out by Yeo and Johnson's power transform (Biometrika 87, 2000), which is one to one:

    u ≥ 0:  ((u + 1)^p − 1)/p            p = 0:  log(u + 1)
    u < 0:  −((1 − u)^(2−p) − 1)/(2−p)   p = 2:  −log(1 − u)

p = 1 changes nothing, and p < 1 pulls in the good tail (p > 1 would pull in the bad one, which is clipped anyway).
Within 0 ≤ p ≤ 2 every real number has an image and every image its number, so that bounds of the model are bounds for
the user.

Why: with a prior of variance 1, nothing unexplored can look better than about two standard deviations. In a skewed
objective the first good candidate lies beyond that, and optimism never leaves its neighbourhood again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from app.arrays import BoolArray, FloatArray

ObjectiveDirection = Literal["maximize", "minimize"]

CLIP = 3.0
"""Values worse than median − CLIP·IQR are failures: how bad they are says nothing about the rest."""

CONSTANT = 1e-9
"""A deviation below this share of the largest value is rounding error: the objective is constant so far."""

SMALLEST, LARGEST = 1e-290, 1e290
"""The scale stays between these, so that values divided by it are finite."""

ROUNDING = 8 * float(np.finfo(float).eps)
"""A value of at most this share of the offset is what rounding leaves of 0."""

MOST = 1e9
"""Values in model units are clipped at ±MOST; `beyond` counts those that are."""

POWERS = np.linspace(0.0, 1.0, 21)
FEWEST = 3
"""This many values are needed to judge a skew."""

TIE = 1e-6
"""Powers with log-likelihoods this close are equally good: the mildest is taken, whatever rounding says."""

FLAT = 1e-9
"""A standard deviation below this counts as zero."""


@dataclass(frozen=True)
class ObjectiveTransform:
    """From the user's value to the model's, where higher is better, with mean about 0 and variance about 1:

    u = ±(value − offset)/scale, with − for minimising; values worse than `clip` count as clip
    model = (warp(u, power) − centre)/deviation
    """

    direction: ObjectiveDirection = "maximize"
    offset: float = 0.0
    scale: float = 1.0
    clip: float | None = None
    """The worst value believed, in the user's units."""
    power: float = 1.0
    centre: float = 0.0
    deviation: float = 1.0

    @staticmethod
    def learn(values: FloatArray, direction: ObjectiveDirection, bounds: Sequence[float] = ()) -> "ObjectiveTransform":
        """Clip the bad side at median − 3·IQR (unless IQR is 0 or rounding error), standardise, take out the skew;
        values (n,). `bounds` are what constraints ask of these values: nothing is clipped onto their other side."""
        if direction not in ("maximize", "minimize"):
            raise ValueError(f"direction must be maximize or minimize, not {direction!r}")
        plain = _standardised(values, direction, bounds)
        u = plain.to_model(values)
        power = learn_power(u)
        v = warp(u, power)
        deviation = float(v.std())
        deviation = deviation if deviation > CONSTANT else 1.0
        return replace(plain, power=power, centre=float(v.mean()), deviation=deviation)

    @property
    def sign(self) -> float:
        """+1 for maximising, −1 for minimising."""
        return 1.0 if self.direction == "maximize" else -1.0

    def to_model(self, values: FloatArray) -> FloatArray:
        """The user's values in model units: higher is better, finite."""
        if self.clip is not None:
            values = np.maximum(values, self.clip) if self.sign > 0 else np.minimum(values, self.clip)
        return (warp(np.clip(self._scaled(values), -MOST, MOST), self.power) - self.centre) / self.deviation

    def is_clipped(self, values: FloatArray) -> BoolArray:
        """Which of the user's values are worse than the worst one believed."""
        worst = -np.inf if self.clip is None else self.sign * self.clip
        clipped: BoolArray = self.sign * values < worst
        return clipped

    def beyond(self, values: FloatArray) -> int:
        """How many values are more than MOST scales away from the offset, and are clipped there."""
        return int((np.abs(self._scaled(values)) > MOST).sum())

    def _scaled(self, values: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # halves: the difference of two finite numbers may overflow
            u: FloatArray = self.sign * ((values / 2 - self.offset / 2) / self.scale * 2)
        return u

    def to_user(self, model: ArrayLike) -> FloatArray:
        """Means (which become medians) and bounds in the user's units; an upper bound becomes the low one when
        minimising."""
        u = unwarp(self.centre + self.deviation * np.asarray(model, dtype=float), self.power)
        with np.errstate(over="ignore"):
            user = finite(self.offset + self.sign * self.scale * u)
        return np.where(np.abs(user) <= ROUNDING * abs(self.offset), 0.0, user)

    def std_to_user(self, mean: ArrayLike, std: ArrayLike) -> FloatArray:
        """Half the distance between mean − std and mean + std in the user's units."""
        at, width = np.asarray(mean, dtype=float), np.asarray(std, dtype=float)
        return np.abs(self.to_user(at + width) / 2 - self.to_user(at - width) / 2)

    def noise_variance(self, values: FloatArray, noise: float) -> float:
        """The variance in model units of measurements around `values` whose standard deviation is `noise` for the user:
        a step of that size to either side, squared and averaged."""
        above, below = self.to_model(values + noise), self.to_model(values - noise)
        return float(np.mean(((above - below) / 2) ** 2))

    def regret_to_user(self, lower: float, upper: float) -> float:
        """How far apart two bounds in model units, lower ≤ upper, are for the user."""
        with np.errstate(over="ignore"):
            return float(finite(np.abs(self.to_user(upper) - self.to_user(lower))))

    def centred_at(self, mean: float) -> Self:
        """The same objective with its zero moved to `mean` (in model units): a constant prior mean."""
        return replace(self, centre=self.centre + self.deviation * mean)

    def describe(self) -> dict[str, Any]:
        """Plain JSON; `ObjectiveTransform.build` is the inverse."""
        return dict(self.__dict__)

    @classmethod
    def build(cls, description: dict[str, Any]) -> Self:
        """The objective that `describe` wrote."""
        return cls(**description)


def is_constant(values: FloatArray) -> bool:
    """Whether values (n,) differ by no more than rounding errors."""
    return not (values / _size(values)).std() > CONSTANT


def warp(u: FloatArray, p: float) -> FloatArray:
    """u (n,) to its image (n,)."""
    return np.where(u >= 0, _power(np.maximum(u, 0.0), p), -_power(np.maximum(-u, 0.0), 2 - p))


def unwarp(v: FloatArray, p: float) -> FloatArray:
    """The inverse of `warp`, finite for finite v."""
    with np.errstate(over="ignore"):
        u = np.where(v >= 0, _root(np.maximum(v, 0.0), p), -_root(np.maximum(-v, 0.0), 2 - p))
    return finite(u)


def finite(values: FloatArray) -> FloatArray:
    """`values` with the largest finite numbers for infinities; np.nan_to_num alone is slow where there are none."""
    return values if np.isfinite(values).all() else np.nan_to_num(values)


def learn_power(u: FloatArray) -> float:
    """The p among POWERS for which the images are most likely to be normal.

    Log-likelihood: −n/2·log var(v) + (p − 1) Σ sign(u) log(1 + |u|).
    """
    if len(u) < FEWEST or u.std() < FLAT:
        return 1.0
    stretch = float((np.sign(u) * np.log1p(np.abs(u))).sum())
    images = np.array([warp(u, p) for p in POWERS])
    log_likelihood = -len(u) / 2 * np.log(np.maximum(images.var(axis=1), FLAT**2)) + (POWERS - 1) * stretch
    return float(POWERS[log_likelihood >= log_likelihood.max() - TIE].max())


def _standardised(values: FloatArray, direction: ObjectiveDirection, bounds: Sequence[float]) -> ObjectiveTransform:
    """Clip, offset and scale alone; computed from values divided by the largest, so that no square overflows."""
    size = _size(values)
    sign = 1.0 if direction == "maximize" else -1.0
    good = sign * (values / size)
    lower, median, upper = np.quantile(good, (0.25, 0.5, 0.75))
    limits = [sign * (bound / size) for bound in bounds]
    # As far beyond a bound as the median is on this side: how clearly a value breaks it is worth knowing.
    worst = min([median, *(limit - max(0.0, median - limit) for limit in limits)])
    clip = worst - CLIP * (upper - lower)
    clipped = bool(upper - lower > CONSTANT and good.min() < clip)
    good = np.maximum(good, clip) if clipped else good
    deviation = float(good.std())
    scale = size * (deviation if deviation > CONSTANT else 1.0)
    limit = sign * float(clip) * size if clipped else None
    return ObjectiveTransform(direction, sign * float(good.mean()) * size, max(scale, SMALLEST), limit)


def _size(values: FloatArray) -> float:
    """The largest absolute value, at which others are finite and not lost; 1 of zeros alone, which tell no size."""
    largest = float(np.abs(values).max())
    return min(max(largest, SMALLEST), LARGEST) if largest > 0 else 1.0


def _power(u: FloatArray, p: float) -> FloatArray:
    """((u + 1)^p − 1)/p for u ≥ 0, without cancellation."""
    image: FloatArray = np.log1p(u) if p == 0 else np.expm1(p * np.log1p(u)) / p
    return image


def _root(v: FloatArray, p: float) -> FloatArray:
    """The inverse of `_power`."""
    u: FloatArray = np.expm1(v) if p == 0 else np.expm1(np.log1p(p * v) / p)
    return u
