"""The oracle agrees with itself and with the lemmas, so that it can be trusted against the engine."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.kernels import Gaussian
from tests.engine import oracle
from tests.engine.oracle import Array
from tests.engine.oracle_runs import Problem, Run, algorithm_1, bkb, continues, gp_bucb

A = 12
seeds = st.integers(0, 10_000)


def kernel_matrix(seed: int) -> Array:
    X = np.random.default_rng(seed).uniform(-1, 1, size=(A, 2))
    return Gaussian(0.6).matrix(X, X)


def some(seed: int, size: int) -> list[int]:
    return [int(x) for x in np.random.default_rng(seed).integers(0, A, size=size)]


def problem(seed: int, *, sampled: bool = True, threshold: float = 2.0) -> Problem:
    rng = np.random.default_rng(seed)
    K = kernel_matrix(seed)
    f = K[:, :3] @ rng.normal(size=3)
    noise = rng.normal(scale=0.1, size=200)

    def draw(step: int, measured: list[int], chances: Array) -> Sequence[bool]:
        chosen: list[bool] = (np.random.default_rng([seed, step]).random(len(measured)) < chances).tolist()
        return chosen

    return Problem(
        K, lambda x, t: float(f[x] + noise[t]), draw if sampled else None, lam=0.1, q_bar=1.0, threshold=threshold
    )


@given(seeds)
def test_the_nystrom_posterior_with_everything_measured_in_the_dictionary_is_the_exact_one(seed: int) -> None:
    K, rows = kernel_matrix(seed), some(seed, 9)
    y = np.random.default_rng(seed).normal(size=9).tolist()
    exact = oracle.exact_posterior(K, rows, y, 0.1)
    nystrom = oracle.nystrom_posterior(K, sorted(set(rows)), rows, y, 0.1)
    np.testing.assert_allclose(nystrom.mean, exact.mean, atol=1e-7)
    np.testing.assert_allclose(nystrom.cov, exact.cov, atol=1e-6)


@given(seeds)
def test_effective_dimension_is_the_sum_of_the_leverages_of_the_measured(seed: int) -> None:
    K, rows = kernel_matrix(seed), some(seed, 9)
    leverage = oracle.exact_posterior(K, rows, np.zeros(9), 0.1).leverage
    assert oracle.effective_dimension(K, rows, 0.1) == pytest.approx(sum(leverage[x] for x in rows), rel=1e-8)


@given(seeds)
def test_log_determinant_is_the_sum_of_logs_of_one_plus_leverage_before_each_step(seed: int) -> None:
    K, rows = kernel_matrix(seed), some(seed, 9)
    steps = [oracle.exact_posterior(K, rows[:s], np.zeros(s), 0.1).leverage[x] for s, x in enumerate(rows)]
    assert oracle.log_determinant(K, rows, 0.1) == pytest.approx(np.sum(np.log1p(steps)), rel=1e-8)


@given(seeds, st.integers(1, 4))
def test_lemmas_1_and_3_bound_the_true_ratios_in_order(seed: int, size: int) -> None:
    K, rows, batch = kernel_matrix(seed), some(seed, 8), some(seed + 1, size)
    S = sorted(set(rows[:4]))
    true = np.maximum(oracle.projected_ratio(K, S, rows, batch, 0.1), oracle.unprojected_ratio(K, S, rows, batch, 0.1))
    local = oracle.local_bound(K, S, rows, batch, 0.1)
    upper = oracle.global_bound(oracle.nystrom_leverage(K, S, rows, 0.1), batch)
    assert (true <= local * (1 + 1e-9)).all()
    assert (local <= upper * (1 + 1e-9)).all()


@given(seeds, st.integers(1, 4))
def test_proposition_1_bounds_the_exact_ratio(seed: int, size: int) -> None:
    K, rows, batch = kernel_matrix(seed), some(seed, 8), some(seed + 1, size)
    everything = sorted({*rows, *batch})
    assert oracle.exact_ratio(K, rows, batch, 0.1).max() <= oracle.product_bound(K, everything, rows, batch, 0.1) * (
        1 + 1e-9
    )


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_gp_bucb_is_algorithm_1_with_everything_in_the_dictionary_and_the_product_rule(seed: int) -> None:
    task = problem(seed, sampled=False)
    assert algorithm_1(task, "product", [0, 5], 25).batches == gp_bucb(task, [0, 5], 25)


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_bkb_is_algorithm_1_one_at_a_time(seed: int) -> None:
    task = problem(seed, threshold=1.0)
    assert algorithm_1(task, "sequential", [0, 5], 20).rows == bkb(task, [0, 5], 20)


@pytest.mark.parametrize("rule", ["global", "local", "exact", "product"])
def test_threshold_1_gives_batches_of_one(rule: str) -> None:
    run = algorithm_1(problem(3, threshold=1.0), rule, [0], 12)
    assert all(len(batch) == 1 for batch in run.batches)


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_what_global_allows_local_allows_and_what_local_allows_exact_allows(seed: int) -> None:
    task, rows = problem(seed), some(seed, 20)
    run = Run(rows=rows, S=sorted(set(rows[:8])))
    for size in range(1, 8):
        allowed = [continues(task, run, rule, some(seed + 1, size)) for rule in ("global", "local", "exact")]
        assert allowed == sorted(allowed)


def test_beta_grows_with_information_and_starts_at_its_constant() -> None:
    assert oracle.beta([], 4.0, 0.0, 0.1, 1.0) == pytest.approx(2 * (1 + np.sqrt(2)))
    assert oracle.beta([1.0], 4.0, 0.5, 0.1, 1.0) == pytest.approx(np.sqrt(np.log(4 / 0.1)) + 2 * (1 + np.sqrt(2)))
