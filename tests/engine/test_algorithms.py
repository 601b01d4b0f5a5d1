"""The algorithms by name: the same parts, against independent loops."""

import pytest

from app.engine import ALGORITHMS, Ask, algorithm_named, choose, design, start
from tests.engine import oracle_runs
from tests.engine.problems import Lab, lab


def configured(name: str, made: Lab) -> Lab:
    return Lab(made.X, made.f, made.noise, algorithm_named(name).settings(made.settings))


@pytest.mark.parametrize("seed", range(3))
def test_exact_dictionary_and_product_rule_are_gp_bucb(seed: int) -> None:
    made = configured("gp-bucb", lab(seed, lam=1.0))
    assert made.run([0, 1], 60)[1] == oracle_runs.gp_bucb(made.oracle(), [0, 1], 60)


@pytest.mark.parametrize("seed", range(3))
def test_sampled_dictionary_and_sequential_rule_are_bkb(seed: int) -> None:
    made = configured("bkb", lab(seed))
    batches = made.run([0, 1], 60)[1]
    assert [number for batch in batches for number in batch] == oracle_runs.bkb(made.oracle(), [0, 1], 60)


@pytest.mark.parametrize("seed", range(3))
def test_exact_dictionary_and_sequential_rule_are_gp_ucb(seed: int) -> None:
    made = configured("gp-ucb", lab(seed))
    expected = oracle_runs.algorithm_1(made.oracle(), "sequential", [0, 1], 40)
    assert made.run([0, 1], 40)[1] == expected.batches


def test_the_improved_rule_never_makes_smaller_batches_than_the_product() -> None:
    """Π_s (1 + leverage_{s−1}(x_s)) = det(I + C) ≥ 1 + tr C = 1 + Σ_s leverage_fb(x_s), C ⪰ 0 the covariance at fb.

    They are equal when one candidate is chosen all the time, so some of these batches must differ and some need not.
    """
    gains = []
    for seed in range(5):
        state, _ = configured("gp-bucb", lab(seed, lam=2.0)).run([0, 1], 60)
        improved = state.replace(settings=algorithm_named("gp-bucb-global").settings(state.settings))
        product, longer = (choose(rules, Ask(alpha=1.0)).picks.tolist() for rules in (state, improved))
        assert longer[: len(product)] == product
        gains.append(len(longer) - len(product))
    assert max(gains) > 0


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_runs_by_name(name: str) -> None:
    made = configured(name, lab(dictionary="sampled"))
    batch = algorithm_named(name).choose(made.begin([0, 1, 2]), Ask(min_size=1, max_size=4))
    assert 1 <= len(batch.picks) <= 4


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="bbkb-exact"):
        algorithm_named("botorch")


def test_the_uncertainty_design_stops_when_no_leverage_exceeds_1_over_p() -> None:
    made = lab(A=60, lam=1.0, dictionary="all")
    state = start(made.X, made.settings)
    first = design(state, Ask(), parallelism=4)
    assert first.ended == "rule"
    measured = made.begin(first.picks.tolist())
    assert measured.leverage.max() <= 1 / 4 + 1e-9
    assert made.begin(first.picks[:-1].tolist()).leverage.max() > 1 / 4
    assert len(choose(measured).picks) >= 4


def test_the_uncertainty_design_takes_the_highest_leverage_each_time() -> None:
    made = lab(A=60, dictionary="all")
    first = design(start(made.X, made.settings), Ask(max_size=8))
    for step in range(1, 8):
        leverage = made.begin(first.picks[:step].tolist()).leverage
        assert leverage[first.picks[step]] == pytest.approx(leverage.max(), rel=1e-6)
        assert first.ucb[step] ** 2 == pytest.approx(leverage.max(), rel=1e-6)
