"""Observations on the wire."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from app.api.schemas.candidates import FindingOut, finding_out
from app.api.schemas.shape import Line, Moment, Reason, Request, Shape, Text
from app.domain.clock import stamp
from app.domain.observations import Observation
from app.domain.reports import Failure, Report
from app.services.correct import Corrected
from app.services.report import Reported

Value = Annotated[float, Field(description="A finite number, kept exactly.")]
SuggestionId = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,8}-[1-9][0-9]{0,8}$", examples=["3-1"])]


class FailureIn(Request):
    reason: Reason
    retry: bool = Field(default=True, description="Whether the candidate may be suggested again.")


class AbandonedIn(Request):
    reason: Reason


class ReportIn(Request):
    """One result, about a `suggestion` or a `candidate`: its `value`, its `values`, or why there is none."""

    suggestion: SuggestionId | None = None
    candidate: Line | None = Field(default=None, min_length=1, description="The candidate's key.", examples=["A7-42"])
    value: Value | None = Field(default=None, examples=[0.83])
    values: list[Value] | None = Field(default=None, min_length=1, max_length=10_000, description="Replicates.")
    replicate: int | None = Field(default=None, ge=1, le=100_000, description="Which of the replicates this is.")
    failed: FailureIn | None = None
    abandoned: AbandonedIn | None = None
    measured_at: Moment | None = None
    measured_by: Line | None = None
    note: Text | None = None
    ref: Line | None = Field(default=None, min_length=1, description="Your own number; twice is once.")

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.suggestion is None) == (self.candidate is None):
            raise ValueError("Give `suggestion` or `candidate`, one of the two.")
        said = [part for part in (self.value, self.values, self.failed, self.abandoned) if part is not None]
        if len(said) != 1:
            raise ValueError("Give one of `value`, `values`, `failed` and `abandoned`.")
        if self.ref is not None and self.values is not None and len(self.values) > 1:
            raise ValueError("A `ref` names one measurement; give each value its own.")
        return self

    def report(self, row: int | None = None) -> Report:
        values = tuple(self.values) if self.values is not None else () if self.value is None else (self.value,)
        return Report(
            suggestion=place_of(self.suggestion) if self.suggestion else None,
            candidate=self.candidate,
            values=values,
            replicate=self.replicate,
            failed=Failure(self.failed.reason, self.failed.retry) if self.failed else None,
            abandoned=self.abandoned.reason if self.abandoned else None,
            measured_at=stamp(self.measured_at) if self.measured_at else None,
            measured_by=self.measured_by,
            note=self.note,
            ref=self.ref,
            row=row,
        )


class ReportsIn(Request):
    observations: list[ReportIn] = Field(min_length=1, max_length=200_000)


class PlacedOut(Shape):
    status: str = Field(description="recorded, duplicate (came before), skipped, failed or abandoned.")
    observation: int | None = Field(description="Its number.")
    key: str
    suggestion: str | None
    replicate: int | None


class ReportedOut(Shape):
    stored: bool = Field(description="False for a dry run.")
    recorded: int
    results: tuple[PlacedOut, ...]
    warnings: tuple[FindingOut, ...]


class ObservationOut(Shape):
    observation: int
    version: int
    state: str = Field(description="recorded, superseded or retracted.")
    key: str
    value: float
    suggestion: str | None
    replicate: int | None
    ref: str | None
    measured_at: str | None
    measured_by: str | None
    note: str | None
    reason: str | None = Field(description="Of a correction or retraction.")
    actor: str = Field(description="The id of the API key it came with.")
    recorded_at: str
    seq: int


class ObservationPage(Shape):
    observations: tuple[ObservationOut, ...]
    next: int | None


class CorrectionIn(Request):
    value: Value
    reason: Reason = Field(description="Kept in the ledger.", examples=["the decimal point had slipped"])


class RetractionIn(Request):
    reason: Reason = Field(description="Kept in the ledger.", examples=["the vial was mislabelled"])


class CorrectedOut(Shape):
    observation: ObservationOut
    affected_batches: tuple[int, ...] = Field(description="They stand; the next batch uses the new value.")


def place_of(suggestion: str) -> tuple[int, int]:
    batch, _, rank = suggestion.partition("-")
    return int(batch), int(rank)


def reported_out(reported: Reported, *, stored: bool = True) -> ReportedOut:
    results = tuple(
        PlacedOut(
            status=one.status,
            observation=one.observation,
            key=one.key,
            suggestion=_suggestion(one.batch, one.rank),
            replicate=one.replicate,
        )
        for one in reported.placed
    )
    recorded = sum(one.status == "recorded" for one in reported.placed)
    warnings = tuple(finding_out(finding) for finding in reported.warnings)
    return ReportedOut(stored=stored, recorded=recorded, results=results, warnings=warnings)


def observation_out(one: Observation, key: str) -> ObservationOut:
    same = {name: getattr(one, name) for name in ObservationOut.model_fields if hasattr(one, name)}
    return ObservationOut(**same, observation=one.number, key=key, suggestion=_suggestion(one.batch, one.rank))


def corrected_out(corrected: Corrected, key: str) -> CorrectedOut:
    return CorrectedOut(
        observation=observation_out(corrected.observation, key), affected_batches=corrected.affected_batches
    )


def _suggestion(batch: int | None, rank: int | None) -> str | None:
    return None if batch is None else f"{batch}-{rank}"
