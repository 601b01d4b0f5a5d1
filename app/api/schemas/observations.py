"""Observations on the wire."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from app.api.schemas.candidates import FindingOut
from app.api.schemas.shape import Actors, Line, Moment, Origin, Reason, Request, Shape, Text
from app.domain.batches import SuggestionId
from app.domain.clock import stamp
from app.domain.limits import MOST_REPORTS
from app.domain.observations import SOLE, Failure, Measured, Outcome, Report
from app.services.use_cases.observations import KeyedObservation, Revision, UploadRetraction

Value = Annotated[float, Field(description="A finite number, kept exactly.")]
SuggestionText = Annotated[
    str, Field(pattern=r"^ ?[Bb]? ?[1-9][0-9]{0,8} ?- ?[Ss]? ?[1-9][0-9]{0,8} ?$", examples=["B3-S1"])
]


MEASUREMENTS = 10_000  # in one report


class MeasuredIn(Request):
    """A value with its standard error."""

    value: Value
    std: Annotated[float, Field(ge=0)] | None = Field(default=None, description="Standard error of the value.")


Quantities = Annotated[
    dict[Line, Value | MeasuredIn],
    Field(
        min_length=1,
        max_length=100,
        description="By the name of the quantity; what is missing can be reported later.",
        examples=[{"yield": 83.1, "purity": {"value": 97.2, "std": 0.3}}],
    ),
]


class FailureIn(Request):
    reason: Reason
    retry: bool = Field(
        default=True,
        description="True: it was bad luck, and the candidate may be suggested again. False: it counts against the"
        " candidate and those like it.",
    )


class AbandonedIn(Request):
    reason: Reason


class ReportIn(Request):
    """One result, about a `suggestion` or a `candidate`: what was measured, or why there is nothing."""

    suggestion: SuggestionText | None = None
    key: Line | None = Field(default=None, min_length=1, description="The candidate's key.", examples=["A7-42"])
    candidate: Line | None = Field(default=None, min_length=1, description="Another word for `key`.")
    value: Value | None = Field(default=None, examples=[0.83], description="Of the study's only quantity.")
    std: Annotated[float, Field(ge=0)] | None = Field(default=None, description="Standard error of `value`.")
    values: Quantities | Annotated[list[Value], Field(min_length=1, max_length=MEASUREMENTS)] | None = Field(
        default=None, description="By the name of the quantity. (A list of numbers is read as `replicates`.)"
    )
    replicates: list[Value | Quantities] | None = Field(
        default=None, min_length=1, max_length=MEASUREMENTS, description="Several measurements."
    )
    replicate: int | None = Field(default=None, ge=1, le=100_000, description="Which of the replicates this is.")
    failed: FailureIn | None = None
    abandoned: AbandonedIn | None = None
    measured_at: Moment | None = None
    measured_by: Line | None = None
    note: Text | None = None
    ref: Line | None = Field(default=None, min_length=1, description="Your own number; reported twice, it counts once.")

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.suggestion, self.key, self.candidate).count(None) != 2:
            raise ValueError("Give either `suggestion` or `key`.")
        if (self.value, self.values, self.replicates, self.failed, self.abandoned).count(None) != 4:
            raise ValueError("Give exactly one of `value`, `values`, `replicates`, `failed` and `abandoned`.")
        if self.std is not None and self.value is None:
            raise ValueError("`std` belongs to `value`. In `values`, write a value with its `std`.")
        if self.ref is not None and len(self._outcomes()) > 1:
            raise ValueError("A `ref` names one measurement. Report each value with a `ref` of its own.")
        return self

    def _outcomes(self) -> tuple[Outcome, ...]:
        if self.value is not None:
            return ({SOLE: Measured(self.value, self.std)},)
        if isinstance(self.values, dict):
            return (outcome_of(self.values),)
        measured = self.values if self.values is not None else self.replicates or ()
        return tuple(
            outcome_of(outcome) if isinstance(outcome, dict) else {SOLE: Measured(outcome)} for outcome in measured
        )

    def report(self, pointer: str | None = None) -> Report:
        """As the use case takes it; `pointer` is its place in a list."""
        return Report(
            suggestion=SuggestionId.parse(self.suggestion) if self.suggestion else None,
            candidate=self.key or self.candidate,
            outcomes=self._outcomes(),
            replicate=self.replicate,
            failed=Failure(self.failed.reason, self.failed.retry) if self.failed else None,
            abandoned=self.abandoned.reason if self.abandoned else None,
            measured_at=stamp(self.measured_at) if self.measured_at else None,
            measured_by=self.measured_by,
            note=self.note,
            ref=self.ref,
            pointer=pointer,
        )


def outcome_of(quantities: Mapping[str, float | MeasuredIn]) -> Outcome:
    return {
        name: Measured(measured.value, measured.std) if isinstance(measured, MeasuredIn) else Measured(measured)
        for name, measured in quantities.items()
    }


class ReportsIn(Request):
    observations: list[ReportIn] = Field(min_length=1, max_length=MOST_REPORTS)


class UnreadReportsIn(Request):
    """As `ReportsIn`, before its reports are looked at one by one: a list has as many mistakes as items."""

    observations: list[Any] = Field(min_length=1, max_length=MOST_REPORTS)


class MeasuredOut(Shape):
    value: float
    std: float | None


class MatchOut(Shape):
    row: int | None = Field(description="Of the sheet.")
    status: str = Field(
        description="recorded, completed (some quantities came later), corrected, duplicate (reported before, not"
        " stored again), failed or abandoned."
    )
    value: float | None = Field(description="As it was understood, if it is the only one.")
    values: dict[str, MeasuredOut] = Field(description="As they were understood, by quantity.")
    replaced: dict[str, MeasuredOut] = Field(description="The earlier values that a correction replaces, by quantity.")
    observation: int | None = Field(description="Its number.")
    key: str
    suggestion: str | None
    replicate: int | None


class ReportReceiptOut(Shape):
    stored: bool = Field(description="False for a dry run.")
    recorded: int
    upload: int | None = Field(description="By this, everything recorded here can be retracted in one call.")
    results: tuple[MatchOut, ...]
    warnings: tuple[FindingOut, ...]


class ObservationOut(Shape):
    observation: int
    version: int
    state: str = Field(description="recorded, superseded or retracted.")
    key: str
    value: float | None = Field(description="Of the first objective.")
    suggestion: str | None
    replicate: int | None
    ref: str | None
    measured_at: str | None
    measured_by: str | None
    note: str | None
    reason: str | None = Field(description="Why it was corrected or retracted.")
    actor: str = Field(description="The id of the API key it came with.")
    recorded_at: str
    seq: int
    origin: Origin
    values: dict[str, MeasuredOut] = Field(description="By the name of the quantity.")
    missing: tuple[str, ...] = Field(description="Quantities that can be reported later.")


class ObservationPage(Shape):
    observations: tuple[ObservationOut, ...]
    next: int | None
    actors: Actors


class CorrectionIn(Request):
    """Another `value`, or other `values` of some quantities; those that are left out stay."""

    value: Value | None = None
    values: Quantities | None = None
    reason: Reason = Field(description="Kept in the ledger.", examples=["the decimal point had slipped"])

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.value is None) == (self.values is None):
            raise ValueError("Give either `value` or `values`.")
        return self

    def outcome(self) -> Outcome:
        return {SOLE: Measured(self.value)} if self.value is not None else outcome_of(self.values or {})


class RetractionIn(Request):
    reason: Reason = Field(description="Kept in the ledger.", examples=["the vial was mislabelled"])


class UploadRetractionIn(Request):
    upload: int = Field(ge=1, lt=2**31, description="The `upload` that the report was answered with.")
    reason: Reason = Field(description="Kept in the ledger.", examples=["the sheet of another study"])


class UploadRetractionOut(Shape):
    upload: int
    retracted: tuple[int, ...] = Field(description="The observations that count no more.")
    affected_batches: tuple[int, ...] = Field(description="Batches computed with them. They stand.")


class RevisionOut(Shape):
    observation: ObservationOut
    affected_batches: tuple[int, ...] = Field(
        description="Batches computed with the earlier value. They stand; the next batch uses the new value."
    )


def observation_out(keyed: KeyedObservation) -> ObservationOut:
    observation = keyed.observation
    return ObservationOut(
        observation=observation.number,
        version=observation.version,
        state=observation.state,
        key=keyed.key,
        value=keyed.value,
        suggestion=text_of(observation.suggestion),
        replicate=observation.replicate,
        ref=observation.ref,
        measured_at=observation.measured_at,
        measured_by=observation.measured_by,
        note=observation.note,
        reason=observation.reason,
        actor=observation.actor,
        recorded_at=observation.recorded_at,
        seq=observation.seq,
        origin=keyed.origin,
        values=_measured_out(observation.values),
        missing=keyed.missing,
    )


def result_columns(quantities: Sequence[str]) -> list[str]:
    """The header of a table of results: `value` and its `std`, or two columns for each of several quantities."""
    named = [name for name in ObservationOut.model_fields if name not in ("values", "missing")]
    if len(quantities) == 1:
        return [*named, "std"]
    before, after = named[: named.index("value")], named[named.index("value") + 1 :]
    return [*before, *quantities, *after, *(f"{name} std" for name in quantities)]


def result_cells(result: ObservationOut, quantities: Sequence[str]) -> list[Any]:
    """The cells of a result under `result_columns`."""
    cells = result.model_dump(exclude={"values", "missing"})
    values = [result.values.get(name) for name in quantities]
    errors = [None if measured is None else measured.std for measured in values]
    if len(quantities) == 1:
        return [*cells.values(), *errors]
    numbers = [None if measured is None else measured.value for measured in values]
    position = list(cells).index("value")
    others = list(cells.values())
    return [*others[:position], *numbers, *others[position + 1 :], *errors]


def upload_retraction_out(retraction: UploadRetraction) -> UploadRetractionOut:
    return UploadRetractionOut(
        upload=retraction.upload, retracted=retraction.observations, affected_batches=retraction.affected_batches
    )


def revision_out(revision: Revision) -> RevisionOut:
    return RevisionOut(observation=observation_out(revision.current), affected_batches=revision.affected_batches)


def only_value(values: Outcome) -> float | None:
    if len(values) != 1:
        return None
    [measured] = values.values()
    return measured.value


def _measured_out(values: Outcome) -> dict[str, MeasuredOut]:
    return {name: MeasuredOut(value=measured.value, std=measured.std) for name, measured in values.items()}


def text_of(suggestion: SuggestionId | None) -> str | None:
    return None if suggestion is None else str(suggestion)
