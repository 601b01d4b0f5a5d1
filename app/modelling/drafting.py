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
from app.engine import Ask, Selection, algorithm_named, beta, design
from app.engine.auto import Observed, alpha_for, cell_count, fill_cells_then_choose, first_batch, is_noisy, limits_for
from app.modelling.engine_settings import auto_options
from app.modelling.explaining import Explainer
from app.modelling.model import Model
from app.modelling.predicting import Predictor

MODEL_FREE = frozenset({"uniform"})


def draft(model: Model, size: BatchSize) -> Draft:
    """The next batch: a pure function of the model and the size, apart from the seconds it took."""
    started = perf_counter()
    batch = first_selection(model, size) if not model.observed.size else _next(model, size)
    if not len(batch.picks):
        raise CandidatesExhausted
    predictor = Predictor(model)
    explainer = Explainer(model, predictor, batch.alpha)
    wide_start = set(batch.picks[: batch.space_filling].tolist())
    suggestions = tuple(
        DraftSuggestion(
            int(candidate), int(replicates), explainer.explain(int(candidate), wide_start=int(candidate) in wide_start)
        )
        for candidate, replicates in zip(batch.numbers, batch.repeats, strict=True)
    )
    record = _record(model, predictor, batch)
    return Draft(suggestions, record, Computation(build(), perf_counter() - started))


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


def first_selection(model: Model, size: BatchSize) -> Selection:
    """Nothing is measured yet: spread out, by the features alone (auto) or by the model's uncertainty (theory)."""
    configuration, state = model.ledger.configuration, model.state
    count = min(max(cells_of(model), size.least), size.most)
    ask = Ask(batch_number(model), count, count, limit=choice_limit(model))
    if configuration.algorithm in MODEL_FREE:
        return algorithm_named(configuration.algorithm).choose(state, ask)
    if configuration.theory is not None:
        return design(state, ask)
    picks = first_batch(state, count, cells_of(model), configuration.seed)
    return Selection(picks, "size" if len(picks) == count else "exhausted", np.zeros(len(picks)))


def _next(model: Model, size: BatchSize) -> Selection:
    """Choose by the model; in auto mode, first complete what is missing of a wide start."""
    configuration = model.ledger.configuration
    choose = algorithm_named(configuration.algorithm).choose
    if model.fit is None or configuration.algorithm in MODEL_FREE:
        return choose(model.state, Ask(batch_number(model), size.least, size.most, limit=choice_limit(model)))
    alpha = alpha_for(model.fit, auto_options(configuration))
    ask = Ask(batch_number(model), size.least, size.most, alpha, choice_limit(model))
    return fill_cells_then_choose(choose, model.state, ask, cells_of(model), configuration.seed)


def batch_number(model: Model) -> int:
    """The number that the batch will have; it addresses the randomness."""
    return len(model.ledger.bases) + 1


def cells_of(model: Model) -> int:
    """In how many parts of the list something is measured at the start."""
    return model.ledger.configuration.first_batch or cell_count(model.state.X.shape[1])


def choice_limit(model: Model, observed: Observed | None = None) -> Array | None:
    """(A,) how often each candidate may be chosen under the study's repeats policy; None for no limit.

    `observed` replaces what the model's own quantity was measured at.
    """
    configuration, state = model.ledger.configuration, model.state
    observed = model.observed if observed is None else observed
    repeats = configuration.repeats
    if repeats == "allowed" or (repeats == "auto" and configuration.theory is not None):
        return None
    if repeats == "auto":
        options = auto_options(configuration)
        return limits_for(observed, state.pending, options, is_noisy(model.fit, observed, options))
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
        fit=fit_record(model),
        best=predictor.best_predicted(),
    )


def fit_record(model: Model) -> Fit | None:
    if model.fit is None:
        return None
    description = model.fit.describe()
    return Fit(**description | {"theta": tuple(description["theta"])})
