"""The state of a ledger: however it is cut into pieces, it adds up to the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.batches import SuggestionId
from app.domain.codec import canonical, from_plain, to_plain
from app.domain.events import (
    CandidateReference,
    CandidatesReserved,
    FailedMeasurement,
    MeasurementsFailed,
    ObservationCorrected,
    ObservationRetracted,
    ObservationsReported,
    ObservationsReportedAgain,
    StudyCreated,
    StudyEvent,
)
from app.domain.ledger import LedgerEntry
from app.domain.observations import Measured, ReportedObservation
from app.domain.studies import Configuration, Constraint, Objective
from app.modelling.ledger_state import LedgerState, Pending, fold
from app.modelling.saved_model import SavedLedger, load_ledger, save_ledger
from tests.domain.strategies import issued, ledger_of, stories

FIRST = [
    StudyCreated(Configuration()),
    issued(1, 1, [(3, 2), (4, 1)]),
    ObservationsReported((ReportedObservation(1, 3, {"value": Measured(2.0)}, SuggestionId(1, 1)),)),
]


def to_the_last_bit(state: LedgerState) -> tuple[str, list[bytes]]:
    arrays = (state.candidates, state.values, state.counted)
    return canonical(to_plain(save_ledger(state))), [array.tobytes() for array in arrays]


@given(stories(), st.data())
@settings(max_examples=60, deadline=None)
def test_any_cut_of_the_ledger_adds_up_to_the_same(story: list[LedgerEntry], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(story)))
    pieces = fold(fold(LedgerState(), story[:cut]), story[cut:])
    assert to_the_last_bit(pieces) == to_the_last_bit(fold(LedgerState(), story))
    assert (pieces.seq, pieces.head) == (len(story), story[-1].hash)


@given(stories())
@settings(max_examples=60, deadline=None)
def test_a_state_comes_back_from_its_plain_form(story: list[LedgerEntry]) -> None:
    state = fold(LedgerState(), story)
    plain = from_plain(SavedLedger, to_plain(save_ledger(state)))
    arrays = {
        "ledger candidates": state.candidates,
        "ledger values": state.values,
        "ledger counted": state.counted,
    }
    loaded = load_ledger(plain, arrays)
    assert to_the_last_bit(loaded) == to_the_last_bit(state)
    assert loaded.failed == state.failed


SEVERAL = [
    StudyCreated(
        Configuration(objectives=(Objective("yield"), Objective("price")), constraints=(Constraint("purity", 95),))
    ),
    ObservationsReported(
        (
            ReportedObservation(1, 3, {"yield": Measured(2.0), "purity": Measured(96.0)}),
            ReportedObservation(2, 4, {"price": Measured(7.0)}),
        )
    ),
    ObservationCorrected(1, 2, {"price": Measured(5.0)}),
    ObservationsReported((ReportedObservation(3, 3, {"yield": Measured(3.0)}),)),
    ObservationRetracted(3, 2),
]


@pytest.mark.parametrize("cut", range(len(SEVERAL) + 1))
def test_each_quantity_has_the_values_that_came_for_it(cut: int) -> None:
    entries = ledger_of(SEVERAL)
    state = fold(fold(LedgerState(), entries[:cut]), entries[cut:])
    counted = {}
    for quantity in state.configuration.quantities:
        alone = state.of(quantity)
        counted[quantity.name] = dict(zip(alone.candidates[alone.counted], alone.values[alone.counted], strict=True))
        assert alone.configuration.is_plain
    assert counted == {"yield": {3: 2.0}, "price": {3: 5.0, 4: 7.0}, "purity": {3: 96.0}}


def folded(*events: StudyEvent) -> LedgerState:
    return fold(LedgerState(), ledger_of([*FIRST, *events]))


def test_a_suggestion_is_pending_until_it_has_all_its_replicates() -> None:
    assert folded().pending == {SuggestionId(1, 1): Pending(3, 2, 1), SuggestionId(1, 2): Pending(4, 1)}
    more = ReportedObservation(2, 3, {"value": Measured(2.5)}, SuggestionId(1, 1))
    assert folded(ObservationsReported((more,))).pending == {SuggestionId(1, 2): Pending(4, 1)}


@pytest.mark.parametrize("retry", [True, False])
def test_a_failure_ends_its_suggestion_and_switches_off_what_is_not_to_be_tried_again(retry: bool) -> None:
    failed = MeasurementsFailed((FailedMeasurement(4, "key", "broke", retry, SuggestionId(1, 2)),))
    state = folded(failed)
    assert state.pending.keys() == {SuggestionId(1, 1)}
    assert state.unavailable == (set() if retry else {4})


def test_a_correction_makes_a_retracted_observation_count_again() -> None:
    retracted = ObservationRetracted(1, 2)
    assert folded(retracted).observations == 0
    state = folded(retracted, ObservationCorrected(1, 3, {"value": Measured(9.0)}))
    assert (state.observations, state.values.tolist()) == (1, [9.0])


def test_what_is_reported_again_has_nothing_of_what_was_retracted() -> None:
    first = {"yield": Measured(2.0, std=0.5), "price": Measured(1.0)}
    again = ReportedObservation(1, 3, {"price": Measured(4.0)}, SuggestionId(1, 1), 1)
    events: list[StudyEvent] = [
        StudyCreated(Configuration(objectives=(Objective("yield"), Objective("price")))),
        ObservationsReported((ReportedObservation(1, 3, first, SuggestionId(1, 1), 1),)),
        ObservationRetracted(1, 2),
        ObservationsReportedAgain((again,)),
    ]
    state = fold(LedgerState(), ledger_of(events))
    assert (state.observations, state.further["price"].tolist()) == (1, [4.0])
    assert np.isnan([state.values[0], state.errors["yield"][0]]).all()


def test_a_correction_of_another_quantity_leaves_the_objective_as_it_is() -> None:
    state = folded(ObservationCorrected(1, 2, {"purity": Measured(97.0)}))
    assert state.values.tolist() == [2.0]


def test_a_state_is_never_changed_by_what_follows() -> None:
    entries = ledger_of([*FIRST, ObservationCorrected(1, 2, {"value": Measured(9.0)})])
    first = fold(LedgerState(), entries[:3])
    later = fold(first, entries[3:])
    assert (first.values.tolist(), later.values.tolist()) == ([2.0], [9.0])
    assert np.array_equal(first.counted, later.counted)
    assert first.pending == later.pending


WITH_ERRORS: list[StudyEvent] = [
    StudyCreated(Configuration(objectives=(Objective("yield"), Objective("price")))),
    ObservationsReported((ReportedObservation(1, 3, {"yield": Measured(2.0)}),)),
    ObservationsReported((ReportedObservation(2, 4, {"yield": Measured(7.0, std=0.5), "price": Measured(1.0)}),)),
    ObservationCorrected(1, 2, {"yield": Measured(5.0, std=0.25), "price": Measured(2.0, std=0.1)}),
    ObservationCorrected(2, 2, {"yield": Measured(6.0)}),
]


@pytest.mark.parametrize("cut", range(len(WITH_ERRORS) + 1))
def test_a_value_has_the_standard_error_that_came_with_it(cut: int) -> None:
    entries = ledger_of(WITH_ERRORS)
    state = fold(fold(LedgerState(), entries[:cut]), entries[cut:])
    errors = {name: np.nan_to_num(errors, nan=-1.0).tolist() for name, errors in state.errors.items()}
    assert errors == {"yield": [0.25, -1.0], "price": [0.1, -1.0]}
    assert state.of(Objective("price")).own_errors[0] == 0.1
    assert np.isnan(state.until(0).own_errors).all()


def test_reservations_and_failed_tries_come_back_from_a_saved_state() -> None:
    state = folded(
        CandidatesReserved((CandidateReference(7, "A8"), CandidateReference(8, "A9")), "bench-2"),
        MeasurementsFailed((FailedMeasurement(8, "A9", "broke", retry=True),)),
    )
    assert (state.reserved, state.failed_tries) == ({7: "bench-2"}, {8: 1})
    arrays = {
        "ledger candidates": state.candidates,
        "ledger values": state.values,
        "ledger counted": state.counted,
    }
    loaded = load_ledger(save_ledger(state), arrays)
    assert (loaded.reserved, loaded.failed_tries) == (state.reserved, state.failed_tries)
