"""Main effects of numbers: the same kernel as the engine's, the right gradient, and only where they pay."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.auto import FeatureColumn, Layout, Observed, fit, learn_encoding
from app.engine.auto.kernel_forms import form_for
from app.engine.auto.number_effects import FEWEST, LONGEST, MOST, NumberEffects, form_with_main_effects

RNG = np.random.default_rng(0)


def mixed() -> tuple[np.ndarray, Layout]:
    """Three columns of numbers and a text of four levels."""
    columns = (FeatureColumn("solvent", "text", tuple("abcd")), *(FeatureColumn(name, "number") for name in "xyz"))
    codes = RNG.integers(0, 4, (30, 1)).astype(np.int32)
    encoding = learn_encoding(columns, RNG.random((30, 3)), codes)
    return encoding.apply(RNG.random((30, 3)), codes), encoding.layout


TABLES = [(RNG.random((30, 4)), Layout.of_numbers(4)), mixed()]


@pytest.mark.parametrize(("X", "layout"), TABLES, ids=["numbers", "numbers and a text"])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_the_form_is_the_kernel_and_its_pull_back_the_gradient(X: np.ndarray, layout: Layout, seed: int) -> None:
    name, form = form_with_main_effects(layout, len(X))
    rng = np.random.default_rng(seed)
    theta, W = rng.normal(0, 0.7, len(form.priors)), rng.normal(0, 1, (len(X), len(X)))
    evaluate, step = form.on(X), 1e-5
    K, pull_back = evaluate(theta)
    assert name.endswith("numbers")
    np.testing.assert_allclose(K, form.kernel(theta).matrix(X, X), atol=1e-12)
    np.testing.assert_allclose(K.diagonal(), 1.0)
    for q, gradient in enumerate(pull_back(W)):
        ahead, behind = (evaluate(theta + sign * step * np.eye(len(theta))[q])[0] for sign in (1, -1))
        assert gradient == pytest.approx(np.vdot(W, ahead - behind) / (2 * step), rel=1e-4, abs=1e-5)


def test_main_effects_need_a_few_numbers_and_a_list_that_is_not_too_long() -> None:
    for count, candidates in ((FEWEST - 1, 100), (MOST + 1, 100), (FEWEST, LONGEST + 1)):
        layout = Layout.of_numbers(count)
        assert form_with_main_effects(layout, candidates) == form_for(layout)
    assert isinstance(form_with_main_effects(Layout.of_numbers(MOST), LONGEST)[1], NumberEffects)
    bits = Layout(("bit",) * 64 + ("number",) * 3, tuple(range(67)))
    assert form_with_main_effects(bits, 100) == form_for(bits)


def share_of_main_effects(values: np.ndarray, X: np.ndarray) -> float:
    model = fit(X, Layout.of_numbers(X.shape[1]), Observed.of(len(X), np.arange(len(X)), values), "maximize")
    assert model.form == "matern + numbers"
    return float(1 / (1 + np.exp(-model.theta[0])))


def test_the_weight_of_main_effects_is_learnt() -> None:
    X = np.random.default_rng(1).random((60, 5))
    apart, together = np.sin(6 * X).sum(axis=1), np.sin(12 * X.sum(axis=1))
    assert share_of_main_effects(apart, X) > 0.6
    assert share_of_main_effects(together, X) < 0.4


def test_the_lengthscales_of_a_fit_are_still_those_of_its_columns() -> None:
    X, layout = mixed()
    observed = Observed.of(30, np.arange(20), np.sin(9 * X[:20, -1]))
    model = fit(X, layout, observed, "maximize")
    scales = model.lengthscales(layout)
    assert set(scales) == set(range(X.shape[1]))
    assert min(scales, key=scales.__getitem__) == X.shape[1] - 1
