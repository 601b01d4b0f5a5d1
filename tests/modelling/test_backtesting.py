"""The forecast of a backtest: intervals that hold for any distribution, and simulated studies that can be repeated."""

import numpy as np
import pytest

from app.domain.backtests import SHARE, BacktestPlan
from app.domain.batches import BatchSize
from app.domain.candidates import BlockArrays, CandidateBlock, Column
from app.domain.events import Basis
from app.domain.studies import Configuration, Direction, Objective
from app.modelling.backtesting import good_enough, in_words, losses_of, needed_of, result_of
from app.modelling.ledger_state import LedgerState
from app.modelling.several_drafting import draft_batch
from app.modelling.simulating import KnownTable, simulate
from app.modelling.study_model import advance_study

COLUMNS = (Column("t", "number", "feature"),)


def table(values: np.ndarray, counts: np.ndarray | None = None) -> KnownTable:
    rows = len(values) if counts is None else len(counts)
    ends = np.arange(1, rows + 1) if counts is None else np.cumsum(counts)
    return KnownTable(COLUMNS, np.linspace(0, 1, rows)[:, None], np.empty((rows, 0), dtype="<i4"), values, ends)


@pytest.mark.parametrize("studies", [9, 10, 20, 50])
def test_the_interval_covers_as_many_further_studies_as_it_says(studies: int) -> None:
    rng = np.random.default_rng(studies)
    inside = []
    for _ in range(3000):
        counts = rng.geometric(0.02, studies + 1)
        losses = [np.append(np.ones(min(count, 2000) - 1), 0.0) for count in counts]
        needed = needed_of(losses[:-1], 0.5)
        assert needed.low is not None
        assert needed.high is not None
        inside.append(needed.low <= counts[-1] <= needed.high)
    assert SHARE - 0.03 < np.mean(inside) < SHARE + 0.09


def test_studies_that_never_came_so_far_count_as_longer_than_all_others() -> None:
    never, soon = np.ones(10), np.append(np.ones(3), 0.0)
    assert needed_of([soon, soon, never], 0.5).median == 4
    assert needed_of([soon, soon, never], 0.5).high is None
    assert needed_of([never, never, soon], 0.5).median is None
    assert needed_of([never, never, soon], 0.5).reached == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("objective", "best"),
    [
        (Objective(direction=Direction.MAXIMIZE), 3),
        (Objective(direction=Direction.MINIMIZE), 0),
        (Objective(direction=Direction.TARGET, target=2.2), 2),
    ],
)
def test_the_loss_is_zero_at_the_best_candidate(objective: Objective, best: int) -> None:
    losses = losses_of(objective, np.array([0.0, 1.0, 2.0, 3.0]))
    assert int(np.argmin(losses)) == best
    assert losses.min() == 0.0


def test_the_same_seed_simulates_the_same_study_and_another_one_another() -> None:
    known = table(np.sin(np.linspace(0, 7, 40)))
    runs = [simulate(known, Configuration(seed=seed), 4, 16).tolist() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    assert len(runs[0]) == 16


def test_a_simulated_study_measures_what_a_study_is_suggested() -> None:
    known = table(np.sin(np.linspace(0, 7, 40)))
    measured = simulate(known, Configuration(seed=3), 4, 8)
    state = LedgerState(
        configuration=Configuration(seed=3, noise="none"),
        columns=COLUMNS,
        blocks=(CandidateBlock(0, 40, BlockArrays("", "")),),
        candidates=measured[:4].astype("<i4"),
        values=known.values[measured[:4]],
        counted=np.ones(4, dtype="|b1"),
        bases=(Basis(1, ""),),
    )
    model = advance_study(None, state, lambda _block: (known.numbers, known.codes, {}))
    suggested = draft_batch(model, BatchSize(1, 4)).suggestions
    assert [suggestion.candidate for suggestion in suggested] == measured[4:].tolist()


def test_a_measurement_gives_one_of_the_values_that_were_measured() -> None:
    known = table(np.array([0.0, 1.0, 5.0, 5.2, 4.8, 2.0]), np.array([1, 1, 3, 1]))
    assert known.means.tolist() == [0.0, 1.0, 5.0, 2.0]
    assert known.has_repeats
    measured = simulate(known, Configuration(repeats="allowed"), 2, 8)
    assert len(measured) == 8


def test_a_list_that_is_used_up_ends_the_study() -> None:
    known = table(np.arange(5.0))
    assert sorted(simulate(known, Configuration(repeats="never"), 2, 50).tolist()) == [0, 1, 2, 3, 4]


def test_the_result_says_it_in_words_and_the_curve_ends_at_the_best() -> None:
    known = table(np.sin(np.linspace(0, 7, 40)))
    objective = Objective("yield", "%")
    within = good_enough(objective, known)
    plan = BacktestPlan(Configuration(objectives=(objective,)), 2, (5,), 40, within)
    runs = {5: [simulate(known, Configuration(seed=seed), 5, 40) for seed in (0, 1)]}
    study, random = result_of(known, plan, runs).choices
    assert study.curve[-1].median == pytest.approx(known.means.max())
    assert f"about {study.needed.median} measurements" in study.words
    assert "% of the best known value" in random.words
    never = needed_of([np.ones(3)], 0.5)
    assert "Batches of 5 need more than 40 measurements" in in_words(never, plan, 5)
    assert "Random choice needs more than 40 measurements" in in_words(never, plan, None)


@pytest.mark.parametrize("studies", [4, 5, 10, 11])
def test_the_curves_cross_the_goal_where_the_words_say(studies: int) -> None:
    known = table(np.arange(30.0))
    objective = Objective("yield", "%")
    plan = BacktestPlan(Configuration(objectives=(objective,)), studies, (1,), 30, 5.0)
    dice = np.random.default_rng(studies)
    runs = {1: [dice.permutation(30) for _ in range(studies)]}
    study, _ = result_of(known, plan, runs).choices
    goal = known.means.max() - plan.within
    crossings = [
        next(point.measurements for point in study.curve if getattr(point, end) >= goal)
        for end in ("high", "median", "low")
    ]
    assert crossings == [study.needed.low, study.needed.median, study.needed.high]
