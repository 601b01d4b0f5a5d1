"""Models of several quantities are saved and loaded to the bit, and go on as if they had stayed in memory."""

import json
from dataclasses import replace

import numpy as np
import pytest

from app.domain.batches import BatchSize
from app.domain.codec import to_plain
from app.domain.studies import Constraint
from app.modelling.ledger_state import LedgerState
from app.modelling.saved_model import SavedModel
from app.modelling.saved_study import load_study_model, save_study_model
from app.modelling.several_drafting import draft_batch
from app.modelling.study_model import SeveralModels, StudyModel, advance_study
from tests.modelling.test_pricing import FEATURES, PRICE, ROWS, YIELD, model_of, several, single


def reloaded(model: StudyModel) -> StudyModel:
    """The model after a way through JSON and arrays."""
    saved = save_study_model(model)
    assert saved is not None
    plain = json.loads(json.dumps(saved.plain))
    return load_study_model(
        SavedModel(plain, {name: array.copy() for name, array in saved.arrays.items()}, saved.X, saved.Z)
    )


def drafted(model: StudyModel) -> str:
    draft = draft_batch(model, BatchSize(4, 4))
    return json.dumps(to_plain((draft.suggestions, draft.record)), sort_keys=True)


def with_more(ledger: LedgerState) -> LedgerState:
    """The ledger after two more measurements, one of them without a price, and one with a standard error."""
    more = np.array([30, 31], dtype="<i4")
    further = {name: np.concatenate((values, [PRICE[30], np.nan])) for name, values in ledger.further.items()}
    errors = np.full(len(ledger.values) + 2, np.nan)
    errors[-1] = 0.1
    return replace(
        ledger,
        seq=ledger.seq + 1,
        head="next",
        candidates=np.concatenate((ledger.candidates, more)),
        values=np.concatenate((ledger.values, YIELD[more])),
        further=further,
        errors={"yield": errors},
        counted=np.ones(len(ledger.values) + 2, dtype="|b1"),
        failed={5: 1},
        reserved={7: "bench-1"},
    )


def advanced(model: StudyModel) -> StudyModel:
    return advance_study(model, with_more(model.ledger), lambda _: (FEATURES, np.zeros((ROWS, 0), dtype=np.int32), {}))


@pytest.mark.parametrize("constrained", [False, True])
def test_several_models_come_back_to_the_bit(constrained: bool) -> None:
    model = model_of(constraints=(Constraint("price", at_most=0.8),)) if constrained else several()
    assert isinstance(model, SeveralModels)
    back = reloaded(model)
    assert isinstance(back, SeveralModels)
    assert list(back.quantities) == list(model.quantities)
    assert drafted(back) == drafted(model)
    for name, quantity in model.quantities.items():
        assert quantity.state.mean.tobytes() == back.quantities[name].state.mean.tobytes()
        assert quantity.state.leverage.tobytes() == back.quantities[name].state.leverage.tobytes()


def test_a_loaded_model_goes_on_as_if_it_had_stayed_in_memory() -> None:
    model = several()
    once, again = advanced(model), advanced(reloaded(model))
    assert drafted(once) == drafted(again)
    assert drafted(reloaded(once)) == drafted(once)


def test_the_ledger_comes_back_whole() -> None:
    ledger = with_more(several().ledger)
    back = reloaded(advanced(several())).ledger
    assert (back.failed, back.reserved, back.seq) == (ledger.failed, ledger.reserved, ledger.seq)
    np.testing.assert_array_equal(back.further["price"], ledger.further["price"])
    np.testing.assert_array_equal(back.errors["yield"], ledger.errors["yield"])


def test_a_model_of_one_quantity_is_saved_as_before() -> None:
    model = single()
    assert drafted(reloaded(model)) == drafted(model)
