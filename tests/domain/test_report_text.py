"""Reported results are written by a short way of their own, and must become the very bytes of the general one."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.batches import SuggestionId
from app.domain.codec import canonical, to_plain
from app.domain.events import ObservationsReported
from app.domain.ledger import decode, encode
from app.domain.observations import Measured, ReportedObservation
from app.domain.report_text import outcome_text

TEXTS = st.text(max_size=6)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([-0.0, 1e16, 1e-5, 5e-324, 1.0])
MEASURED = st.builds(Measured, NUMBERS, st.none() | NUMBERS.map(abs))
OUTCOMES = st.dictionaries(TEXTS, MEASURED, max_size=3)
REPORTED = st.builds(
    ReportedObservation,
    observation=st.integers(1, 10**6),
    candidate=st.integers(0, 10**7),
    values=OUTCOMES,
    suggestion=st.none() | st.builds(SuggestionId, st.integers(1, 99), st.integers(1, 99)),
    replicate=st.none() | st.integers(1, 9),
    ref=st.none() | TEXTS,
    measured_at=st.none() | TEXTS,
    measured_by=st.none() | TEXTS,
    note=st.none() | TEXTS,
)
PLAIN = st.builds(ReportedObservation, st.integers(1, 10**6), st.integers(0, 10**7), OUTCOMES)
EVENTS = st.builds(
    ObservationsReported,
    observations=st.lists(PLAIN | REPORTED, max_size=4).map(tuple),
    upload=st.none() | st.integers(1, 10**6),
    digest=st.none() | TEXTS,
)


@given(EVENTS)
def test_an_event_of_results_has_the_one_text_of_its_value(event: ObservationsReported) -> None:
    assert encode(event) == canonical(to_plain(event))
    assert decode(event.type, 1, encode(event)) == event


@given(OUTCOMES)
def test_the_values_of_a_result_have_one_text(outcome: dict[str, Measured]) -> None:
    assert outcome_text(outcome) == canonical(to_plain(outcome))
