"""A batch for a study of several quantities, or of one whose failures are learnt from."""

import math
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np

from app.arrays import Array
from app.domain.batches import BatchRecord, BatchSize, Computation, Draft, DraftSuggestion, Expectation, Explanation
from app.domain.errors import CandidatesExhausted
from app.engine import Ask, Selection, beta
from app.engine.auto import Observed, fill_cells_then_choose
from app.engine.several import choose_for, promises_of
from app.engine.state import State
from app.modelling.aiming import Aiming
from app.modelling.composing import compose, must_be_met
from app.modelling.drafting import (
    MODEL_FREE,
    batch_number,
    build,
    cells_of,
    choice_limit,
    draft,
    first_selection,
    fit_record,
    how_often,
    occasions_of,
)
from app.modelling.engine_settings import FOR_ONE_QUANTITY
from app.modelling.explaining import FIRST_BATCH, OCCASIONS, REQUESTED, Explainer, Occasion, in_words
from app.modelling.model import Model
from app.modelling.predicting import Predictor
from app.modelling.pricing import extra_gains_if_valid, lost_shares, prices_of
from app.modelling.study_model import SeveralModels, StudyModel
from app.modelling.terms import NO_TERMS, Need, Terms


def draft_batch(model: StudyModel, size: BatchSize, terms: Terms = NO_TERMS) -> Draft:
    """The next batch: a pure function of the model, the size and the terms, apart from the seconds it took."""
    if isinstance(model, SeveralModels):
        return _draft_several(model, size, terms)
    ledger = model.ledger
    learns = ledger.failed and ledger.configuration.failures and ledger.configuration.theory is None
    learns = learns and terms.confirm is None
    if learns and model.observed.size and ledger.configuration.algorithm not in MODEL_FREE | FOR_ONE_QUANTITY:
        return _draft_several(SeveralModels(ledger, {ledger.configuration.objective.name: model}), size, terms)
    return draft(model, size, terms)


def _draft_several(models: SeveralModels, size: BatchSize, terms: Terms) -> Draft:
    started = perf_counter()
    aiming = Aiming(models)
    batch = must_be_met(partial(select, models, aiming, size), terms, size, lambda batch: batch)
    if not len(batch.picks):
        raise CandidatesExhausted
    explained = _Explained(models, aiming)
    occasions = occasions_of(batch)
    suggestions = tuple(
        DraftSuggestion(int(number), int(repeats), explained.of(int(number), occasions.get(int(number))))
        for number, repeats in zip(batch.numbers, batch.repeats, strict=True)
    )
    record = replace(_record(models, aiming, batch), prices=_prices(models, aiming, batch, terms))
    return Draft(suggestions, record, Computation(build(), perf_counter() - started, models.first.shards))


def _prices(models: SeveralModels, aiming: Aiming, batch: Selection, terms: Terms) -> dict[str, float]:
    """What each term costs: in the unit of the only objective, or as a share of the hypervolume."""
    if not aiming.objectives or not aiming.counts.any():
        return {}
    size = BatchSize(len(batch.picks), len(batch.picks))
    lost = extra_gains_if_valid if len(models.ledger.configuration.objectives) == 1 else lost_shares
    return prices_of(batch, terms, partial(select, models, aiming, size), partial(lost, aiming))


def _gate(models: SeveralModels, aiming: Aiming) -> Model:
    """The first model, with every candidate counted that was measured in any quantity."""
    first = models.first
    state = first.state.replace(counts=aiming.counts)
    return Model(first.ledger, first.encoding, first.objective, state, first.fit)


def select(models: SeveralModels, aiming: Aiming, size: BatchSize, terms: Terms) -> Selection:
    """The choices of the next batch under its terms."""
    configuration, gate = models.ledger.configuration, _gate(models, aiming)
    if not aiming.objectives or not aiming.counts.any() or configuration.algorithm in MODEL_FREE:
        return first_selection(gate, size, terms)
    in_theory = configuration.theory is not None
    least = size.least if in_theory else size.most  # the theory's rule would end a batch after one candidate
    ask = Ask(batch_number(gate), least, size.most)
    promise = np.zeros(0) if terms.are_plain else promises_of(aiming.posteriors, aiming.aims, gate.state, ask)

    def choose(state: State, request: Ask) -> Selection:
        return choose_for(aiming.posteriors, aiming.aims, state, request)

    def choose_limited(state: State, request: Ask) -> Selection:
        request = replace(request, limit=_limit(aiming, state))
        if in_theory:
            return choose(state, request)
        return fill_cells_then_choose(choose, state, request, cells_of(gate), configuration.seed)

    limit = how_often(_limit(aiming, gate.state), gate.state)
    return compose(choose_limited, gate.state, ask, terms, promise, Need(size.least, reached=0.0, limit=limit))


def _limit(aiming: Aiming, gate: State) -> Array | None:
    """How often each candidate may be chosen: as the study's repeats policy says for the noisiest quantity."""
    limits = []
    for model in aiming.known.values():
        state = model.state.replace(counts=aiming.counts, pending=gate.pending)
        known = model.observed
        observed = Observed(aiming.counts, known.numbers, known.values, known.errors)
        limit = choice_limit(model, state, observed)
        if limit is None:
            return None
        limits.append(limit)
    return np.asarray(np.max(limits, axis=0))


class _Explained:
    """Why candidates were chosen: the numbers of every quantity, and the words of the first objective."""

    def __init__(self, models: SeveralModels, aiming: Aiming) -> None:
        self._models, self._aiming = models, aiming
        self._alphas = {name: posterior.factor for name, posterior in zip(aiming.known, aiming.posteriors, strict=True)}
        self._predictors = {name: Predictor(model) for name, model in aiming.known.items()}

    def of(self, number: int, occasion: Occasion | None) -> Explanation:
        aiming = self._aiming
        if not aiming.counts.any() or not aiming.objectives:
            return REQUESTED if occasion == "requested" else FIRST_BATCH
        name = aiming.objectives[0].name
        first = Explainer(aiming.known[name], self._predictors[name], self._alphas[name]).explain(number)
        exploration = float(np.mean([self._exploration(objective.name, number) for objective in aiming.objectives]))
        explanation = replace(
            first,
            exploration=exploration,
            quantities={} if len(self._models.quantities) == 1 else self._expectations(number),
            feasible=None if aiming.feasible is None else float(aiming.feasible[number]),
            success=None if aiming.success is None else float(aiming.success[number]),
        )
        words = in_words(exploration, first.nearest) if occasion is None else OCCASIONS[occasion]
        return replace(explanation, words=words + _chances(explanation))

    def _exploration(self, name: str, number: int) -> float:
        """Share of the optimistic value above the average that is owed to uncertainty."""
        state = self._aiming.known[name].state
        width = self._alphas[name] * math.sqrt(float(state.leverage[number]))
        above = max(0.0, float(state.mean[number] - state.mean.mean()))
        return width / (width + above) if width + above > 0 else 1.0

    def _expectations(self, number: int) -> dict[str, Expectation]:
        expectations = {}
        for name, model in self._aiming.known.items():
            width = self._alphas[name] * math.sqrt(float(model.state.leverage[number]))
            predictor = self._predictors[name]
            ucb = float(model.to_user(model.state.mean[number] + width))
            expectations[name] = Expectation(*predictor.expected(number), ucb)
        return expectations


def _chances(explanation: Explanation) -> str:
    words = ""
    if explanation.feasible is not None:
        words += f" It meets the constraints with a chance of {explanation.feasible:.0%}."
    if explanation.success is not None:
        words += f" The measurement succeeds with a chance of {explanation.success:.0%}."
    return words


def _record(models: SeveralModels, aiming: Aiming, batch: Selection) -> BatchRecord:
    """The numbers of the first quantity; the fits of all."""
    known = aiming.known or {"": models.first}
    states = [model.state for model in known.values()]
    fits = {name: fit for name, model in known.items() if (fit := fit_record(model)) is not None}
    single = len(models.quantities) == 1
    is_plain = models.ledger.configuration.is_plain  # a target is not where the model's mean is best
    certificate = Predictor(models.first).certificate() if is_plain else None
    return BatchRecord(
        ended=batch.ended,
        guaranteed=bool(batch.guaranteed and models.ledger.configuration.theory is not None),
        alpha=float(batch.alpha),
        beta=float(beta(states[0])),
        dictionary=max(len(state.S) for state in states),
        effective_dimension=float(max(state.leverage_sum for state in states)),
        ratio_bound=float(batch.ratio_bound) if math.isfinite(batch.ratio_bound) else None,
        regret_bound=certificate.regret_bound if certificate else None,
        degraded=dict(batch.degraded),
        fit=fit_record(models.first) if single else None,
        best=Predictor(models.first).best_predicted() if is_plain else None,
        fits={} if single else fits,
    )
