"""Ageing, tournaments and mutations over a finite list."""

import itertools

import numpy as np

from app.arrays import FloatArray
from app.engine import Ask, EngineSettings, State, measure, start
from app.engine.baselines import Evolution, latest_measured
from app.engine.kernels import Gaussian

grid: FloatArray = np.array(list(itertools.product(range(4), repeat=3)), dtype=float)


def study(*batches: list[int]) -> State:
    state = start(grid, EngineSettings(Gaussian(1.0), dictionary="none"))
    for batch in batches:
        state = measure(state, batch, [float(x) for x in batch])
    return state


def test_the_oldest_die_however_good() -> None:
    assert set(latest_measured(study([63, 62], [1, 2], [5]), 3).tolist()) == {5, 1, 2}


def test_a_candidate_measured_again_is_young_again() -> None:
    assert set(latest_measured(study([63, 62], [1, 2], [63]), 2).tolist()) <= {63, 1, 2}
    assert 63 in latest_measured(study([63, 62], [1, 2], [63]), 1).tolist()


def test_on_a_full_grid_a_child_differs_from_its_parent_in_one_coordinate() -> None:
    state = study([21])
    for number in range(50):
        child = Evolution(population=1, tournament=1)(state, Ask(number)).picks[0]
        assert np.count_nonzero(grid[child] != grid[21]) == 1


def test_the_parent_is_the_best_of_the_tournament() -> None:
    state = study([0, 63])
    batch = Evolution(population=2, tournament=2)(state, Ask(min_size=9, max_size=9))
    assert batch.ucb.tolist() == [63.0] * 9


def test_what_was_measured_is_not_chosen_while_something_else_is_left() -> None:
    state = study(list(range(60)))
    batch = Evolution(population=5, tournament=2)(state, Ask(min_size=4, max_size=4))
    assert sorted(batch.picks.tolist()) == [60, 61, 62, 63]
