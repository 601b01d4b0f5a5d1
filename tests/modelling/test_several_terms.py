"""Terms of a study with several objectives: judged by all of them."""

import numpy as np
import pytest

from app.domain.batches import BatchSize
from app.modelling.aiming import Aiming
from app.modelling.several_drafting import draft_batch, select
from app.modelling.terms import Terms
from tests.modelling.test_pricing import ROWS, several


@pytest.mark.parametrize("seed", range(8))
def test_one_value_for_two_objectives_is_the_one_that_promises_most_for_both(seed: int) -> None:
    models, values = several(seed=seed), np.random.default_rng(seed).permutation(ROWS) // 5
    aiming, size = Aiming(models), BatchSize(3, 3)

    def promised(terms: Terms) -> float:
        return float(np.maximum(select(models, aiming, size, terms).ucb, 0.0).sum())

    alone = {value: promised(Terms(where=values == value)) for value in range(ROWS // 5)}
    [shared] = {
        int(values[suggestion.candidate]) for suggestion in draft_batch(models, size, Terms(same=values)).suggestions
    }
    assert alone[shared] == pytest.approx(max(alone.values()))
