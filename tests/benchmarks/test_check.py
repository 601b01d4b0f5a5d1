"""The check of the benchmarks on a small generated problem."""

import pytest

from app.engine.settings import RuleName
from benchmarks.check import Check, check
from benchmarks.datasets import generated
from benchmarks.experiment import Experiment


@pytest.mark.parametrize("rule", ["global", "local", "product", "sequential"])
def test_naive_literal_and_engine_choose_the_same_candidates(rule: RuleName) -> None:
    result = check(Experiment.of_the_paper(generated(60, 3), rule, horizon=100, exploration=1.0, seed=1))
    assert result.first_difference() is None
    assert result.agrees


def test_a_difference_is_found_where_it_is() -> None:
    assert Check([[1], [2]], [[1], [2]], [[1], [3]]).first_difference() == 1
    assert Check([[1], [2]], [[1], [2]], [[1]]).first_difference() == 1
