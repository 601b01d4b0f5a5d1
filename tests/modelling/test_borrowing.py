"""What an earlier study changes in the choices of a new one: a share of the first batch, more once it proves right."""

from dataclasses import replace

import numpy as np
import pytest

from app.arrays import FloatArray
from app.domain.batches import BatchSize
from app.domain.candidates import BlockArrays, CandidateBlock, Column
from app.domain.events import EarlierResults
from app.domain.studies import Configuration, Direction
from app.engine.auto import borrows
from app.modelling import drafting
from app.modelling.ledger_state import LedgerState
from app.modelling.model import Model, advance

D, ROWS = 9, 60
COLUMNS = tuple(Column(f"x{q}", "number", "feature") for q in range(D))
X = np.random.default_rng(0).random((ROWS, D))
TRUTH = 10 - 8 * np.abs(X[:, 0] - 0.6) - 4 * np.abs(X[:, 1] - 0.3)


def earlier(values: FloatArray) -> EarlierResults:
    """Results of another study of the same list: those of every second candidate."""
    numbers = {f"x{q}": tuple(X[::2, q].tolist()) for q in range(D)}
    return EarlierResults("earlier", 1, "", Direction.MAXIMIZE, tuple(values[::2].tolist()), numbers, {})


def model(borrowed: tuple[EarlierResults, ...], measured: int = 0) -> Model:
    """A study that has measured its first candidates."""
    state = LedgerState(
        configuration=Configuration(),
        columns=COLUMNS,
        blocks=(CandidateBlock(0, ROWS, BlockArrays("", "")),),
        borrowed=borrowed,
    )
    state = replace(
        state,
        candidates=np.arange(measured, dtype="<i4"),
        values=TRUTH[:measured],
        counted=np.ones(measured, dtype="|b1"),
    )
    return advance(None, state, lambda _block: (X, np.empty((ROWS, 0), dtype="<i4"), {}))


def test_the_wide_start_is_as_wide_with_earlier_studies_as_without() -> None:
    assert drafting.cells_of(model((earlier(TRUTH),))) == drafting.cells_of(model(())) == 5


@pytest.mark.parametrize("seed", range(3))
def test_one_of_the_first_five_is_what_earlier_studies_promise_most_of(seed: int) -> None:
    told = earlier(np.random.default_rng(seed).permutation(TRUTH))
    size = BatchSize(5, 5)
    without, with_them = (set(drafting.first_selection(model(borrowed), size).picks) for borrowed in ((), (told,)))
    known = model((told,))
    favourite = int(known.state.X[:, known.layout.borrowed[0]].argmax())
    assert favourite in with_them
    assert len(without & with_them) >= 4


def test_words_say_which_of_the_first_choices_earlier_studies_decided() -> None:
    told = model((earlier(TRUTH),))
    favourite = int(told.state.X[:, told.layout.borrowed[0]].argmax())
    for size in (1, 5):
        suggestions = drafting.draft(told, BatchSize(size, size)).suggestions
        said = {found.candidate for found in suggestions if "the earlier studies expect" in found.why.words}
        assert said == {favourite}
    alone = drafting.draft(model(()), BatchSize(5, 5)).suggestions
    assert not any("earlier" in found.why.words for found in alone)


def test_first_choices_asked_for_one_by_one_follow_earlier_studies_no_more_often_than_a_batch() -> None:
    told = model((earlier(TRUTH),))
    picks: list[int] = []
    followed = []
    for _ in range(5):
        pending = np.isin(np.arange(ROWS), picks).astype(told.state.pending.dtype)
        with_them, without = (
            drafting.first_selection(replace(known, state=known.state.replace(pending=pending)), BatchSize(1, 1)).picks
            for known in (told, model(()))
        )
        picks += with_them.tolist()
        followed.append(with_them.tolist() != without.tolist())
    assert followed == [True, False, False, False, False]


def test_once_they_prove_right_the_wide_start_ends() -> None:
    known = model((earlier(TRUTH),), measured=8)
    assert known.fit is not None
    assert borrows(known.fit)
    assert drafting.cells_of(known) == 0


def test_while_they_do_not_the_batches_are_those_without_them() -> None:
    shuffled = earlier(np.random.default_rng(1).permutation(TRUTH))
    told, alone = model((shuffled,), measured=3), model((), measured=3)
    assert told.fit is not None
    assert not borrows(told.fit)
    size = BatchSize(4, 4)
    picks = [drafting.choose_batch(known, size).selection.picks.tolist() for known in (told, alone)]
    assert picks[0] == picks[1]
