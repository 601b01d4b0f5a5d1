"""The fit: deterministic, bounded, at a maximum, and at home in degenerate inputs."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.arrays import FloatArray
from app.engine import start_from
from app.engine.auto import AutoOptions, FittedModel, Layout, Observed, fit, needs_refit, settings_for, sums_for
from app.engine.auto.fitting import SETTLED
from app.engine.auto.observed import MOST_DISTINCT, grouped
from tests.engine.auto.strategies import values


def smooth(X: FloatArray) -> FloatArray:
    """A function of the first column alone."""
    return np.sin(5 * X[:, 0])


def study(n: int, d: int = 3, A: int = 60, seed: int = 0) -> tuple[FloatArray, Observed]:
    """n measurements of a smooth function over A candidates, all distinct while n ≤ A."""
    rng = np.random.default_rng(seed)
    X = rng.random((A, d))
    numbers = rng.permutation(np.arange(max(A, n)) % A)[:n]
    return X, Observed.of(A, numbers, smooth(X)[numbers])


def fitted(n: int = 30, **shape: int) -> FittedModel:
    X, observed = study(n, **shape)
    return fit(X, Layout.of_numbers(X.shape[1]), observed, "maximize")


def test_a_fit_is_the_same_to_the_last_bit_when_made_again() -> None:
    assert fitted() == fitted()


def test_a_fit_survives_json() -> None:
    assert FittedModel.build(json.loads(json.dumps(fitted().describe()))) == fitted()


def test_the_column_that_matters_gets_the_shortest_lengthscale() -> None:
    lengthscale = np.array(list(fitted(40).lengthscales(Layout.of_numbers(3)).values()))
    assert lengthscale.argmin() == 0
    assert lengthscale[0] < 0.5 * lengthscale[1:].min()


def test_a_warm_start_is_never_worse_than_a_cold_one() -> None:
    X, observed = study(40)
    layout = Layout.of_numbers(3)
    cold = fit(X, layout, observed, "maximize")
    warm = fit(X, layout, observed, "maximize", previous=fitted(SETTLED - 1))
    assert warm.log_evidence >= cold.log_evidence - 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_a_settled_fit_goes_on_from_its_optimum_and_ends_as_high(seed: int) -> None:
    X, observed = study(40, seed=seed)
    layout = Layout.of_numbers(3)
    cold = fit(X, layout, observed, "maximize")
    settled = fit(X, layout, observed, "maximize", previous=fitted(SETTLED, seed=seed))
    assert settled.log_evidence == pytest.approx(cold.log_evidence, abs=1e-3)


def test_a_previous_fit_of_another_table_is_ignored() -> None:
    X, observed = study(20)
    layout = Layout.of_numbers(3)
    assert fit(X, layout, observed, "maximize", fitted(d=2)) == fit(X, layout, observed, "maximize")


def test_noise_is_recognised_from_repeats() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((30, 2))
    numbers = np.repeat(np.arange(30), 4)
    y = 3 * smooth(X)[numbers] + rng.normal(scale=0.6, size=120)
    model = fit(X, Layout.of_numbers(2), Observed.of(30, numbers, y), "maximize")
    assert model.objective.std_to_user(0.0, np.sqrt(model.lam)) == pytest.approx(0.6, rel=0.25)


def test_minimising_is_maximising_the_negative() -> None:
    X, observed = study(25)
    turned = Observed(observed.counts, observed.numbers, -observed.values)
    up = fit(X, Layout.of_numbers(3), observed, "maximize")
    down = fit(X, Layout.of_numbers(3), turned, "minimize")
    assert down.theta == pytest.approx(up.theta)
    np.testing.assert_allclose(sums_for(down, turned)[1], sums_for(up, observed)[1], atol=1e-9)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 9).flatmap(values), st.integers(1, 4), st.integers(0, 99))
def test_whatever_was_measured_the_posterior_is_finite(y: FloatArray, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (6, d)) / 2
    observed = Observed.of(6, rng.integers(0, 6, len(y)), y)
    model = fit(X, Layout.of_numbers(d), observed, "minimize")
    state = start_from(X, settings_for(model, AutoOptions(), seed, len(X)), *sums_for(model, observed))
    assert np.isfinite(model.theta).all()
    assert model.lam * (1 + 1e-9) >= 1e-4
    assert model.lam <= 2 * (1 + 1e-9)
    for seen in (model.objective.to_user(state.mean), model.objective.std_to_user(state.mean, state.variance**0.5)):
        assert np.isfinite(seen).all()


@pytest.mark.parametrize("d", [1, 130])
def test_one_candidate_measured_once_is_enough(d: int) -> None:
    model = fit(np.zeros((1, d)), Layout.of_numbers(d), Observed.of(1, [0], [3.0]), "maximize")
    assert model.objective.to_user(0.0) == pytest.approx(3.0)


def test_rows_that_are_all_equal_teach_the_noise_alone() -> None:
    rng = np.random.default_rng(0)
    model = fit(np.ones((50, 2)), Layout.of_numbers(2), Observed.of(50, np.arange(50), rng.normal(size=50)), "maximize")
    assert model.lam > 0.5


def test_a_fingerprint_is_compared_by_tanimoto_and_times_what_else_there_is() -> None:
    rng = np.random.default_rng(0)
    X = np.hstack((rng.integers(0, 2, (40, 512)).astype(float), rng.random((40, 2))))
    observed = Observed.of(40, np.arange(20), rng.normal(size=20))
    bits, both = Layout(("bit",) * 512, tuple(range(512))), Layout(("bit",) * 512 + ("number",) * 2, tuple(range(514)))
    assert fit(X[:, :512], bits, observed, "maximize").kernel.describe()["part"]["kind"] == "tanimoto"
    assert [part["kind"] for part in fit(X, both, observed, "maximize").kernel.describe()["parts"]] == [
        "scaled",
        "columns",
    ]


def test_no_measurement_is_no_fit() -> None:
    with pytest.raises(ValueError, match="at least one"):
        fit(np.zeros((2, 1)), Layout.of_numbers(1), Observed.of(2, [], []), "maximize")


def test_a_long_history_is_read_through_a_subsample() -> None:
    X, observed = study(5000, A=5000)
    y = grouped(X, observed, fitted().objective)
    assert len(y.means) == MOST_DISTINCT
    model = fit(X, Layout.of_numbers(3), observed, "maximize")
    assert settings_for(model, AutoOptions(), 0, 10**6).dictionary == "greedy"
    assert settings_for(fitted(), AutoOptions(), 0, 10**6).dictionary == "all"


def test_the_model_is_fitted_every_time_while_cheap_and_then_by_growth() -> None:
    small, large = fitted(30), fitted(200, A=200)
    grown = {n: Observed.of(300, np.arange(n), np.zeros(n)) for n in (29, 30, 31, 200, 219, 220)}
    assert [needs_refit(small, grown[n]) for n in (29, 30, 31)] == [True, False, True]
    assert [needs_refit(large, grown[n]) for n in (200, 219, 220)] == [False, False, True]
