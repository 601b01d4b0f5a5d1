"""What a model says of candidates in the user's units: intervals, bounds and limits."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri

from app.arrays import Array
from app.domain.studies import Configuration, Direction, Limits, Objective
from app.engine.auto import (
    AutoOptions,
    FeatureColumn,
    Observed,
    Predictive,
    fit,
    learn_encoding,
    state_for,
    value_distribution,
)
from app.modelling.ledger_state import LedgerState
from app.modelling.model import Model
from app.modelling.predicting import Predictor

A = 50


def wave(x: Array) -> Array:
    """A yield of up to 99 %, with noise."""
    return 50 + 49 * np.sin(9 * x) + 0.1 * np.random.default_rng(2).standard_normal(len(x))


def model_of(
    limits: Limits | None = None,
    direction: Direction = Direction.MAXIMIZE,
    n: int = 12,
    f: Callable[[Array], Array] = wave,
) -> Model:
    """A study of f, of which n values are known."""
    rng = np.random.default_rng(1)
    numbers, codes = np.linspace(0, 1, A)[:, None], np.zeros((A, 0), dtype=np.int32)
    encoding = learn_encoding([FeatureColumn("t", "number")], numbers, codes)
    X, measured = encoding.apply(numbers, codes), rng.permutation(A)[:n]
    values = f(numbers[measured, 0])
    observed = Observed.of(A, measured, values)
    fitted = fit(X, encoding.layout, observed, direction.value)
    ledger = LedgerState(
        configuration=Configuration(objectives=(Objective("yield", "%", direction, limits),)),
        candidates=measured.astype("<i4"),
        values=values,
        counted=np.ones(n, dtype=bool),
    )
    model = Model(ledger, encoding, fitted.objective, state_for(X, fitted, observed, AutoOptions(), 0), fitted)
    vars(model)["observed"] = observed  # the ledger has no blocks, so it does not know how long the list is
    return model


@pytest.mark.parametrize("direction", [Direction.MAXIMIZE, Direction.MINIMIZE])
def test_each_interval_is_the_calibrated_one(direction: Direction) -> None:
    model = model_of(direction=direction)
    student = value_distribution(model.state, model.fit, model.observed, AutoOptions())
    said, predictive = Predictor(model).predictions(), Predictive(student)
    ends = [model.objective.to_user(predictive.location + sign * predictive.half_width(0.95)) for sign in (-1, 1)]
    np.testing.assert_allclose(said.lower, np.minimum(*ends))
    np.testing.assert_allclose(said.upper, np.maximum(*ends))


@pytest.mark.parametrize("direction", [Direction.MAXIMIZE, Direction.MINIMIZE])
def test_the_certificate_of_auto_mode_holds_for_all_candidates_at_once(direction: Direction) -> None:
    model = model_of(direction=direction)
    sure, state = Predictor(model).certificate(), model.state
    z = -float(ndtri(0.05 / (2 * A)))
    highest = float((state.mean + z * np.sqrt(state.variance)).max())
    lowest = float(state.mean[sure.recommended] - z * np.sqrt(state.variance[sure.recommended]))
    assert sure.regret_bound == pytest.approx(abs(np.diff(model.objective.to_user([lowest, highest]))[0]))


@pytest.mark.parametrize("limits", [None, Limits(0.0, 95.0)], ids=["free", "limited"])
@pytest.mark.parametrize("direction", [Direction.MAXIMIZE, Direction.MINIMIZE])
def test_one_candidate_is_told_as_among_all_to_the_bit(direction: Direction, limits: Limits | None) -> None:
    predictor = Predictor(model_of(limits, direction))
    said = predictor.predictions()
    told = [predictor.expected(candidate) for candidate in range(A)]
    assert told == list(zip(said.mean.tolist(), said.std.tolist(), strict=True))
    sure = predictor.certificate()
    lower, upper = predictor._bounds
    assert (sure.lower, sure.upper) == (float(lower[sure.recommended]), float(upper[sure.recommended]))


@pytest.mark.parametrize("direction", [Direction.MAXIMIZE, Direction.MINIMIZE])
def test_nothing_is_predicted_beyond_the_limits_of_the_objective(direction: Direction) -> None:
    free, cut = model_of(direction=direction), model_of(Limits(0.0, 100.0), direction)
    without, within = Predictor(free), Predictor(cut)
    for name in ("mean", "lower", "upper"):
        said, limited = without.predictions().columns()[name], within.predictions().columns()[name]
        np.testing.assert_allclose(limited, np.clip(said, 0, 100))
    assert without.predictions().upper.max() > 100
    assert within.certificate().regret_bound <= 100
    assert within.certificate().regret_bound < without.certificate().regret_bound


def test_a_limit_may_be_on_one_side() -> None:
    said = Predictor(model_of(Limits(low=0.0))).predictions()
    assert said.lower.min() == 0
    assert said.upper.max() > 100
    unlimited = replace(model_of().ledger.configuration.objective, limits=Limits())
    assert unlimited.limits == Limits(None, None)
