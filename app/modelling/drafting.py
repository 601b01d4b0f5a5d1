"""A batch from a model: what to measure next, and for each choice why."""

import math
import platform
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from time import perf_counter

import numpy as np
import scipy
from threadpoolctl import threadpool_info

from app.arrays import Array, IndexArray
from app.domain.batches import BatchRecord, BatchSize, Computation, Draft, DraftSuggestion
from app.domain.errors import CandidatesExhausted
from app.domain.predictions import Fit
from app.domain.studies import Configuration
from app.engine import Ask, Selection, State, algorithm_named, alpha, beta, design
from app.engine import choose as choose_by_ucb
from app.engine.auto import (
    BENCH,
    Observed,
    SizedSelection,
    alpha_for,
    cell_count,
    choose_worthwhile,
    first_batch,
    is_noisy,
    limits_for,
    next_batch,
    to_confirm,
)
from app.engine.several import Aim, Aims, QuantityPosterior, choose_for
from app.modelling.allowances import affordable
from app.modelling.composing import NO_TERMS, Need, Terms, best_measured, compose, eligible_under, must_be_met
from app.modelling.engine_settings import auto_options
from app.modelling.explaining import Explainer, Occasion
from app.modelling.model import BEYOND_THE_SCALE, DEFAULT_ALGORITHM, Model
from app.modelling.predicting import Predictor

MODEL_FREE = frozenset({"uniform"})

HIGHEST = Aims((Aim(0),), origin=np.zeros(1), scale=np.ones(1))
"""The aim of a study with one objective: its score is the optimistic value."""


def draft(model: Model, size: BatchSize, terms: Terms = NO_TERMS) -> Draft:
    """The next batch: a pure function of the model, the size and the terms, apart from the seconds it took."""
    started = perf_counter()
    sized = choose_batch(model, size, terms) if terms.confirm is None else _confirmation(model, size, terms)
    batch = sized.selection
    if not len(batch.picks):
        raise CandidatesExhausted
    predictor = Predictor(model)
    explainer = Explainer(model, predictor, batch.alpha)
    occasions = occasions_of(batch)
    if terms.confirm is not None:
        occasions = dict.fromkeys(batch.numbers.tolist(), "confirmed")
    suggestions = tuple(
        DraftSuggestion(int(candidate), int(replicates), explainer.explain(int(candidate), occasions.get(candidate)))
        for candidate, replicates in zip(batch.numbers.tolist(), batch.repeats, strict=True)
    )
    record = replace(
        _record(model, predictor, batch),
        size_words=_size_words(model, sized, size, terms),
        prices=_prices(model, batch, terms) if terms.confirm is None else {},
    )
    return Draft(suggestions, record, Computation(build(), perf_counter() - started))


def choose_batch(model: Model, size: BatchSize, terms: Terms = NO_TERMS) -> SizedSelection:
    """The choices of the next batch under its terms, and what they promise."""
    choose = partial(_choose_under, model, size)
    return must_be_met(choose, terms, size, lambda sized: len(sized.selection.picks))


def _confirmation(model: Model, size: BatchSize, terms: Terms) -> SizedSelection:
    """The best few again, as far as the allowances reach; nothing if they have been measured often enough."""
    if model.fit is None or terms.confirm is None:
        raise CandidatesExhausted
    among = np.flatnonzero(eligible_under(model.state, terms))
    options = auto_options(model.ledger.configuration)
    picks = to_confirm(model.state, model.fit, model.observed, options, among, terms.confirm)[: size.most]
    for allowance in terms.allowances:
        picks = picks[: affordable(allowance, picks)]
    batch = Selection(picks, "size", model.state.mean[picks], alpha=_alpha(model), remeasured=len(picks))
    return SizedSelection(batch, np.ones(len(picks)))


def default_size(configuration: Configuration) -> BatchSize:
    """The size of a batch if an ask names none: within the study's limits, and in auto mode what a bench can do."""
    most, least = configuration.max_batch, min(configuration.min_batch, configuration.max_batch)
    return BatchSize(least, most if configuration.theory else min(most, max(BENCH, least)))


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


def _choose_under(model: Model, size: BatchSize, terms: Terms) -> SizedSelection:
    if not model.observed.size:
        first = first_selection(model, size, terms)
        return SizedSelection(first, np.ones(len(first.picks)))
    ask = Ask(batch_number(model), size.least, size.most)
    promise = model.state.mean + _alpha(model) * np.sqrt(model.state.leverage)

    def under_terms(state: State, request: Ask) -> Selection:
        return compose(partial(_choose, model), _open(model, state, terms), request, terms, promise, Need(size.least))

    if model.fit is None or model.ledger.configuration.algorithm != DEFAULT_ALGORITHM:
        batch = under_terms(model.state, ask)
        return SizedSelection(batch, np.ones(len(batch.picks)))
    return choose_worthwhile(under_terms, model.state, ask)


PROMISING = 0.4
"""The share of the first batch that earlier studies propose."""


def first_selection(model: Model, size: BatchSize, terms: Terms = NO_TERMS) -> Selection:
    """Nothing is measured yet: spread out, by the features alone (auto) or by the model's uncertainty (theory)."""
    count = min(max(cells_of(model), size.least), size.most)
    ask = Ask(batch_number(model), count, count)
    opened = _open(model, model.state, terms)
    return compose(partial(_spread_out, model), opened, ask, terms, model.state.mean, Need(size.least))


def _spread_out(model: Model, state: State, ask: Ask) -> Selection:
    configuration = model.ledger.configuration
    ask = replace(ask, limit=choice_limit(model, state))
    if configuration.algorithm in MODEL_FREE:
        return algorithm_named(configuration.algorithm).choose(state, ask)
    if configuration.theory is not None:
        return design(state, ask)
    picks = _promising_first(model, state, first_batch(state, ask.max_size, cells_of(model), configuration.seed))
    return Selection(picks, "size" if len(picks) == ask.max_size else "exhausted", np.zeros(len(picks)))


def _promising_first(model: Model, state: State, picks: IndexArray) -> IndexArray:
    """Of the first batch, two of five are what earlier studies expect most of; the rest is spread out."""
    borrowed = list(model.layout.borrowed)
    if not borrowed or not len(picks):
        return picks
    free = state.available & (state.pending == 0) & (state.counts == 0)
    expected = np.where(free, state.X[:, borrowed].mean(axis=1), -np.inf)
    promising = np.argsort(-expected, kind="stable")[: math.ceil(PROMISING * len(picks))]
    promising = promising[free[promising]]
    return np.concatenate((promising, picks[~np.isin(picks, promising)]))[: len(picks)]


def _choose(model: Model, state: State, ask: Ask) -> Selection:
    """Choose by the model; auto mode also repeats, and completes a wide start."""
    configuration, fitted = model.ledger.configuration, model.fit
    choose = algorithm_named(configuration.algorithm).choose
    if ask.effort is not None and choose is choose_by_ucb:
        choose = partial(choose_for, [QuantityPosterior(model.state, _alpha(model))], HIGHEST)
    ask = replace(ask, limit=choice_limit(model, state))
    if fitted is None or configuration.algorithm in MODEL_FREE:
        return choose(state, ask)
    ask, options = replace(ask, alpha=_alpha(model)), auto_options(configuration)
    return next_batch(choose, state, model.observed, options, ask, cells_of(model), configuration.seed)


def _alpha(model: Model) -> float:
    """How many √leverages of optimism a choice has."""
    if model.fit is None:
        return alpha(model.state)
    return alpha_for(model.fit, auto_options(model.ledger.configuration))


def _open(model: Model, state: State, terms: Terms) -> State:
    """Without the candidates that may not be measured again, where the terms could count on them."""
    limit = None if terms.are_plain else choice_limit(model, state)
    return state if limit is None else state.replace(available=state.available & (limit > 0))


def _prices(model: Model, batch: Selection, terms: Terms) -> dict[str, float]:
    """What each term costs: how much more a batch of the same size would promise without it."""
    if not model.observed.size:
        return {}
    size = BatchSize(len(batch.picks), len(batch.picks))
    promised = _gain(model, batch)
    free = {name: _choose_under(model, size, terms.without(name)).selection for name in terms.names}
    return {name: max(0.0, _gain(model, selection) - promised) for name, selection in free.items()}


def _gain(model: Model, batch: Selection) -> float:
    """How far the optimistic values of a batch exceed the best measured candidate, summed, in the user's unit."""
    best = best_measured(model.state)
    return sum(model.objective.regret_to_user(best, max(best, float(ucb))) for ucb in batch.ucb)


def _size_words(model: Model, sized: SizedSelection, size: BatchSize, terms: Terms) -> str | None:
    """Why the batch has its size, and what one more or one fewer would change; None where the theory's rule decides."""
    batch, count = sized.selection, len(sized.selection.picks)
    measurements = f"{count} measurement{'' if count == 1 else 's'}"
    if batch.ended == "rule" or model.ledger.configuration.theory is not None:
        return None
    if batch.ended == "exhausted":
        limited = " within what the batch may take" if terms.allowances else ""
        return f"{measurements}: no other candidate may be chosen{limited}."
    if terms.confirm is not None or size.least == size.most:
        confirmed = " of the best candidates, to be sure of the recommendation."
        return measurements + (", as asked for." if terms.confirm is None else confirmed)
    if not model.observed.size:
        return f"{measurements}, spread over the whole list."
    last = f"the last promises {sized.shares[-1]:.0%} of what the first does"
    if batch.ended == "promise":
        return f"{measurements}: {last}, one more would promise {sized.next_share:.0%}. Better wait for results."
    limit = "a usual round" if size.most == BENCH else "the most allowed"
    return f"{measurements}, {limit}; {last}."


def occasions_of(batch: Selection) -> dict[int, Occasion]:
    """The candidates that were chosen before the model chose, and why."""
    again = batch.noise_probes + batch.remeasured
    parts: list[tuple[int, Occasion]] = [
        (batch.requested, "requested"),
        (again, "noise probe" if batch.noise_probes else "remeasured"),
        (batch.space_filling, "wide start"),
    ]
    occasions: dict[int, Occasion] = {}
    begin = 0
    for count, occasion in parts:
        for candidate in batch.picks[begin : begin + count].tolist():
            occasions.setdefault(candidate, occasion)
        begin += count
    return occasions


def batch_number(model: Model) -> int:
    """The number that the batch will have; it addresses the randomness."""
    return len(model.ledger.bases) + 1


def cells_of(model: Model) -> int:
    """In how many parts of the list something is measured at the start."""
    return model.ledger.configuration.first_batch or cell_count(model.state.X.shape[1])


def choice_limit(model: Model, state: State, observed: Observed | None = None) -> Array | None:
    """(A,) how often each candidate may be chosen under the study's repeats policy; None for no limit.

    `observed` replaces what the model's own quantity was measured at.
    """
    configuration = model.ledger.configuration
    observed = model.observed if observed is None else observed
    repeats = configuration.repeats
    if repeats == "allowed" or (repeats == "auto" and configuration.theory is not None):
        return None
    if repeats == "auto":
        options = auto_options(configuration)
        return limits_for(state, observed, options, is_noisy(observed, options))
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
        fit=fit_record(model),
        best=predictor.best_predicted(),
    )


def _clipped(state: State) -> dict[str, int]:
    """Results that are too large for the scale of the study, if there are any."""
    return {name: count for name, count in state.rescues.items() if name == BEYOND_THE_SCALE}


def fit_record(model: Model) -> Fit | None:
    if model.fit is None:
        return None
    description = model.fit.describe()
    return Fit(**description | {"theta": tuple(description["theta"])})
