"""The distribution of a gain: corrected draws, and what is said of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.auto import Gains, TrackRecord, corrected_share, expected_up_to, gains_over

drawn = st.lists(st.one_of(st.just(0.0), st.floats(0, 1e3)), min_size=1, max_size=60).map(np.array)
records = st.builds(TrackRecord, st.floats(0, 20), st.floats(0, 5))


def test_a_gain_is_never_negative() -> None:
    values = np.array([[0.0, 1.0, 2.0], [3.0, 1.0, -1.0], [0.0, 5.0, 0.0]])
    assert gains_over(values, np.array([0, 1]), recommended=2).tolist() == [3.0, 0.0, 2.0]
    assert gains_over(values, np.array([], dtype=int), recommended=2).tolist() == [0.0, 0.0, 0.0]


@given(gains=st.lists(st.floats(0, 1e300), min_size=1), share=st.floats(0, 1))
def test_an_expected_gain_never_exceeds_the_upper_one(gains: list[float], share: float) -> None:
    upper = float(np.quantile(gains, share))
    assert 0 <= expected_up_to(upper, np.array(gains)) <= upper * (1 + 1e-12)
    corrected = Gains.of(np.array(gains), TrackRecord(2.0, 1.0))
    assert 0 <= corrected.expected_up_to(corrected.quantile(share)) <= corrected.quantile(share)


@given(drawn=drawn, record=records)
@settings(max_examples=50, deadline=None)
def test_quantile_chance_and_mean_are_those_of_the_corrected_distribution(
    drawn: np.ndarray, record: TrackRecord
) -> None:
    """Against a walk over the draws."""
    gains = Gains.of(drawn, record)

    def at_most(value: float) -> float:
        return float(record.corrected(np.array([max((drawn <= value).sum(), 0.5) / len(drawn)]))[0])

    assert gains.chance == pytest.approx(1 - at_most(0.0), abs=1e-12)
    upper = gains.quantile(0.95)
    assert at_most(upper) >= 0.95
    assert all(at_most(value) < 0.95 for value in {0.0, *drawn.tolist()} if value < upper)
    mean, below = 0.0, at_most(0.0)
    for value in sorted(set(drawn[drawn > 0].tolist())):
        mean += min(value, upper) * (at_most(value) - below)
        below = at_most(value)
    assert gains.expected_up_to(upper) == pytest.approx(mean, rel=1e-9, abs=1e-12)


@given(drawn=drawn, record=records, share=st.floats(0, 1))
def test_all_statements_about_a_study_fit_together(drawn: np.ndarray, record: TrackRecord, share: float) -> None:
    whole, part = Gains.of(drawn, record), Gains.of(drawn * (drawn <= np.quantile(drawn, share)), record)
    assert (whole.quantile(0.95) == 0) == (whole.chance <= 0.05 + 1e-12) or np.isclose(whole.chance, 0.05)
    assert part.chance <= whole.chance
    upper = whole.quantile(0.95)
    assert part.expected_up_to(upper) <= whole.expected_up_to(upper) * (1 + 1e-9)
    assert corrected_share(drawn <= 0, record) == pytest.approx(1 - whole.chance)


def test_where_no_draw_has_a_gain_there_is_none() -> None:
    gains = Gains.of(np.zeros(8), TrackRecord(0.0, 9.0))
    assert (gains.chance, gains.quantile(0.95), gains.expected_up_to(1.0)) == (0.0, 0.0, 0.0)
    assert corrected_share(np.ones(8, dtype=bool), TrackRecord()) == 1.0


def test_without_a_record_a_promise_counts_a_little_less() -> None:
    """The prior is that the model is right, with a wide doubt about it."""
    gains = Gains.of(np.array([0.0, 1.0]), TrackRecord())
    assert gains.chance == pytest.approx(1 - 1 / (1 + np.log(2)))
