"""Diagnostics in the user's units, with the names of columns."""

from dataclasses import replace

import numpy as np
import pytest

from app.domain.candidates import Column
from app.domain.diagnoses import Diagnoses
from app.domain.studies import Configuration, Limits, Objective
from app.engine.auto import AutoOptions, FeatureColumn, Observed, fit, learn_encoding, state_for
from app.modelling.diagnosing import diagnose
from app.modelling.ledger_state import LedgerState
from app.modelling.model import Model

COLUMNS = (
    Column("pressure", "number", "feature"),
    Column("batch note", "text", "attribute"),
    Column("base", "text", "feature", ("KOAc", "KOPiv", "CsOAc")),
)


def model_of(wrong: int | None = None) -> Model:
    """A yield that rises with the logarithm of the pressure and depends on the base; one value may be mistyped."""
    rng, A, n = np.random.default_rng(0), 60, 40
    numbers = np.geomspace(1, 1000, A)[:, None]
    codes = rng.integers(0, 3, (A, 1)).astype(np.int32)
    features = [FeatureColumn("pressure", "number"), FeatureColumn("base", "text", COLUMNS[2].levels)]
    encoding = learn_encoding(features, numbers, codes)
    X, measured = encoding.apply(numbers, codes), rng.permutation(A)[:n]
    values = 10 * np.log10(numbers[measured, 0]) + 5 * codes[measured, 0] + 0.1 * rng.standard_normal(n)
    if wrong is not None:
        values[wrong] += 40
    observed = Observed.of(A, measured, values)
    fitted = fit(X, encoding.layout, observed, "maximize")
    ledger = LedgerState(
        configuration=Configuration(),
        columns=COLUMNS,
        candidates=measured.astype("<i4"),
        values=values,
        counted=np.ones(n, dtype=bool),
    )
    model = Model(ledger, encoding, fitted.objective, state_for(X, fitted, observed, AutoOptions(), 0), fitted)
    vars(model)["observed"] = observed  # the ledger has no blocks, so it does not know how long the list is
    return model


def test_a_mistyped_value_is_an_outlier_and_a_clean_study_has_none() -> None:
    clean, model = diagnose(model_of(), 0), model_of(wrong=7)
    assert clean.outliers == ()
    found = diagnose(model, 0).outliers
    assert found[0].candidate == model.ledger.candidates[7]
    assert found[0].deviations > 4


def test_every_measured_candidate_is_left_out_once() -> None:
    model = model_of()
    left_out = diagnose(model, 0).left_out
    assert sorted(one.candidate for one in left_out) == sorted(model.ledger.candidates.tolist())
    values = dict(zip(model.ledger.candidates.tolist(), model.ledger.values.tolist(), strict=True))
    for one in left_out:
        assert one.observed == pytest.approx(values[one.candidate])
        assert one.lower <= one.predicted <= one.upper


def test_what_is_predicted_stays_within_the_limits_and_what_was_measured_is_shown_as_it_is() -> None:
    model = model_of(wrong=7)
    limited = Objective("yield", limits=Limits(low=0.0, high=35.0))
    configuration = replace(model.ledger.configuration, objectives=(limited,))
    vars(model)["ledger"] = replace(model.ledger, configuration=configuration)
    left_out = diagnose(model, 0).left_out
    assert min(one.lower for one in left_out) == 0.0
    assert max(one.upper for one in left_out) == max(one.predicted for one in left_out) == 35.0
    assert max(one.observed for one in left_out) > 35.0


def test_a_calibration_curve_rises() -> None:
    curve = diagnose(model_of(), 0).calibration
    assert [point.says for point in curve] == sorted(point.says for point in curve)
    assert (np.diff([point.covers for point in curve]) >= 0).all()


def test_columns_have_their_names_and_slices_their_own_units() -> None:
    model = model_of()
    pressure, base = diagnose(model, recommended=3).columns
    assert (pressure.name, base.name) == ("pressure", "base"), "the most important first"
    assert pressure.lengthscales.keys() == {"pressure"}
    assert base.lengthscales.keys() == {"KOAc", "KOPiv", "CsOAc"}
    assert [point.value for point in base.slice] == ["KOAc", "KOPiv", "CsOAc"]
    assert pressure.slice[0].value == pytest.approx(1)
    assert pressure.slice[-1].value == pytest.approx(1000)
    means = [point.mean for point in pressure.slice]
    assert means[-1] - means[0] == pytest.approx(30, abs=6)
    assert all(point.lower <= point.mean <= point.upper for point in (*pressure.slice, *base.slice))


def test_in_theory_mode_there_is_nothing_to_diagnose() -> None:
    assert diagnose(replace(model_of(), fit=None), 0) == Diagnoses()
