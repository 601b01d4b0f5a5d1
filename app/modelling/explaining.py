"""Why a candidate was suggested: in numbers, by its measured neighbours, and in words."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy

from app.arrays import Array
from app.domain.batches import Explanation, Neighbour
from app.modelling.model import Model
from app.modelling.predicting import Predictor

NEAREST = 3
MOST_COMPARED = 3_000  # measured candidates that are considered as neighbours

FIRST_BATCH = Explanation(
    "Part of the first batch, which is spread over the whole list so that there is something to learn from.",
    exploration=1.0,
)
Occasion = Literal["requested", "promising", "wide start", "noise probe", "remeasured", "confirmed"]
"""Why a candidate was chosen if the model did not choose it."""

OCCASIONS: dict[Occasion, str] = {
    "requested": "You asked for this candidate.",
    "promising": "Part of the first batch: here the earlier studies expect the best result.",
    "wide start": "To begin widely: nothing has been measured in this part of the list.",
    "noise probe": "Measured once more, to learn by how much a repeated measurement differs.",
    "remeasured": "Measured once more: results are noisy, and a surer value of it is worth more than a new candidate.",
    "confirmed": "Measured again before one of the best is recommended, to be sure of it.",
}
REQUESTED = Explanation(OCCASIONS["requested"], exploration=0.0)
FIRST_BATCH_OF: dict[Occasion | None, Explanation] = {
    "requested": REQUESTED,
    "promising": Explanation(OCCASIONS["promising"], exploration=0.0),
}


@dataclass(frozen=True, eq=False)
class Explainer:
    """Explains the choices that a model made with the exploration multiplier `alpha`."""

    model: Model
    predictor: Predictor
    alpha: float

    def explain(self, candidate: int, occasion: Occasion | None = None) -> Explanation:
        """Why this candidate; with an occasion, it was not the model that chose it."""
        if not self.model.observed.size:
            return FIRST_BATCH_OF.get(occasion, FIRST_BATCH)
        state = self.model.state
        width = self.alpha * math.sqrt(float(state.leverage[candidate]))
        above = max(0.0, float(state.mean[candidate]) - self._average)
        exploration = width / (width + above) if width + above > 0 else 1.0
        nearest = self._nearest(candidate)
        mean, std = self.predictor.expected(candidate)
        return Explanation(
            words=in_words(exploration, nearest) if occasion is None else OCCASIONS[occasion],
            exploration=exploration,
            mean=mean,
            std=std,
            ucb=float(self.model.to_user(state.mean[candidate] + width)),
            gain=self._gain(candidate),
            nearest=nearest,
        )

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

    def _gain(self, candidate: int) -> float:
        """Expected improvement over the best measured candidate's mean, in the user's units."""
        sigma = math.sqrt(float(self.model.state.variance[candidate]))
        better = float(self.model.state.mean[candidate]) - self._best
        if sigma == 0:
            gain = max(0.0, better)
        else:
            z = better / sigma
            density = math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
            gain = better * float(scipy.special.ndtr(z)) + sigma * density
        return self.model.objective.regret_to_user(self._best, self._best + max(0.0, gain))

    def _nearest(self, candidate: int) -> tuple[Neighbour, ...]:
        """The measured candidates that the kernel finds most alike: similarity is a correlation."""
        state = self.model.state
        kernel, X, measured = state.settings.kernel, state.X, self._measured
        others = measured[measured != candidate][:MOST_COMPARED]
        if not len(others):
            return ()
        this, those = X[candidate : candidate + 1].astype(float), X[others].astype(float)
        norm = np.sqrt(np.maximum(kernel.diagonal(this)[0] * kernel.diagonal(those), 1e-300))
        similarity = np.clip(kernel.matrix(this, those)[0] / norm, -1.0, 1.0)
        order = np.argsort(-similarity, kind="stable")[:NEAREST]
        return tuple(Neighbour(int(others[i]), float(similarity[i])) for i in order)


def in_words(exploration: float, nearest: tuple[Neighbour, ...]) -> str:
    share = f"{exploration:.0%} exploration"
    if exploration > 0.66:
        purpose = f"Mostly to learn ({share}): little is known about this part of the list"
    elif exploration > 0.33:
        purpose = f"Both to learn and to improve ({share})"
    else:
        purpose = f"Mostly to improve ({share}): a good result is expected"
    if not nearest:
        return f"{purpose}."
    return f"{purpose}. Its similarity to the closest measured candidate is {nearest[0].similarity:.2f}."
