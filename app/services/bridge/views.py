"""A model as people see it: in their own units, with the reasons in words."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from app.engine import beta
from app.engine.auto import is_noisy, recommended
from app.services.bridge.model import Array, Model, options_of

NEAREST = 3


class View:
    """The posterior of every candidate in the user's units; `optimistic` is the good side (low when minimising)."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._state = model.state

    @property
    def knows_something(self) -> bool:
        return bool(self._model.observed.size) or self._model.tally.configuration.theory is not None

    @cached_property
    def mean(self) -> Array:
        return self._model.objective.to_user(self._state.mean)

    @cached_property
    def std(self) -> Array:
        return self._model.objective.std_to_user(self._state.mean, np.sqrt(self._state.variance))

    @property
    def lower(self) -> Array:
        """What the certificate believes each candidate to be at least."""
        return self._bounds[0]

    @property
    def upper(self) -> Array:
        """What the certificate believes each candidate to be at most."""
        return self._bounds[1]

    @property
    def counts(self) -> Array:
        return self._state.counts

    @property
    def pending(self) -> Array:
        return self._state.pending

    def best_predicted(self) -> dict[str, Any] | None:
        """The available candidate with the best posterior mean."""
        if not self.knows_something or not self._state.available.any():
            return None
        best = int(np.argmax(np.where(self._state.available, self._state.mean, -np.inf)))
        return {"candidate": best, "mean": float(self.mean[best]), "std": float(self.std[best])}

    def certificate(self) -> dict[str, Any] | None:
        """The recommended candidate, and how much better another one could still be."""
        if not self.knows_something:
            return None
        state, radius = self._state, self._radius
        among = np.flatnonzero(state.available) if state.available.any() else np.arange(len(radius))
        number = self._recommended(among)
        highest, lowest = float((state.mean + radius)[among].max()), float(state.mean[number] - radius[number])
        return {
            "recommended": number,
            "mean": float(self.mean[number]),
            "lower": float(self.lower[number]),
            "upper": float(self.upper[number]),
            "regret_bound": self._model.objective.regret_to_user(lowest, max(lowest, highest)),
            "confidence": 1 - state.settings.delta,
            "estimate": self._model.fit is not None,
            "assumptions": self._assumptions(),
        }

    def _recommended(self, among: Array) -> int:
        """Theory: the candidate with the best lower bound. Auto: the best measured one, if any is among these."""
        model, best = self._model, None
        if model.fit is not None:
            noisy = is_noisy(model.fit, model.observed, options_of(model.tally))
            best = recommended(model.state, model.fit, model.observed, noisy, among)
        return int(among[np.argmax((self._state.mean - self._radius)[among])]) if best is None else best

    @cached_property
    def _radius(self) -> Array:
        """(A,) in model units. Theory: beta·√leverage (Theorem 2). Auto: what a Gaussian process with the fitted kernel
        and noise stays within for all candidates at once, z·std with z = Φ⁻¹(1 − δ/2A) (union bound)."""
        state = self._state
        if self._model.fit is None:
            theory: Array = beta(state) * np.sqrt(state.leverage)
            return theory
        z = -float(ndtri(state.settings.delta / (2 * len(state.X))))
        bayes: Array = z * np.sqrt(state.variance)
        return bayes

    @cached_property
    def _bounds(self) -> tuple[Array, Array]:
        to_user, mean = self._model.objective.to_user, self._state.mean
        one, other = to_user(mean - self._radius), to_user(mean + self._radius)
        return np.minimum(one, other), np.maximum(one, other)

    def _assumptions(self) -> list[str]:
        settings, unit = self._state.settings, self._model.tally.configuration.unit
        noise = float(self._model.objective.std_to_user(0.0, settings.xi))
        said = [
            f"noise is independent with standard deviation {noise:.3g}{' ' + unit if unit else ''}",
            f"the kernel is {settings.kernel.describe()['kind']}",
        ]
        if self._model.fit is None:
            norm = settings.F * self._model.objective.scale
            return [f"the objective's norm in the kernel's space is at most {norm:.3g}", *said]
        fitted = "kernel and noise were fitted to the measurements: this is an estimate, not a guarantee"
        return ["the objective is a draw of a Gaussian process", *said, fitted]


@dataclass(frozen=True, eq=False)
class Reasons:
    """Why candidates were chosen."""

    model: Model
    view: View
    alpha: float

    def of(self, number: int, spread: bool = False) -> dict[str, Any]:
        """`spread`: it was not the model that chose it."""
        view = self.view
        if not self.model.observed.size:
            return _FIRST
        width = self.alpha * math.sqrt(float(self.model.state.leverage[number]))
        above = max(0.0, float(self.model.state.mean[number]) - self._average)
        exploration = width / (width + above) if width + above > 0 else 1.0
        ucb = self.model.objective.to_user(self.model.state.mean[number] + width)
        nearest = self._nearest(number)
        return {
            "mean": float(view.mean[number]),
            "std": float(view.std[number]),
            "ucb": float(ucb),
            "exploration": exploration,
            "gain": self._gain(number),
            "nearest": nearest,
            "words": _SPREAD if spread else self._words(exploration, nearest),
        }

    @cached_property
    def _average(self) -> float:
        return float(np.mean(self.model.state.mean))

    @cached_property
    def _measured(self) -> Array:
        return self.model.state.measured

    @cached_property
    def _best(self) -> float:
        """The best posterior mean of any measured candidate, in model units."""
        return float(self.model.state.mean[self._measured].max()) if len(self._measured) else 0.0

    def _gain(self, number: int) -> float:
        """Expected improvement over the best measured candidate's mean, in the user's units."""
        sigma = math.sqrt(float(self.model.state.variance[number]))
        better = float(self.model.state.mean[number]) - self._best
        if sigma == 0:
            gain = max(0.0, better)
        else:
            z = better / sigma
            density = math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
            gain = better * float(ndtr(z)) + sigma * density
        return self.model.objective.regret_to_user(self._best, self._best + max(0.0, gain))

    def _nearest(self, number: int) -> list[dict[str, Any]]:
        """The measured candidates most alike by the kernel: similarity is a correlation."""
        state = self.model.state
        kernel, X, measured = state.settings.kernel, state.X, self._measured
        others = measured[measured != number][: 10 * NEAREST * 100]
        if not len(others):
            return []
        k = kernel.matrix(X[number : number + 1], X[others])[0]
        norm = np.sqrt(np.maximum(kernel.diagonal(X[number : number + 1])[0] * kernel.diagonal(X[others]), 1e-300))
        similarity = np.clip(k / norm, -1.0, 1.0)
        order = np.argsort(-similarity, kind="stable")[:NEAREST]
        return [{"candidate": int(others[i]), "similarity": float(similarity[i])} for i in order]

    def _words(self, exploration: float, nearest: list[dict[str, Any]]) -> str:
        share = f"{exploration:.0%} exploration"
        if exploration > 0.66:
            words = f"Mostly to learn ({share}): little is known here"
        elif exploration > 0.33:
            words = f"To learn and to gain ({share})"
        else:
            words = f"Mostly to gain ({share}): it is expected to be good"
        alike = nearest[0]["similarity"] if nearest else 0.0
        return f"{words}; the most alike measured candidate has similarity {alike:.2f}." if nearest else f"{words}."


_SPREAD = "To begin widely: nothing has been measured in this part of the list."

_FIRST: dict[str, Any] = {
    "mean": None,
    "std": None,
    "ucb": None,
    "exploration": 1.0,
    "gain": None,
    "nearest": [],
    "words": "Part of the first batch: spread over the list, so that there is something to learn from.",
}
