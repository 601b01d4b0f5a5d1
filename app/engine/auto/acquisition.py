"""From a fit to choices: what is asked of the engine."""

import math

from app.arrays import FloatArray, IndexArray
from app.engine.ask import Ask, Choose, Selection
from app.engine.auto.error_bars import weights_of
from app.engine.auto.fitting import FittedModel
from app.engine.auto.observed import Observed, error_variances
from app.engine.auto.options import AutoOptions
from app.engine.auto.replication import repeat_for
from app.engine.auto.space_filling import choose_after, fill_cells_then_choose
from app.engine.lifecycle import start_from
from app.engine.settings import EngineSettings
from app.engine.state import State


def settings_for(fit: FittedModel, options: AutoOptions, seed: int, candidates: int) -> EngineSettings:
    """The engine's settings for that many candidates: exact while that is affordable, a greedy dictionary beyond.

    ξ is the fitted noise and F the norm of the fitted mean, at least 1: a certificate made with them is an estimate.
    """
    return EngineSettings(
        kernel=fit.kernel,
        lam=fit.lam,
        xi=math.sqrt(fit.lam),
        F=max(1.0, fit.norm),
        threshold=options.threshold,
        rule="global",
        dictionary="all" if options.exact_for(candidates, fit.distinct) else "greedy",
        members=options.members_for(candidates),
        hallucination="full",
        seed=seed,
    )


def state_for(
    X: FloatArray, fit: FittedModel, observed: Observed, options: AutoOptions, seed: int, step: int = 1
) -> State:
    """The engine's state for all measurements so far."""
    settings = settings_for(fit, options, seed, len(X))
    return start_from(X, settings, *sums_for(fit, observed), step, weights_for(fit, observed))


def sums_for(fit: FittedModel, observed: Observed) -> tuple[IndexArray, FloatArray]:
    """counts and sums (A,) in model units, for `start_from`; the sums are weighted as `weights_for` says."""
    values = fit.objective.to_model(observed.values)
    if observed.errors is not None:
        values = values * weights_of(fit.lam, error_variances(observed, fit.objective))
    return observed.counts, observed.sums(values)


def weights_for(fit: FittedModel, observed: Observed) -> FloatArray | None:
    """(A,) how many measurements without a standard error those of each candidate count as; None if none has one."""
    if observed.errors is None:
        return None
    return observed.sums(weights_of(fit.lam, error_variances(observed, fit.objective)))


def alpha_for(fit: FittedModel, options: AutoOptions) -> float:
    """`Ask.alpha`: the multiplier in posterior standard deviations, √variance = √λ·√leverage."""
    return options.multiplier * math.sqrt(fit.lam)


def next_batch(
    choose: Choose, state: State, observed: Observed, options: AutoOptions, ask: Ask, cells: int, seed: int
) -> Selection:
    """A candidate to measure again if that is due, then the middles of unseen cells, then what `choose` chooses."""

    def fill(after_repeat: State, rest: Ask) -> Selection:
        return fill_cells_then_choose(choose, after_repeat, rest, cells, seed)

    if ask.chosen_before:  # a batch repeats one candidate at most
        return fill(state, ask)
    again, reason = repeat_for(state, observed, options)
    return choose_after(again, reason, fill, state, ask) if len(again) else fill(state, ask)
