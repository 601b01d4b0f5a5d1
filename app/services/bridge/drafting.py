"""A batch from a model: what to measure next, and for each choice why, in numbers and words."""

import math
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from app.domain.errors import CandidatesExhausted
from app.engine import Ask, Batch, beta, design, member
from app.engine.auto import alpha_for, first_batch, first_size, is_noisy, limits_for, widely
from app.services.bridge.build import build
from app.services.bridge.model import Array, Model, options_of
from app.services.bridge.views import Reasons, View

MODEL_FREE = frozenset({"uniform"})


@dataclass(frozen=True)
class Wanted:
    """What was asked for: the number the batch would have, and its size."""

    number: int
    min_size: int
    max_size: int


@dataclass(frozen=True)
class Draft:
    """A batch before it is issued."""

    suggestions: tuple[dict[str, Any], ...]  # candidate, replicates, record
    record: dict[str, Any]
    seconds: float  # measured, so not part of what a replay compares


def draft(model: Model, wanted: Wanted) -> Draft:
    """A pure function of the model and what is wanted (but for the seconds it took)."""
    started = perf_counter()
    batch = _first(model, wanted) if not model.observed.size else _next(model, wanted)
    if not len(batch.picks):
        raise CandidatesExhausted
    view = View(model)
    reasons = Reasons(model, view, batch.alpha)
    spread = set(batch.picks[: batch.spread].tolist())
    suggestions = tuple(
        {
            "candidate": int(number),
            "replicates": int(repeats),
            "record": reasons.of(int(number), spread=int(number) in spread),
        }
        for number, repeats in zip(batch.numbers, batch.repeats, strict=True)
    )
    return Draft(suggestions, _record(model, view, batch), perf_counter() - started)


def _first(model: Model, wanted: Wanted) -> Batch:
    """Nothing is measured yet: spread out, by the features alone (auto) or by the model's uncertainty (theory)."""
    configuration, state = model.tally.configuration, model.state
    limit = _limit(model)
    size = min(max(_cells(model), wanted.min_size), wanted.max_size)
    ask = Ask(wanted.number, size, size, limit=limit)
    if configuration.algorithm in MODEL_FREE:
        return member(configuration.algorithm).choose(state, ask)
    if configuration.theory is not None:
        return design(state, ask)
    picks = first_batch(state, size, _cells(model), configuration.seed)
    return Batch(picks, "size" if len(picks) == size else "exhausted", np.zeros(len(picks)), guaranteed=False)


def _next(model: Model, wanted: Wanted) -> Batch:
    """By the model; in auto mode after what is missing of a wide beginning."""
    configuration = model.tally.configuration
    choose = member(configuration.algorithm).choose
    if model.fit is None or configuration.algorithm in MODEL_FREE:
        return choose(model.state, Ask(wanted.number, wanted.min_size, wanted.max_size, limit=_limit(model)))
    alpha = alpha_for(model.fit, options_of(model.tally))
    ask = Ask(wanted.number, wanted.min_size, wanted.max_size, alpha, _limit(model))
    return widely(choose, model.state, ask, _cells(model), configuration.seed)


def _cells(model: Model) -> int:
    """Parts of the list in which something is measured at the beginning."""
    return model.tally.configuration.first_batch or first_size(model.state.X.shape[1])


def _limit(model: Model) -> Array | None:
    """How often each candidate may be chosen, by the study's repeats policy; None for as often as it likes."""
    repeats, state = model.tally.configuration.repeats, model.state
    if repeats == "allowed" or (repeats == "auto" and model.tally.configuration.theory is not None):
        return None
    if repeats == "auto":
        options = options_of(model.tally)
        return limits_for(model.observed, state.pending, options, is_noisy(model.fit, model.observed, options))
    most = 1 if repeats == "never" else int(repeats)
    left: Array = np.maximum(most - state.counts - state.pending, 0)
    return left


def _record(model: Model, view: View, batch: Batch) -> dict[str, Any]:
    state = model.state
    sure = view.certificate() if model.observed.size else None
    return {
        "ended": batch.ended,
        "ratio_bound": batch.ratio_bound if math.isfinite(batch.ratio_bound) else None,  # a baseline has none
        "guaranteed": bool(batch.guaranteed and model.fit is None and model.tally.configuration.theory is not None),
        "alpha": batch.alpha,
        "beta": beta(state),
        "dictionary": len(state.S),
        "effective_dimension": state.effective_dimension,
        "regret_bound": sure["regret_bound"] if sure else None,
        "degraded": batch.degraded,
        "fit": model.fit.describe() if model.fit else None,
        "best": view.best_predicted(),
        "build": build(),
    }
