"""A batch from a model: what to measure next, and for each choice why."""

import math
import platform
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from time import perf_counter

import numpy as np
import scipy
from threadpoolctl import threadpool_info

from app.arrays import Array
from app.domain.batches import BatchRecord, BatchSize, Computation, Draft, DraftSuggestion
from app.domain.errors import CandidatesExhausted, TermsUnmet
from app.domain.predictions import Fit
from app.engine import Ask, Selection, State, algorithm_named, alpha, beta, design
from app.engine.auto import alpha_for, cell_count, fill_cells_then_choose, first_batch, is_noisy, limits_for
from app.modelling.composing import NO_TERMS, Composed, Terms, best_measured, compose
from app.modelling.engine_settings import auto_options
from app.modelling.explaining import Explainer
from app.modelling.model import BEYOND_THE_SCALE, Model
from app.modelling.predicting import Predictor

MODEL_FREE = frozenset({"uniform"})


def draft(model: Model, size: BatchSize, terms: Terms = NO_TERMS) -> Draft:
    """The next batch: a pure function of the model, the size and the terms, apart from the seconds it took."""
    started = perf_counter()
    composed = _composed(model, size, terms)
    batch = composed.selection
    if not len(batch.picks):
        raise CandidatesExhausted
    predictor = Predictor(model)
    suggestions = _suggestions(Explainer(model, predictor, batch.alpha), composed)
    record = replace(_record(model, predictor, batch), prices=_prices(model, composed, terms))
    return Draft(suggestions, record, Computation(build(), perf_counter() - started))


def _suggestions(explainer: Explainer, composed: Composed) -> tuple[DraftSuggestion, ...]:
    batch, requested = composed.selection, composed.included
    wide_start = set(batch.picks[requested : requested + batch.space_filling].tolist())
    included = set(batch.picks[:requested].tolist())
    return tuple(
        DraftSuggestion(
            int(candidate),
            int(replicates),
            explainer.explain(
                int(candidate), wide_start=int(candidate) in wide_start, requested=int(candidate) in included
            ),
        )
        for candidate, replicates in zip(batch.numbers, batch.repeats, strict=True)
    )


@cache
def build() -> str:
    """The program, libraries and kind of machine: within one build, results are equal to the last bit."""
    libraries = {
        f"{library['internal_api']} {library['version']} {library.get('architecture', '')}"
        for library in threadpool_info()
    }
    parts = [
        f"nextbatch-server {version('nextbatch-server')}",
        f"numpy {np.__version__}",
        f"scipy {scipy.__version__}",
        f"python {platform.python_version()}",
        platform.machine(),
        *sorted(libraries),
    ]
    return "; ".join(part.strip() for part in parts)[:200]


def _composed(model: Model, size: BatchSize, terms: Terms) -> Composed:
    """The batch under its terms; refused if they leave fewer candidates than the request needs."""
    composed = _compose(model, size, terms)
    found = len(composed.selection.picks)
    if found < size.least and terms.names:
        fuller = [
            name for name in terms.names if len(_compose(model, size, terms.without(name)).selection.picks) > found
        ]
        raise _unmet(found, size.least, fuller)
    return composed


def _unmet(found: int, least: int, fuller: Sequence[str]) -> TermsUnmet:
    """What could be met; without one of the terms `fuller` there would be more."""
    terms = " or ".join(f"`{name}`" for name in fuller) or "the size"
    relief = f"Ask for at most {found}, or relax {terms}." if found else f"Relax {terms}."
    return TermsUnmet(f"{TermsUnmet.detail} There are {found}, and {least} are needed. {relief}", found=found)


def _compose(model: Model, size: BatchSize, terms: Terms) -> Composed:
    state = model.state if terms.are_plain else _without_used_up(model)
    if not model.observed.size:
        count = min(max(_cells(model), size.least), size.most)
        return compose(partial(_first, model), state, BatchSize(count, count), terms, state.mean)
    promise = state.mean + _alpha(model) * np.sqrt(state.leverage)
    return compose(partial(_next, model), state, size, terms, promise)


def _without_used_up(model: Model) -> State:
    """The state without the candidates that may not be measured again, so that the terms do not count on them."""
    limit = _limit(model, model.state)
    return model.state if limit is None else model.state.replace(available=model.state.available & (limit > 0))


def _first(model: Model, state: State, size: BatchSize, chosen_before: int) -> Selection:
    """Nothing is measured yet: spread out, by the features alone (auto) or by the model's uncertainty (theory)."""
    configuration = model.ledger.configuration
    ask = Ask(_number(model), size.most, size.most, limit=_limit(model, state), chosen_before=chosen_before)
    if configuration.algorithm in MODEL_FREE:
        return algorithm_named(configuration.algorithm).choose(state, ask)
    if configuration.theory is not None:
        return design(state, ask)
    picks = first_batch(state, size.most, _cells(model), configuration.seed)
    return Selection(picks, "size" if len(picks) == size.most else "exhausted", np.zeros(len(picks)))


def _next(model: Model, state: State, size: BatchSize, chosen_before: int) -> Selection:
    """Choose by the model; in auto mode, first complete what is missing of a wide start."""
    configuration = model.ledger.configuration
    choose = algorithm_named(configuration.algorithm).choose
    ask = Ask(_number(model), size.least, size.most, limit=_limit(model, state), chosen_before=chosen_before)
    if model.fit is None or configuration.algorithm in MODEL_FREE:
        return choose(state, ask)
    ask = replace(ask, alpha=_alpha(model))
    return fill_cells_then_choose(choose, state, ask, _cells(model), configuration.seed)


def _alpha(model: Model) -> float:
    """How many √leverages of optimism a choice has."""
    if model.fit is None:
        return alpha(model.state)
    return alpha_for(model.fit, auto_options(model.ledger.configuration))


def _prices(model: Model, composed: Composed, terms: Terms) -> dict[str, float]:
    """What each term costs: how much more a batch of the same size would promise without it."""
    if not model.observed.size:
        return {}
    count = len(composed.selection.picks)
    promised = _gain(model, composed.selection)
    size = BatchSize(count, count)
    free = {name: _compose(model, size, terms.without(name)).selection for name in terms.names}
    return {name: max(0.0, _gain(model, selection) - promised) for name, selection in free.items()}


def _gain(model: Model, batch: Selection) -> float:
    """How far the optimistic values of a batch exceed the best measured candidate, summed, in the user's unit."""
    best = best_measured(model.state)
    return sum(model.objective.regret_to_user(best, max(best, float(ucb))) for ucb in batch.ucb)


def _number(model: Model) -> int:
    """The number that the batch will have; it addresses the randomness."""
    return len(model.ledger.bases) + 1


def _cells(model: Model) -> int:
    """In how many parts of the list something is measured at the start."""
    return model.ledger.configuration.first_batch or cell_count(model.state.X.shape[1])


def _limit(model: Model, state: State) -> Array | None:
    """(A,) how often each candidate may be chosen under the study's repeats policy; None for no limit."""
    configuration = model.ledger.configuration
    repeats = configuration.repeats
    if repeats == "allowed" or (repeats == "auto" and configuration.theory is not None):
        return None
    if repeats == "auto":
        options = auto_options(configuration)
        return limits_for(model.observed, state.pending, options, is_noisy(model.fit, model.observed, options))
    most = 1 if repeats == "never" else int(repeats)
    remaining: Array = np.maximum(most - state.counts - state.pending, 0)
    return remaining


def _record(model: Model, predictor: Predictor, batch: Selection) -> BatchRecord:
    state = model.state
    certificate = predictor.certificate() if model.observed.size else None
    in_theory = model.fit is None and model.ledger.configuration.theory is not None
    return BatchRecord(
        ended=batch.ended,
        guaranteed=bool(batch.guaranteed and in_theory),
        alpha=float(batch.alpha),
        beta=float(beta(state)),
        dictionary=len(state.S),
        effective_dimension=float(state.leverage_sum),
        ratio_bound=float(batch.ratio_bound) if math.isfinite(batch.ratio_bound) else None,
        regret_bound=certificate.regret_bound if certificate else None,
        degraded=dict(batch.degraded) | _clipped(state),
        fit=_fit_record(model),
        best=predictor.best_predicted(),
    )


def _clipped(state: State) -> dict[str, int]:
    """Results that are too large for the scale of the study, if there are any."""
    return {name: count for name, count in state.rescues.items() if name == BEYOND_THE_SCALE}


def _fit_record(model: Model) -> Fit | None:
    if model.fit is None:
        return None
    description = model.fit.describe()
    return Fit(**description | {"theta": tuple(description["theta"])})
