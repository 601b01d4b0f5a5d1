"""What is left to gain, and whether to go on: by joint draws of the candidates' values from the fitted model, and by
how far its earlier promises came true."""

from dataclasses import dataclass

import numpy as np

from app.domain.predictions import Advice, NextBatch, Outlook, RemainingGain, difference_in_words, share_in_words
from app.domain.studies import Direction, Limits
from app.engine.auto import (
    FittedModel,
    Gains,
    contenders,
    corrected_share,
    draw_jointly,
    gains_over,
    is_constant,
    is_noisy,
    leave_one_out,
    still_possible,
    track_record,
    value_distribution,
)
from app.modelling.drafting import choose_batch, default_size
from app.modelling.engine_settings import auto_options
from app.modelling.model import Model

CONFIDENCE = 0.95
FEWEST_RESULTS = 20
"""Before this many results, the model is too young to advise stopping: its bounds then fail too often."""

FEWEST_CANDIDATES = 5
"""Measured candidates before anything is said: with fewer, the fitted spread is hardly more than a guess."""

NEGLIGIBLE = 0.05
"""Less than this share of the range of the results is not worth looking for, unless the study states its own bound."""

TOO_FEW = "What is left to gain is estimated once five candidates are measured."
UNSKILLED = (
    "The model would stop, but it predicts your results no better than their mean does, so it cannot be relied on yet."
)
SHORT_LIST = "What is left to gain is estimated once all candidates are measured."
ALL_EQUAL = "What is left to gain can be estimated once results differ; so far all are equal."


def outlook_of(model: Model, recommended: int) -> Outlook | None:
    """What is left to gain over the recommended candidate, and advice; None in theory mode and before any result."""
    if model.fit is None:
        return None
    if _is_complete(model) or (model.observed.distinct >= FEWEST_CANDIDATES and not is_constant(model.observed.values)):
        return _estimated(model, model.fit, recommended)
    return _unknown(model)


def _is_complete(model: Model) -> bool:
    """Whether every available candidate is measured, so that nothing depends on predictions of others."""
    return not (model.state.available & (model.state.counts == 0)).any()


def _unknown(model: Model) -> Outlook:
    """Advice while the results tell nothing of what is left to gain."""
    unknown, why = ALL_EQUAL, "All results are equal, so the next batch goes where least is known."
    if model.observed.distinct < FEWEST_CANDIDATES:
        unknown, why = TOO_FEW, "Too few candidates are measured to tell good ones from bad."
        if np.count_nonzero(model.state.available | (model.state.counts > 0)) < FEWEST_CANDIDATES:
            unknown = SHORT_LIST
    pending = int(model.state.pending.sum())
    if pending:
        return Outlook(Advice("wait for results", _waiting(pending)), unknown=unknown)
    return Outlook(Advice("ask", why), unknown=unknown)


def _estimated(model: Model, fitted: FittedModel, recommended: int) -> Outlook:
    state, options = model.state, auto_options(model.ledger.configuration)
    student = value_distribution(state, fitted, model.observed, options)
    picks = np.unique(choose_batch(model, default_size(model.ledger.configuration)).selection.picks)
    numbers = contenders(state, student, np.append(picks, recommended))
    seed = model.ledger.configuration.seed
    draws = draw_jointly(state, student, numbers, seed, model.observed.size)
    values = model.objective.sign * model.to_user(draws.values)  # higher is better in either direction
    row = int(np.searchsorted(numbers, recommended))
    record = track_record(state.X, fitted, model.observed, options)
    room = _room(model, recommended)
    gains = Gains.of(np.minimum(gains_over(values, np.arange(len(numbers)), row), room), record)
    of_batch = Gains.of(np.minimum(gains_over(values, np.searchsorted(numbers, picks), row), room), record)
    measured = state.counts[numbers[values.argmax(axis=0)]] > 0
    possible = still_possible(state, student, recommended, gains.chance, 1 - CONFIDENCE)
    upper = gains.quantile(CONFIDENCE)
    remaining = RemainingGain(gains.expected_up_to(upper), upper)
    next_batch = NextBatch(of_batch.chance, of_batch.expected_up_to(upper))
    return Outlook(
        remaining_gain=remaining,
        chance_best_is_measured=corrected_share(measured, record),
        next_batch=next_batch,
        candidates_still_possible=len(possible),
        advice=advice(Standing.of(model, fitted, len(picks)), remaining, next_batch),
    )


def _room(model: Model, recommended: int) -> float:
    """How far the recommended candidate's average is from the limit ahead; infinite if there is none, or if results
    are noisy and its true value may be worse than that."""
    objective = model.ledger.configuration.objective
    limits = objective.limits or Limits()
    limit = limits.low if objective.direction is Direction.MINIMIZE else limits.high
    averages = model.observed.values[model.observed.numbers == recommended]
    if limit is None or not len(averages) or is_noisy(model.observed, auto_options(model.ledger.configuration)):
        return np.inf
    return max(0.0, model.objective.sign * (limit - float(averages.mean())))


@dataclass(frozen=True)
class Standing:
    """What advice depends on besides the outlook."""

    results: int
    pending: int
    choices: int  # in the next batch
    tolerance: float  # gains up to this are negligible
    stated: bool  # the study states the tolerance
    unit: str
    skill: float = 1.0  # of predicting results from the others, where that matters; 0 is no better than their mean

    @classmethod
    def of(cls, model: Model, fitted: FittedModel, choices: int) -> "Standing":
        stop, unit = model.ledger.configuration.stop, model.ledger.configuration.objective.unit
        width = float(np.ptp(model.observed.values / 2)) * 2
        left_out = None if _is_complete(model) else leave_one_out(model.state.X, fitted, model.observed)
        return cls(
            results=model.observed.size,
            pending=int(model.state.pending.sum()),
            choices=choices,
            tolerance=NEGLIGIBLE * width if stop.regret_bound is None else stop.regret_bound,
            stated=stop.regret_bound is not None,
            unit=unit,
            skill=1.0 if left_out is None else left_out.skill,
        )


def advice(standing: Standing, remaining: RemainingGain, next_batch: NextBatch) -> Advice:
    """Whether to ask for more, to wait for what is being measured, or to stop."""
    enough = standing.results >= FEWEST_RESULTS
    if standing.choices == 0 and standing.pending == 0:
        return Advice("stop", "Every available candidate has been measured.")
    negligible = enough and remaining.upper <= standing.tolerance
    if negligible and standing.skill > 0:
        return _stop(standing, remaining.upper)
    if standing.pending and standing.pending >= standing.choices:
        return Advice("wait for results", _waiting(standing.pending))
    if negligible:
        return Advice("ask", UNSKILLED)
    gain = difference_in_words(next_batch.gain, standing.unit)
    chance = share_in_words(next_batch.chance)
    promise = f"The next batch holds a better candidate with a chance of {chance} (expected gain {gain})."
    if enough:
        return Advice("ask", promise)
    return Advice("ask", f"{promise} Stopping is not advised before {FEWEST_RESULTS} results.")


def _stop(standing: Standing, upper: float) -> Advice:
    waiting = f" {_results(standing.pending)} still pending." if standing.pending else ""
    if upper <= 0:
        return Advice("stop", f"With 95 % probability nothing is left to gain.{waiting}")
    left = difference_in_words(upper, standing.unit)
    return Advice("stop", f"With 95 % probability at most {left} are left to gain. {_threshold(standing)}{waiting}")


def _threshold(standing: Standing) -> str:
    """Which gain is too small to look for, and why."""
    tolerated = difference_in_words(standing.tolerance, standing.unit)
    if standing.stated:
        return f"That is within the {tolerated} you stated."
    share = f"{NEGLIGIBLE * 100:.0f} % of the range of the results"
    return f"That is less than {tolerated}, {share}, and hardly worth another batch."


def _waiting(pending: int) -> str:
    return f"{_results(pending)} pending, and the next choices depend on {'it' if pending == 1 else 'them'}."


def _results(count: int) -> str:
    return "1 result is" if count == 1 else f"{count} results are"
