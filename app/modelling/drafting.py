"""A batch from a model: what to measure next, and for each choice why."""

import math
import platform
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from time import perf_counter

import numpy as np
import scipy
from threadpoolctl import threadpool_info

from app.arrays import Array
from app.domain.batches import BatchRecord, BatchSize, Computation, Draft, DraftSuggestion
from app.domain.errors import CandidatesExhausted
from app.domain.predictions import Fit
from app.domain.studies import Configuration
from app.engine import Ask, Selection, State, algorithm_named, beta, design
from app.engine.auto import (
    BENCH,
    SizedSelection,
    alpha_for,
    cell_count,
    choose_worthwhile,
    first_batch,
    is_noisy,
    limits_for,
    next_batch,
)
from app.modelling.engine_settings import auto_options
from app.modelling.explaining import Explainer, Occasion
from app.modelling.model import DEFAULT_ALGORITHM, Model
from app.modelling.predicting import Predictor

MODEL_FREE = frozenset({"uniform"})


def draft(model: Model, size: BatchSize) -> Draft:
    """The next batch: a pure function of the model and the size, apart from the seconds it took."""
    started = perf_counter()
    sized = choose_batch(model, size)
    batch = sized.selection
    if not len(batch.picks):
        raise CandidatesExhausted
    predictor = Predictor(model)
    explainer = Explainer(model, predictor, batch.alpha)
    occasions = _occasions(batch)
    suggestions = tuple(
        DraftSuggestion(int(candidate), int(replicates), explainer.explain(int(candidate), occasions.get(candidate)))
        for candidate, replicates in zip(batch.numbers.tolist(), batch.repeats, strict=True)
    )
    record = replace(_record(model, predictor, batch), size_words=_size_words(model, sized, size))
    return Draft(suggestions, record, Computation(build(), perf_counter() - started))


def choose_batch(model: Model, size: BatchSize) -> SizedSelection:
    """The choices of the next batch, and what they promise."""
    if model.observed.size:
        return _next(model, size)
    first = _first(model, size)
    return SizedSelection(first, np.ones(len(first.picks)))


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


def _first(model: Model, size: BatchSize) -> Selection:
    """Nothing is measured yet: spread out, by the features alone (auto) or by the model's uncertainty (theory)."""
    configuration, state = model.ledger.configuration, model.state
    count = min(max(_cells(model), size.least), size.most)
    ask = Ask(_number(model), count, count, limit=_limit(model))
    if configuration.algorithm in MODEL_FREE:
        return algorithm_named(configuration.algorithm).choose(state, ask)
    if configuration.theory is not None:
        return design(state, ask)
    picks = first_batch(state, count, _cells(model), configuration.seed)
    return Selection(picks, "size" if len(picks) == count else "exhausted", np.zeros(len(picks)))


def _next(model: Model, size: BatchSize) -> SizedSelection:
    """Choose by the model; auto mode also repeats, completes a wide start, and ends where the promise falls."""
    configuration, fitted = model.ledger.configuration, model.fit
    choose = algorithm_named(configuration.algorithm).choose
    if fitted is None or configuration.algorithm in MODEL_FREE:
        return _as_it_is(choose(model.state, Ask(_number(model), size.least, size.most, limit=_limit(model))))
    options = auto_options(configuration)
    ask = Ask(_number(model), size.least, size.most, alpha_for(fitted, options), _limit(model))

    def in_auto_mode(state: State, request: Ask) -> Selection:
        return next_batch(choose, state, model.observed, options, request, _cells(model), configuration.seed)

    if configuration.algorithm != DEFAULT_ALGORITHM:
        return _as_it_is(in_auto_mode(model.state, ask))
    return choose_worthwhile(in_auto_mode, model.state, ask)


def _as_it_is(batch: Selection) -> SizedSelection:
    """A batch whose size its algorithm chose."""
    return SizedSelection(batch, np.ones(len(batch.picks)))


def _size_words(model: Model, sized: SizedSelection, size: BatchSize) -> str | None:
    """Why the batch has its size, and what one more or one fewer would change; None where the theory's rule decides."""
    batch, count = sized.selection, len(sized.selection.picks)
    measurements = f"{count} measurement{'' if count == 1 else 's'}"
    if batch.ended == "rule" or model.ledger.configuration.theory is not None:
        return None
    if batch.ended == "exhausted":
        return f"{measurements}: no other candidate may be chosen."
    if size.least == size.most:
        return f"{measurements}, as asked for."
    if not model.observed.size:
        return f"{measurements}, spread over the whole list."
    last = f"the last promises {sized.shares[-1]:.0%} of what the first does"
    if batch.ended == "promise":
        return f"{measurements}: {last}, one more would promise {sized.next_share:.0%}. Better wait for results."
    limit = "a usual round" if size.most == BENCH else "the most allowed"
    return f"{measurements}, {limit}; {last}."


def _occasions(batch: Selection) -> dict[int, Occasion]:
    """The candidates that were chosen before the model chose, and why."""
    again = batch.noise_probes + batch.remeasured
    occasion: Occasion = "noise probe" if batch.noise_probes else "remeasured"
    repeated = dict.fromkeys(batch.picks[:again].tolist(), occasion)
    wide_start: Occasion = "wide start"
    return repeated | dict.fromkeys(batch.picks[again : again + batch.space_filling].tolist(), wide_start)


def _number(model: Model) -> int:
    """The number that the batch will have; it addresses the randomness."""
    return len(model.ledger.bases) + 1


def _cells(model: Model) -> int:
    """In how many parts of the list something is measured at the start."""
    return model.ledger.configuration.first_batch or cell_count(model.state.X.shape[1])


def _limit(model: Model) -> Array | None:
    """(A,) how often each candidate may be chosen under the study's repeats policy; None for no limit."""
    configuration, state = model.ledger.configuration, model.state
    repeats = configuration.repeats
    if repeats == "allowed" or (repeats == "auto" and configuration.theory is not None):
        return None
    if repeats == "auto":
        options = auto_options(configuration)
        return limits_for(state, model.observed, options, is_noisy(model.observed, options))
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
        degraded=dict(batch.degraded),
        fit=_fit_record(model),
        best=predictor.best_predicted(),
    )


def _fit_record(model: Model) -> Fit | None:
    if model.fit is None:
        return None
    description = model.fit.describe()
    return Fit(**description | {"theta": tuple(description["theta"])})
