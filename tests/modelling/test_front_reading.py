"""What is told of a front."""

import numpy as np
import pytest

from app.domain.studies import Configuration, Direction, Objective
from app.modelling.front_reading import reference_of

TWO = Configuration(objectives=(Objective("a"), Objective("b", direction=Direction.MINIMIZE)))


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_reference_is_as_far_below_the_front_in_any_unit(unit: float) -> None:
    points = np.array([[4.0, -1.0], [2.0, -3.0], [1.0, -6.0]]) * unit  # the first is better than all others
    np.testing.assert_allclose(reference_of(TWO, points), np.array([3.7, -1.5]) * unit)
