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

from app.arrays import Array, FloatArray, IndexArray
from app.domain.batches import BatchRecord, BatchSize, Computation, Draft, DraftSuggestion
from app.domain.errors import CandidatesExhausted
from app.domain.predictions import Fit, share_in_words
from app.domain.studies import Configuration
from app.engine import Ask, Choose, Selection, State, algorithm_named, alpha, beta, design
from app.engine import choose as choose_by_ucb
from app.engine.ask import NO_LIMIT, Ended
from app.engine.auto import (
    BENCH,
    Observed,
    SizedSelection,
    alpha_for,
    borrows,
    cell_count,
    choose_worthwhile,
    first_batch,
    is_noisy,
    limits_for,
    next_batch,
    promising_of,
    to_confirm,
    with_one_more,
)
from app.engine.several import Aim, Aims, QuantityPosterior, choose_for
from app.modelling.allowances import affordable
from app.modelling.composing import compose, eligible_under, must_be_met
from app.modelling.engine_settings import auto_options
from app.modelling.explaining import Explainer, Occasion
from app.modelling.model import BEYOND_THE_SCALE, DEFAULT_ALGORITHM, Model
from app.modelling.predicting import Predictor
from app.modelling.pricing import extra_gains, prices_of
from app.modelling.terms import NO_TERMS, Need, Terms

MODEL_FREE = frozenset({"uniform"})

PROMISED_HERE, PROMISED_FIRST = "what this one promises", "what the first promises"

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
    return Draft(suggestions, record, Computation(build(), perf_counter() - started, model.shards))


def choose_batch(model: Model, size: BatchSize, terms: Terms = NO_TERMS) -> SizedSelection:
    """The choices of the next batch under its terms, and what they promise."""
    choose = partial(_choose_under, model, size)
    return must_be_met(choose, terms, size, lambda sized: sized.selection)


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
    under_terms = _chooser_under(model, terms, size.least)
    if model.fit is None or model.ledger.configuration.algorithm != DEFAULT_ALGORITHM:
        batch = under_terms(model.state, ask)
        return SizedSelection(batch, np.ones(len(batch.picks)))
    return choose_worthwhile(under_terms, model.state, ask)


def _chooser_under(model: Model, terms: Terms, least: int) -> Choose:
    promise = model.state.mean + _alpha(model) * np.sqrt(model.state.leverage)
    need = Need(least, limit=how_often(choice_limit(model, model.state), model.state))

    def under_terms(state: State, request: Ask) -> Selection:
        return compose(partial(_choose, model), _open(model, state, terms), request, terms, promise, need)

    return under_terms


def first_selection(model: Model, size: BatchSize, terms: Terms = NO_TERMS) -> Selection:
    """Nothing is measured yet: spread out, by the features alone (auto) or by the model's uncertainty (theory)."""
    count = min(max(cells_of(model), size.least), size.most)
    ask = Ask(batch_number(model), count, count)
    opened = _open(model, model.state, terms)
    configuration = model.ledger.configuration
    spreads_by_features = configuration.theory is None and configuration.algorithm not in MODEL_FREE
    limit = None if spreads_by_features else how_often(choice_limit(model, opened), opened)
    return compose(partial(_spread_out, model), opened, ask, terms, model.state.mean, Need(size.least, limit=limit))


def _spread_out(model: Model, state: State, ask: Ask) -> Selection:
    configuration = model.ledger.configuration
    ask = replace(ask, limit=choice_limit(model, state))
    if configuration.algorithm in MODEL_FREE:
        return algorithm_named(configuration.algorithm).choose(state, ask)
    if configuration.theory is not None:
        return design(state, ask)
    promise = _promise(model)
    picks = first_batch(state, ask.max_size, cells_of(model), configuration.seed, promise)
    promising = () if promise is None else tuple(picks[: promising_of(state, ask.max_size)].tolist())
    ended: Ended = "size" if len(picks) == ask.max_size else "exhausted"
    return Selection(picks, ended, np.zeros(len(picks)), promising=promising)


def _promise(model: Model) -> FloatArray | None:
    """(A,) what earlier studies expect of each candidate; None if there are none."""
    borrowed = list(model.layout.borrowed)
    return model.state.X[:, borrowed].mean(axis=1) if borrowed else None


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
    """What each term costs, in the user's unit; nothing until something is measured."""
    if not model.observed.size:
        return {}
    size = BatchSize(len(batch.picks), len(batch.picks))
    return prices_of(
        batch, terms, lambda others: _choose_under(model, size, others).selection, partial(extra_gains, model)
    )


def _size_words(model: Model, sized: SizedSelection, size: BatchSize, terms: Terms) -> str | None:
    """Why the batch has its size, and what one more or one fewer would change; None where the theory's rule decides."""
    batch, count = sized.selection, len(sized.selection.picks)
    measurements = f"{count} measurement{'' if count == 1 else 's'}"
    if batch.ended == "rule" or model.ledger.configuration.theory is not None:
        return None
    if terms.confirm is not None:
        return f"{measurements} of the best candidates, to be sure of the recommendation."
    if batch.ended == "exhausted":
        limited = " within what the batch may take" if terms.allowances else ""
        return f"{measurements}: no other candidate may be chosen{limited}."
    if batch.ended == "promise":
        return f"{measurements}: {one_fewer_and_more(sized)}. Better wait for results."
    return f"{measurements}, {_complete_in_words(model, sized, size, terms)}."


def _complete_in_words(model: Model, sized: SizedSelection, size: BatchSize, terms: Terms) -> str:
    """Of a batch that has all the measurements it may have."""
    limit = "a usual round" if size.most == BENCH else "the most allowed"
    reason = "as asked for" if size.least == size.most else limit
    if model.ledger.configuration.algorithm != DEFAULT_ALGORITHM:
        return reason
    if not model.observed.size:
        if len(sized.shares) == 1:
            return f"{reason}; one more would be in another part of the list"
        unseen = "one fewer would leave a part of it unseen, one more would divide it more finely"
        return f"{reason}, spread over the whole list: {unseen}"
    return f"{reason}; {one_fewer_and_more(_with_one_more(model, sized, size, terms))}"


def one_fewer_and_more(sized: SizedSelection) -> str:
    """What would be given up without the last choice, and what another would add."""
    last, more = sized.shares[-1], "no other may be chosen"
    if len(sized.shares) == 1:
        return more if sized.next_share is None else f"one more would add {_promised(sized.next_share, PROMISED_HERE)}"
    if sized.next_share is not None:
        whole = PROMISED_FIRST if last > 1 or sized.next_share > 1 else "it"
        more = f"one more would add {_promised(sized.next_share, whole)}"
    return f"one fewer would give up {_promised(last, PROMISED_FIRST)}; {more}"


def _promised(share: float, whole: str) -> str:
    """What a choice promises beside another, which may promise next to nothing: then a percentage says nothing."""
    return f"more than {whole}" if share > 1 else f"{share_in_words(share)} of {whole}"


def _with_one_more(model: Model, sized: SizedSelection, size: BatchSize, terms: Terms) -> SizedSelection:
    """The batch, knowing also what one more candidate would promise under the same terms."""
    ask = Ask(batch_number(model), size.least, size.most)
    return with_one_more(_chooser_under(model, terms, size.least), model.state, ask, sized)


def occasions_of(batch: Selection) -> dict[int, Occasion]:
    """The candidates that were chosen before the model chose, and why."""
    again = batch.noise_probes + batch.remeasured
    parts: list[tuple[int, Occasion]] = [
        (batch.requested, "requested"),
        (again, "noise probe" if batch.noise_probes else "remeasured"),
        (batch.space_filling, "wide start"),
    ]
    occasions: dict[int, Occasion] = dict.fromkeys(batch.promising, "promising")
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
    """In how many parts of the list something is measured at the start; in none if earlier studies tell enough."""
    if model.fit is not None and borrows(model.fit):
        return 0
    own_columns = len(model.layout.roles) - len(model.layout.borrowed)
    return model.ledger.configuration.first_batch or cell_count(own_columns)


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


def how_often(limit: Array | None, state: State) -> IndexArray:
    """(A,) a limit of `choice_limit` in numbers."""
    return np.full(len(state.X), NO_LIMIT, dtype=np.int64) if limit is None else np.asarray(limit, dtype=np.int64)


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
