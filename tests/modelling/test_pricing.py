"""What a term costs: against brute force over draws, against nothing, and in which unit."""

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from scipy.special import ndtr

from app.arrays import Array, IndexArray
from app.domain.batches import BatchSize
from app.domain.candidates import BlockArrays, CandidateBlock, Column
from app.domain.studies import Configuration, Constraint, Direction, Objective
from app.engine import Selection
from app.engine.auto import SizedSelection
from app.modelling.aiming import Aiming
from app.modelling.drafting import one_fewer_and_more
from app.modelling.ledger_state import LedgerState
from app.modelling.model import Model
from app.modelling.pricing import expected_gains, extra_gains, lost_shares, student_of
from app.modelling.several_drafting import draft_batch
from app.modelling.study_model import SeveralModels, StudyModel, advance_study
from app.modelling.terms import Terms

ROWS = 40
FEATURES = np.random.default_rng(3).random((ROWS, 2))
YIELD = np.sin(3 * FEATURES[:, 0]) + FEATURES[:, 1]
PRICE = FEATURES[:, 0] + 0.2 * FEATURES[:, 1]
MEASURED = np.arange(12)
HIGH = Objective("yield", "%", Direction.MAXIMIZE)
LOW = Objective("price", "EUR", Direction.MINIMIZE)
NOWHERE_GOOD = Terms(where=np.sort(YIELD)[5] > YIELD)


def model_of(**settings: object) -> StudyModel:
    """A study in which some candidates were measured."""
    configuration = Configuration(**{"objectives": (HIGH,), "noise": "none", "seed": 5, **settings})  # type: ignore[arg-type]
    truth = {"yield": YIELD, "price": PRICE}
    first, *others = [quantity.name for quantity in configuration.quantities]
    state = LedgerState(
        configuration=configuration,
        columns=tuple(Column(name, "number", "feature") for name in "xy"),
        blocks=(CandidateBlock(0, ROWS, BlockArrays("", "")),),
        candidates=MEASURED.astype("<i4"),
        values=truth[first][MEASURED],
        further={name: truth[name][MEASURED] for name in others},
        counted=np.ones(len(MEASURED), dtype="|b1"),
    )
    return advance_study(None, state, lambda _: (FEATURES, np.zeros((ROWS, 0), dtype=np.int32), {}))


def single() -> Model:
    model = model_of()
    assert isinstance(model, Model)
    return model


def several(**settings: object) -> SeveralModels:
    model = model_of(**{"objectives": (HIGH, LOW), **settings})
    assert isinstance(model, SeveralModels)
    return model


def test_the_gain_of_one_candidate_is_its_expected_improvement() -> None:
    rng = np.random.default_rng(1)
    draws = np.stack([np.full(200_000, 1.0), rng.normal(0.8, 0.5, 200_000)])
    [gain] = expected_gains(draws, np.array([3, 7]), [np.array([7])], best=3)
    u = (0.8 - 1.0) / 0.5
    improvement = 0.5 * (u * ndtr(u) + np.exp(-u * u / 2) / np.sqrt(2 * np.pi))
    assert gain == pytest.approx(improvement, rel=0.03)  # gains count up to their quantile of 99 %


def test_a_batch_of_equal_chances_counts_as_one_chance() -> None:
    draws = np.random.default_rng(2).normal(size=(1, 500)).repeat(6, axis=0)
    draws[0] = 0.0
    numbers = np.arange(6)
    one, five = expected_gains(draws, numbers, [np.array([1]), np.arange(1, 6)], best=0)
    assert one == five > 0


def test_a_term_that_changes_nothing_costs_nothing() -> None:
    for model in (single(), several()):
        everything = draft_batch(model, BatchSize(4, 4), Terms(where=np.ones(ROWS, dtype=bool)))
        assert everything.record.prices == {"where": 0.0}


def test_a_term_that_leaves_only_bad_candidates_has_a_price_and_it_is_not_more_than_there_is_to_gain() -> None:
    [price] = draft_batch(single(), BatchSize(4, 4), NOWHERE_GOOD).record.prices.values()
    assert 0.0 < price < 2 * (YIELD.max() - YIELD[MEASURED].min())


def test_the_price_of_a_minimised_objective_is_the_same() -> None:
    mirrored = model_of(objectives=(Objective("price", "EUR", Direction.MINIMIZE),))
    assert isinstance(mirrored, Model)
    good, bad = np.argsort(PRICE)[[0, -1]]
    assert extra_gains(mirrored, [np.array([bad]), np.array([good])])[0] >= 0.0


def test_with_several_objectives_a_price_is_a_share_of_the_hypervolume() -> None:
    [price] = draft_batch(several(), BatchSize(4, 4), NOWHERE_GOOD).record.prices.values()
    assert 0.0 < price < 1.0


def test_the_share_is_that_of_hypervolumes_by_brute_force() -> None:
    aiming = Aiming(several())
    poor, rich = np.array([int(np.argmin(YIELD))]), np.array([int(np.argmax(YIELD))])
    [share] = lost_shares(aiming, [poor, rich])
    volumes = [volume_with(aiming, batch) for batch in (poor, rich)]
    assert share == pytest.approx(1 - volumes[0] / volumes[1], abs=0.05)


def volume_with(aiming: Aiming, batch: IndexArray) -> float:
    """The mean area that the measured front and a batch of one candidate dominate, by a fine grid."""
    aims, rng = aiming.aims, np.random.default_rng(0)
    scaled = [
        (mean - origin) / scale for mean, origin, scale in zip(aiming.means, aims.origin, aims.scale, strict=True)
    ]
    measured = np.column_stack([mean[MEASURED] for mean in scaled])
    draws: list[Array] = []
    for (name, model), scale in zip(aiming.known.items(), aims.scale, strict=True):
        student = student_of(model)
        t = rng.standard_t(student.degrees, 400)
        position = list(aiming.known).index(name)
        draws.append(scaled[position][batch[0]] + t * student.scale[batch[0]] / scale)
    axis = np.linspace(0, 4, 240)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    below = (grid[:, :, None, :] <= measured).all(axis=-1).any(axis=-1)
    areas = [(below | (grid <= np.array(point)).all(axis=-1)).mean() for point in zip(*draws, strict=True)]
    return float(np.mean(areas)) * 16


def test_what_is_probably_infeasible_promises_nothing() -> None:
    limit = float(np.quantile(PRICE, 0.3))
    constrained = model_of(constraints=(Constraint("price", at_most=limit),))
    dear = np.quantile(PRICE, 0.9) < PRICE
    [price] = draft_batch(constrained, BatchSize(3, 3), Terms(where=dear)).record.prices.values()
    free = draft_batch(constrained, BatchSize(3, 3), Terms(where=np.ones(ROWS, dtype=bool)))
    assert price > 0.0
    assert free.record.prices == {"where": 0.0}


def test_what_promises_more_than_the_first_is_not_told_in_percent() -> None:
    """Where the first promises next to nothing, the last once promised 414716652832798277632% of it."""
    batch = SizedSelection(cast("Selection", None), np.array([1.0, 0.4, 4e15]), next_share=0.634)
    words = one_fewer_and_more(batch)
    assert words == (
        "one fewer would give up more than what the first promises; one more would add 63 % of what the first promises"
    )
    usual = replace(batch, shares=np.array([1.0, 0.8]))
    assert one_fewer_and_more(usual).endswith("80 % of what the first promises; one more would add 63 % of it")
    alone = replace(batch, shares=np.array([1.0]), next_share=1.4)
    assert one_fewer_and_more(alone) == "one more would add more than what this one promises"
    little = replace(alone, next_share=1e-9)
    assert one_fewer_and_more(little) == "one more would add less than 1 % of what this one promises"
