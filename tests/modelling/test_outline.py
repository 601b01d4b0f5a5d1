"""A model of a long list comes back to the bit from its ledger and its fit, wherever it follows from them."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.arrays import Array
from app.domain.batches import BatchSize
from app.domain.candidates import BlockArrays, CandidateBlock
from app.domain.codec import to_plain
from app.engine import start_from
from app.engine.auto import fitting
from app.modelling import model as model_module
from app.modelling.ledger_state import LedgerState
from app.modelling.model import Model, RawFeatures, whole
from app.modelling.outline import is_outline, restore_outline, save_outline
from app.modelling.saved_model import SavedModel, save_model
from app.modelling.several_drafting import draft_batch
from app.modelling.study_model import advance_study
from tests.modelling.test_pricing import FEATURES, ROWS, YIELD, several, single


def load(block: CandidateBlock) -> RawFeatures:
    return FEATURES[: block.rows], np.zeros((block.rows, 0), dtype=np.int32), {}


def outline(model: Model) -> Model:
    saved = save_outline(model)
    assert saved is not None
    assert is_outline(saved)
    return restore_outline(replace(saved, plain=json.loads(json.dumps(saved.plain))), load)


def restored(model: Model) -> Model:
    return whole(outline(model))


def with_results(ledger: LedgerState, numbers: list[int]) -> LedgerState:
    more = np.array(numbers, dtype="<i4")
    return replace(
        ledger,
        seq=ledger.seq + 1,
        head=f"{ledger.head}.",
        candidates=np.concatenate((ledger.candidates, more)),
        values=np.concatenate((ledger.values, YIELD[more])),
        counted=np.ones(len(ledger.values) + len(more), dtype="|b1"),
    )


def drafted(model: Model) -> str:
    draft = draft_batch(model, BatchSize(4, 4))
    return json.dumps(to_plain((draft.suggestions, draft.record)), sort_keys=True)


def bits(model: Model) -> list[bytes]:
    saved: SavedModel = save_model(model)
    return [array.tobytes() for array in (saved.X, saved.Z, *saved.arrays.values())]


def advanced(model: Model, ledger: LedgerState) -> Model:
    after = advance_study(model, ledger, load)
    assert isinstance(after, Model)
    return after


def test_a_model_comes_back_to_the_bit_without_a_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    model = advanced(single(), with_results(single().ledger, [30, 31]))
    monkeypatch.setattr(model_module, "fit", None)
    back = restored(model)
    assert bits(back) == bits(model)
    assert drafted(back) == drafted(model)


def test_it_goes_on_as_if_it_had_stayed_in_memory() -> None:
    model = single()
    later = with_results(model.ledger, [20, 21])
    assert drafted(advanced(restored(model), later)) == drafted(advanced(model, later))


def test_the_next_fit_needs_only_the_outline(monkeypatch: pytest.MonkeyPatch) -> None:
    model = single()
    later = with_results(model.ledger, [20, 21])
    expected = drafted(advanced(model, later))
    begun: list[int] = []

    def noted(X: Array, *arguments: Any, **more: Any) -> Any:
        begun.append(more["step"])
        return start_from(X, *arguments, **more)

    monkeypatch.setattr(model_module, "start_from", noted)
    assert drafted(advanced(outline(model), later)) == expected
    assert len(begun) == 1


@pytest.mark.parametrize("numbers", [[30], []], ids=["a result", "nothing"])
def test_without_a_new_fit_the_outline_is_made_whole_first(monkeypatch: pytest.MonkeyPatch, numbers: list[int]) -> None:
    monkeypatch.setattr(fitting, "CHEAP", 0)
    model = single()
    later = with_results(model.ledger, numbers)
    after = advanced(outline(model), later)
    assert after.fit is not None
    assert not after.is_outline
    assert bits(after) == bits(advanced(model, later))


def test_an_outline_whose_results_are_all_withdrawn_is_made_whole_first() -> None:
    model = single()
    none = np.zeros(len(model.ledger.values), dtype="|b1")
    withdrawn = replace(model.ledger, seq=7, head="withdrawn", counted=none)
    assert bits(advanced(outline(model), withdrawn)) == bits(advanced(model, withdrawn))


def test_pending_measurements_leave_it_as_it_was_begun() -> None:
    model = single()
    waiting = advanced(model, replace(model.ledger, seq=5, head="waits", reserved={7: "bench"}))
    assert waiting.begun_at == model.begun_at
    assert bits(restored(waiting)) == bits(waiting)


def test_results_that_were_taken_in_since_the_fit_are_in_no_outline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "CHEAP", 0)
    model = single()
    after = advanced(model, with_results(model.ledger, [30]))
    assert after.fit is model.fit
    assert save_outline(after) is None


def test_candidates_that_were_added_since_the_fit_are_in_no_outline() -> None:
    model = single()
    more = CandidateBlock(ROWS, 3, BlockArrays("more", "more"))
    grown = replace(model.ledger, seq=6, head="grown", blocks=(*model.ledger.blocks, more))
    assert save_outline(advanced(model, grown)) is None


def test_several_models_have_no_outline() -> None:
    assert save_outline(several()) is None
