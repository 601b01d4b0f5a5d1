"""What a model says of every candidate, in the user's units, and what follows for the study as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy

from app.arrays import Array
from app.domain.predictions import BestPredicted, Certificate, Insight, Prediction, QuantityPrediction
from app.engine import confidence_bounds
from app.engine.auto import Predictive, is_noisy, recommended, value_distribution
from app.modelling.engine_settings import auto_options
from app.modelling.model import Model


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says of every candidate: arrays of length A, in the user's units."""

    mean: Array
    std: Array
    lower: Array
    upper: Array
    counts: Array
    pending: Array
    quantities: Mapping[str, "Predictions"] = field(default_factory=dict)
    """Of a study of several quantities: each by its name; the arrays above are those of the first."""
    chances: Mapping[str, Array] = field(default_factory=dict)
    """`feasible`, `success`, `on_front` and `front_chance`, as far as the study has them."""

    def columns(self) -> Mapping[str, Array]:
        """The arrays by the names under which people sort and export them."""
        return {
            "mean": self.mean,
            "std": self.std,
            "lower": self.lower,
            "upper": self.upper,
            "counts": self.counts,
            "pending": self.pending,
            **{
                f"{name} {what}": array
                for name, predictions in self.quantities.items()
                for what, array in predictions.columns().items()
                if what not in ("counts", "pending")
            },
            **self.chances,
        }

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.columns().values())

    def of(self, candidate: int) -> Prediction:
        return Prediction(
            mean=float(self.mean[candidate]),
            std=float(self.std[candidate]),
            lower=float(self.lower[candidate]),
            upper=float(self.upper[candidate]),
            counts=int(self.counts[candidate]),
            pending=int(self.pending[candidate]),
            quantities={name: predictions.of_quantity(candidate) for name, predictions in self.quantities.items()},
            **{name: array[candidate].item() for name, array in self.chances.items()},
        )

    def of_quantity(self, candidate: int) -> QuantityPrediction:
        arrays = (self.mean, self.std, self.lower, self.upper)
        return QuantityPrediction(*(float(array[candidate]) for array in arrays))


class Predictor:
    """Predictions, best candidate and certificate of one model, each computed when it is needed."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._state = model.state

    def predictions(self) -> Predictions:
        lower, upper = self._intervals
        return Predictions(self.mean, self.std, lower, upper, self._state.counts, self._state.pending)

    def insight(self) -> Insight:
        certificate = self.certificate() if len(self._model.ledger.values) else None
        return Insight(certificate, self.best_predicted())

    @cached_property
    def mean(self) -> Array:
        return self._model.to_user(self._middle)

    @cached_property
    def std(self) -> Array:
        """In auto mode half the width of a calibrated 68 % interval, else the posterior standard deviation."""
        return self._model.objective.std_to_user(self._middle, self._model_std)

    def expected(self, candidate: int) -> tuple[float, float]:
        """`mean` and `std` of one candidate, to the bit, without those of all others."""
        middle, std = self._middle[[candidate]], self._model_std[[candidate]]
        mean = self._model.to_user(middle)
        return float(mean[0]), float(self._model.objective.std_to_user(middle, std)[0])

    @cached_property
    def _model_std(self) -> Array:
        return np.sqrt(self._state.variance) if self._predictive is None else self._predictive.std

    @property
    def _middle(self) -> Array:
        """What is expected of every candidate, in model units."""
        return self._state.mean if self._predictive is None else self._predictive.location

    def best_predicted(self) -> BestPredicted | None:
        """The available candidate with the best posterior mean; None if nothing is known yet."""
        if not self._has_posterior or not self._state.available.any():
            return None
        best = int(np.argmax(np.where(self._state.available, self._state.mean, -np.inf)))
        return BestPredicted(best, *self.expected(best))

    def certificate(self) -> Certificate | None:
        """The recommended candidate and the bound on the regret; None if nothing is known yet."""
        if not self._has_posterior:
            return None
        state, (low, high) = self._state, self.model_bounds
        eligible = np.flatnonzero(state.available) if state.available.any() else np.arange(len(low))
        number = self._recommended(eligible)
        lower, upper = self._in_user_units(low[[number]], high[[number]])
        return Certificate(
            recommended=number,
            mean=self.expected(number)[0],
            lower=float(lower[0]),
            upper=float(upper[0]),
            regret_bound=self._regret_bound(float(low[number]), float(high[eligible].max())),
            confidence=1 - state.settings.delta,
            estimate=self._model.fit is not None or state.settings.precision != "float64",
            assumptions=self._assumptions(),
        )

    def _regret_bound(self, lowest: float, highest: float) -> float:
        """How far apart two bounds in model units are for the user, within the limits of the objective."""
        if self._model.ledger.configuration.objective.limits is None:
            return self._model.objective.regret_to_user(lowest, max(lowest, highest))
        worst, best = self._model.to_user([lowest, max(lowest, highest)]).tolist()
        return float(abs(best - worst))

    @property
    def _has_posterior(self) -> bool:
        """In theory mode the model is known from the start; in auto mode it needs a result."""
        return bool(self._model.observed.size) or self._model.ledger.configuration.theory is not None

    def _recommended(self, eligible: Array) -> int:
        """Auto mode: the best measured candidate, if one is eligible. Otherwise the one with the best lower bound."""
        model, best = self._model, None
        if model.fit is not None:
            noisy = is_noisy(model.observed, auto_options(model.ledger.configuration))
            best = recommended(model.state, model.fit, model.observed, noisy, eligible)
        return int(eligible[np.argmax(self.model_bounds[0][eligible])]) if best is None else best

    @cached_property
    def model_bounds(self) -> tuple[Array, Array]:
        """Lower and upper bounds, (A,) each, in model units.

        Theory: the engine's confidence bounds. Auto: mean ∓ z·std with z = Φ⁻¹(1 − δ/2A), which by the union bound a
        Gaussian process with the fitted kernel and noise respects for all candidates at once.
        """
        state = self._state
        if self._model.fit is None:
            return confidence_bounds(state)
        z = -float(scipy.special.ndtri(state.settings.delta / (2 * len(state.X))))
        radius = z * np.sqrt(state.variance)
        return state.mean - radius, state.mean + radius

    @cached_property
    def _bounds(self) -> tuple[Array, Array]:
        """Bounds that hold for all candidates at once, in the user's units."""
        return self._in_user_units(*self.model_bounds)

    @cached_property
    def _intervals(self) -> tuple[Array, Array]:
        """Where each candidate lies: with 95 % probability each (auto), or for all at once (theory)."""
        if self._predictive is None:
            return self._bounds
        middle, radius = self._predictive.location, self._predictive.half_width(1 - self._state.settings.delta)
        return self._in_user_units(middle - radius, middle + radius)

    @cached_property
    def _predictive(self) -> Predictive | None:
        """Auto mode's calibrated intervals; None in theory mode and before the first result."""
        model = self._model
        if model.fit is None or not model.observed.size:
            return None
        options = auto_options(model.ledger.configuration)
        return Predictive(value_distribution(model.state, model.fit, model.observed, options))

    def _in_user_units(self, one_side: Array, other_side: Array) -> tuple[Array, Array]:
        one_side, other_side = map(self._model.to_user, (one_side, other_side))
        return np.minimum(one_side, other_side), np.maximum(one_side, other_side)

    def _assumptions(self) -> tuple[str, ...]:
        settings, unit = self._state.settings, self._model.ledger.configuration.objective.unit
        noise = float(self._model.objective.std_to_user(0.0, settings.xi))
        shared: tuple[str, ...] = (
            f"the noise is independent, with standard deviation {noise:.3g}{' ' + unit if unit else ''}",
            f"the kernel is {settings.kernel.describe()['kind']}",
        )
        if settings.precision != "float64":
            shared += (f"features and embedding are rounded to {settings.precision}, so this is no guarantee",)
        if self._model.fit is None:
            norm = settings.F * self._model.objective.scale
            return (f"the norm of the objective in the kernel's space is at most {norm:.3g}", *shared)
        fitted = "kernel and noise were fitted to the results, so this is an estimate and no guarantee"
        return ("the objective is a draw from a Gaussian process", *shared, fitted)
