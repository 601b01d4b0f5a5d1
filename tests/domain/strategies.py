"""Any event, and any story of a study's life, for Hypothesis."""

from dataclasses import replace
from typing import Any, get_args

from hypothesis import strategies as st

from app.domain.batches import (
    AskRequest,
    BatchRecord,
    BatchSize,
    Computation,
    DraftSuggestion,
    Explanation,
    SuggestionId,
)
from app.domain.candidates import BlockArrays, CandidateBlock
from app.domain.events import (
    AbandonedMeasurement,
    Basis,
    BatchIssued,
    CandidateReference,
    CandidatesSwitched,
    CandidatesUploaded,
    FailedMeasurement,
    MeasurementsAbandoned,
    MeasurementsFailed,
    ObservationCorrected,
    ObservationRetracted,
    ObservationsReported,
    ObservationsReportedAgain,
    StudyChanged,
    StudyCreated,
    StudyEvent,
)
from app.domain.ledger import FORMAT, GENESIS, LedgerEntry, encode, seal
from app.domain.observations import Measured, ReportedObservation
from app.domain.predictions import Fit
from app.domain.studies import Configuration, StudyState, Theory

ROWS = 5

numbers = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
documents = st.dictionaries(texts, st.none() | numbers | texts | st.lists(numbers, max_size=2), max_size=3)

for kind, strategy in {
    float: numbers,
    str: texts,
    SuggestionId: st.builds(SuggestionId, st.integers(1, 99), st.integers(1, 99)),
}.items():
    st.register_type_strategy(kind, strategy)  # type: ignore[arg-type]
st.register_type_strategy(Theory, st.builds(Theory, kernel=documents))
st.register_type_strategy(Fit, st.builds(Fit, kernel=documents, objective=documents))


def events_of(kind: type[StudyEvent]) -> st.SearchStrategy[StudyEvent]:
    return st.from_type(kind)


any_event = st.one_of([events_of(kind) for kind in get_args(StudyEvent)])


def ledger_of(events: list[StudyEvent], study: str = "s") -> list[LedgerEntry]:
    """The events in a sound chain."""
    entries: list[LedgerEntry] = []
    for seq, event in enumerate(events, start=1):
        fields: dict[str, Any] = {
            "seq": seq,
            "type": event.type,
            "format": FORMAT,
            "payload": encode(event),
            "actor": "0123456789ab",
            "reason": None,
            "recorded_at": "2026-01-01T00:00:00.000000Z",
            "request_id": f"request-{seq}",
            "previous": entries[-1].hash if entries else GENESIS,
        }
        entries.append(LedgerEntry(**fields, hash=seal(study, fields)))
    return entries


def issued(number: int, seq: int, candidates: list[tuple[int, int]]) -> BatchIssued:
    return BatchIssued(
        number=number,
        request=AskRequest("bench"),
        size=BatchSize(1, 5),
        basis=Basis(seq, "h"),
        suggestions=tuple(DraftSuggestion(c, replicates, Explanation("why", 1.0)) for c, replicates in candidates),
        record=BatchRecord("size", False, 1.0, 1.0, 0, 0.0),
        computation=Computation("build", 0.1),
    )


class _Story:
    """Adds what could happen next to a study with five candidates."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._batches, self._observations = 0, 0
        block = CandidateBlock(0, ROWS, BlockArrays("a" * 64, "b" * 64))
        self.events: list[StudyEvent] = [StudyCreated(Configuration()), CandidatesUploaded(block, ())]

    def ask(self) -> None:
        self._batches += 1
        chosen = st.lists(st.tuples(self._candidates, st.integers(1, 3)), min_size=1, max_size=3)
        self.events.append(issued(self._batches, len(self.events), self._draw(chosen)))

    def report(self) -> None:
        count = self._draw(st.integers(1, 3))
        reported = tuple(
            ReportedObservation(
                self._observations + 1 + i,
                self._draw(self._candidates),
                {"value": Measured(self._draw(numbers))},
                self._suggestion(),
            )
            for i in range(count)
        )
        self._observations += count
        self.events.append(ObservationsReported(reported))

    def fail(self) -> None:
        retry = self._draw(st.booleans())
        failure = FailedMeasurement(self._draw(self._candidates), "key", "broke", retry, self._suggestion())
        self.events.append(MeasurementsFailed((failure,)))

    def abandon(self) -> None:
        abandoned = AbandonedMeasurement(self._draw(self._candidates), "key", None, self._suggestion())
        self.events.append(MeasurementsAbandoned((abandoned,)))

    def correct(self) -> None:
        if self._observations:
            number, value = self._draw(st.integers(1, self._observations)), self._draw(numbers)
            self.events.append(ObservationCorrected(number, 2, {"value": Measured(value)}))

    def report_again(self) -> None:
        if self._observations:
            number, value = self._draw(st.integers(1, self._observations)), self._draw(numbers)
            reported = ReportedObservation(number, self._draw(self._candidates), {"value": Measured(value)})
            self.events.append(ObservationsReportedAgain((reported,)))

    def retract(self) -> None:
        if self._observations:
            self.events.append(ObservationRetracted(self._draw(st.integers(1, self._observations)), 2))

    def switch(self) -> None:
        reference = CandidateReference(self._draw(self._candidates), "key")
        self.events.append(CandidatesSwitched((reference,), self._draw(st.booleans())))

    def change(self) -> None:
        changed = replace(Configuration(), max_batch=self._draw(st.integers(1, 9)))
        self.events.append(StudyChanged(StudyState.PAUSED, changed))

    @property
    def _candidates(self) -> st.SearchStrategy[int]:
        return st.integers(0, ROWS - 1)

    def _suggestion(self) -> SuggestionId | None:
        if not self._batches or self._draw(st.booleans()):
            return None
        return SuggestionId(self._draw(st.integers(1, self._batches)), self._draw(st.integers(1, 3)))


@st.composite
def stories(draw: st.DrawFn) -> list[LedgerEntry]:
    """The ledger of a study in which anything may happen."""
    story = _Story(draw)
    steps = [
        story.ask,
        story.report,
        story.fail,
        story.abandon,
        story.correct,
        story.retract,
        story.report_again,
        story.switch,
        story.change,
    ]
    for step in draw(st.lists(st.sampled_from(steps), max_size=12)):
        step()
    return ledger_of(story.events)
