"""What is left to gain, in the user's units, and the advice that follows from it."""

from dataclasses import replace

import numpy as np
import pytest

from app.arrays import Array
from app.domain.predictions import NextBatch, RemainingGain, difference_in_words, share_in_words
from app.domain.studies import Direction, Limits
from app.engine.auto import TrackRecord
from app.modelling.model import Model
from app.modelling.outlook import (
    ALL_EQUAL,
    FEWEST_RESULTS,
    SHORT_LIST,
    TOO_FEW,
    UNSKILLED,
    Standing,
    advice,
    outlook_of,
)
from app.modelling.predicting import Predictor
from tests.modelling.test_predicting import model_of

STANDING = Standing(results=40, pending=0, choices=5, tolerance=1.0, stated=False, unit="%")
SMALL, LARGE = RemainingGain(0.1, 0.9), RemainingGain(2.0, 9.0)
NEXT = NextBatch(0.4, 1.5)


def in_state(model: Model, **changes: Array) -> Model:
    """The same results, with other candidates available or pending."""
    changed = replace(model, state=model.state.replace(**changes))
    vars(changed)["observed"] = model.observed  # as in model_of
    return changed


@pytest.mark.parametrize("direction", [Direction.MAXIMIZE, Direction.MINIMIZE])
def test_an_outlook_is_consistent_and_the_same_when_computed_again(direction: Direction) -> None:
    model = model_of(direction=direction)
    recommended = Predictor(model).certificate().recommended
    outlook = outlook_of(model, recommended)
    assert outlook == outlook_of(model, recommended)
    assert 0 <= outlook.next_batch.gain <= outlook.remaining_gain.expected <= outlook.remaining_gain.upper
    assert 0 <= outlook.chance_best_is_measured <= 1
    assert 1 <= outlook.candidates_still_possible <= len(model.state.X)
    assert outlook.advice.do == "ask"


def test_promises_that_did_not_come_true_count_for_less(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of()
    recommended = Predictor(model).certificate().recommended
    outlooks = []
    for record in (TrackRecord(promised=1.0, kept=1.0), TrackRecord(promised=9.0, kept=1.0)):
        monkeypatch.setattr("app.modelling.outlook.track_record", lambda *_, record=record: record)
        outlooks.append(outlook_of(model, recommended))
    kept, broken = outlooks
    assert broken.chance_best_is_measured > kept.chance_best_is_measured
    assert broken.next_batch.chance < kept.next_batch.chance
    assert broken.remaining_gain.expected < kept.remaining_gain.expected
    assert broken.candidates_still_possible <= kept.candidates_still_possible


def test_nothing_is_left_exactly_if_no_other_candidate_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of()
    recommended = Predictor(model).certificate().recommended
    for promised in (0.0, 3.0, 100.0, 1e6):
        monkeypatch.setattr("app.modelling.outlook.track_record", lambda *_, H=promised: TrackRecord(H, 0.0))
        outlook = outlook_of(model, recommended)
        assert (outlook.remaining_gain.upper == 0) == (outlook.candidates_still_possible == 1)
    assert outlook.remaining_gain.upper == 0


@pytest.mark.parametrize(
    ("direction", "limits"), [(Direction.MAXIMIZE, (None, 95.0)), (Direction.MINIMIZE, (5.0, None))]
)
def test_nothing_can_be_gained_beyond_a_limit(direction: Direction, limits: tuple[float | None, float | None]) -> None:
    model, free = model_of(Limits(*limits), direction), model_of(direction=direction)
    recommended = Predictor(model).certificate().recommended
    value = model.objective.to_user(model.state.mean)[recommended]
    most = limits[1] - value if direction is Direction.MAXIMIZE else value - limits[0]
    assert outlook_of(model, recommended).remaining_gain.upper <= max(0.0, most) + 5.0  # the value itself is uncertain
    cut, uncut = (outlook_of(of, recommended).remaining_gain for of in (model, free))
    assert cut.expected <= uncut.expected
    assert cut.upper <= uncut.upper


def test_nothing_can_be_gained_beyond_a_limit_that_is_close() -> None:
    """Concentrations over four decades: the model doubts even what was measured by more than is left down to 0."""
    model = model_of(Limits(low=0.0), Direction.MINIMIZE, f=lambda x: np.exp(10 * x))
    recommended = int(model.observed.numbers[model.observed.values.argmin()])
    outlook = outlook_of(model, recommended)
    assert 0 < outlook.next_batch.gain <= outlook.remaining_gain.upper <= model.observed.values.min()


def test_before_the_first_result_and_in_theory_mode_there_is_no_outlook() -> None:
    assert outlook_of(replace(model_of(), fit=None), 0) is None


@pytest.mark.parametrize("value", [0.0, 7.0, -1e300])
def test_results_that_are_all_equal_tell_nothing_of_what_is_left_to_gain(value: float) -> None:
    model = model_of(f=lambda x: np.full(len(x), value))
    outlook = outlook_of(model, 0)
    assert (outlook.unknown, outlook.remaining_gain, outlook.chance_best_is_measured) == (ALL_EQUAL, None, None)
    assert outlook.advice.do == "ask"
    pending = np.zeros(len(model.state.X), dtype=np.int64)
    pending[np.flatnonzero(model.state.counts == 0)[0]] = 1
    waiting = outlook_of(in_state(model, pending=pending), 0).advice
    assert (waiting.do, waiting.why) == ("wait for results", "1 result is pending, and the next choices depend on it.")


def test_with_few_results_there_is_advice_alone() -> None:
    outlook = outlook_of(model_of(n=4), 0)
    assert (outlook.unknown, outlook.next_batch, outlook.candidates_still_possible) == (TOO_FEW, None, None)
    assert outlook.advice.do == "ask"
    assert outlook_of(model_of(n=5), 0).unknown == ""


def test_of_a_list_of_few_all_are_waited_for() -> None:
    model = model_of(n=3)
    available = model.state.counts > 0
    available[np.flatnonzero(~available)[0]] = True
    assert outlook_of(in_state(model, available=available), 0).unknown == SHORT_LIST


def test_if_only_the_few_measured_candidates_are_left_the_study_is_finished() -> None:
    model = model_of(n=3)
    assert outlook_of(in_state(model, available=model.state.counts > 0), 0).advice.do == "stop"


def test_stop_is_advised_when_little_is_left_and_never_before_twenty_results() -> None:
    assert advice(STANDING, SMALL, NEXT).do == "stop"
    why = advice(STANDING, SMALL, NEXT).why
    assert "at most 0.9 percentage points are left to gain. That is less than" in why
    assert "5 % of the range of the results" in why
    assert advice(replace(STANDING, pending=9), SMALL, NEXT).why.endswith(" 9 results are still pending.")
    nothing = advice(STANDING, RemainingGain(0.0, 0.0), NEXT)
    assert (nothing.do, nothing.why) == ("stop", "With 95 % probability nothing is left to gain.")
    assert advice(STANDING, LARGE, NEXT).do == "ask"
    for results in range(FEWEST_RESULTS):
        young = advice(replace(STANDING, results=results), SMALL, NEXT)
        assert young.do == "ask"
        assert "20 results" in young.why
    assert advice(replace(STANDING, results=FEWEST_RESULTS), SMALL, NEXT).do == "stop"


def test_a_model_that_predicts_nothing_does_not_advise_to_stop() -> None:
    for gain in (SMALL, RemainingGain(0.0, 0.0)):
        unskilled = advice(replace(STANDING, skill=0.0), gain, NEXT)
        assert (unskilled.do, unskilled.why) == ("ask", UNSKILLED)
        assert advice(replace(STANDING, skill=0.01), gain, NEXT).do == "stop"
    assert advice(replace(STANDING, skill=0.0), LARGE, NEXT).why != UNSKILLED
    assert advice(replace(STANDING, skill=0.0, pending=5), SMALL, NEXT).do == "wait for results"


def test_the_skill_of_a_model_counts_as_long_as_candidates_are_unmeasured() -> None:
    smooth, erratic = model_of(n=25), model_of(n=25, f=lambda x: np.random.default_rng(0).permutation(len(x)) * 1.0)
    assert Standing.of(smooth, smooth.fit, 5).skill > 0.5
    assert Standing.of(erratic, erratic.fit, 5).skill < 0.2
    complete = in_state(erratic, available=erratic.state.counts > 0)
    assert Standing.of(complete, complete.fit, 5).skill == 1.0


def test_the_study_may_state_what_is_negligible() -> None:
    stated = replace(STANDING, tolerance=10.0, stated=True)
    assert advice(stated, LARGE, NEXT).do == "stop"
    assert "That is within the 10 percentage points you stated." in advice(stated, LARGE, NEXT).why


def test_results_are_waited_for_if_as_many_are_pending_as_would_be_asked_for() -> None:
    assert advice(replace(STANDING, pending=5), LARGE, NEXT).do == "wait for results"
    assert advice(replace(STANDING, pending=4), LARGE, NEXT).do == "ask"
    assert advice(replace(STANDING, pending=1, choices=0), LARGE, NEXT).why.startswith("1 result is pending")


def test_a_list_that_is_measured_completely_is_finished() -> None:
    assert advice(replace(STANDING, results=7, choices=0), LARGE, NEXT).do == "stop"


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "less than 1 %"), (0.0049, "less than 1 %"), (0.33, "33 %"), (0.996, "more than 99 %"), (1.0, "100 %")],
)
def test_a_chance_is_not_rounded_to_certainty(share: float, words: str) -> None:
    assert share_in_words(share) == words
    assert f"with a chance of {words} (" in advice(STANDING, LARGE, NextBatch(share, 0.0)).why


def test_a_difference_of_percentages_is_in_percentage_points() -> None:
    assert difference_in_words(3.21, "%") == "3.21 percentage points"
    assert difference_in_words(3.21, "mV") == "3.21 mV"
    assert difference_in_words(3.21, " mV ") == "3.21 mV"
    assert difference_in_words(3.21, "") == "3.21"


def test_an_estimate_has_no_more_digits_than_it_is_worth() -> None:
    assert difference_in_words(198_874.2, "USD") == "199,000 USD"
    assert difference_in_words(1_234_567, "%") == "1,230,000 percentage points"
    assert difference_in_words(0.000123456, "J") == "0.000123 J"
