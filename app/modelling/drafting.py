"""A batch from a model: what to measure next, and for each choice why."""

import math
import platform
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
from app.engine import Ask, Selection, algorithm_named, beta, design
from app.engine.auto import alpha_for, cell_count, first_batch, is_noisy, limits_for, next_batch
from app.modelling.engine_settings import auto_options
from app.modelling.explaining import Explainer, Occasion
from app.modelling.model import Model
from app.modelling.predicting import Predictor

MODEL_FREE = frozenset({"uniform"})


def draft(model: Model, size: BatchSize) -> Draft:
    """The next batch: a pure function of the model and the size, apart from the seconds it took."""
    started = perf_counter()
    batch = choose_batch(model, size)
    if not len(batch.picks):
        raise CandidatesExhausted
    predictor = Predictor(model)
    explainer = Explainer(model, predictor, batch.alpha)
    occasions = _occasions(batch)
    suggestions = tuple(
        DraftSuggestion(int(candidate), int(replicates), explainer.explain(int(candidate), occasions.get(candidate)))
        for candidate, replicates in zip(batch.numbers.tolist(), batch.repeats, strict=True)
    )
    record = _record(model, predictor, batch)
    return Draft(suggestions, record, Computation(build(), perf_counter() - started))


def choose_batch(model: Model, size: BatchSize) -> Selection:
    """The choices of the next batch, without reasons."""
    return _next(model, size) if model.observed.size else _first(model, size)


def default_size(configuration: Configuration) -> BatchSize:
    """The size of a batch of an ask that names none."""
    return BatchSize(min(configuration.min_batch, configuration.max_batch), configuration.max_batch)


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


def _next(model: Model, size: BatchSize) -> Selection:
    """Choose by the model; in auto mode, first complete what is missing of a wide start."""
    configuration = model.ledger.configuration
    choose = algorithm_named(configuration.algorithm).choose
    if model.fit is None or configuration.algorithm in MODEL_FREE:
        return choose(model.state, Ask(_number(model), size.least, size.most, limit=_limit(model)))
    options = auto_options(configuration)
    ask = Ask(_number(model), size.least, size.most, alpha_for(model.fit, options), _limit(model))
    return next_batch(choose, model.state, model.observed, options, ask, _cells(model), configuration.seed)


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
