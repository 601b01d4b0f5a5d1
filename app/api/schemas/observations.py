"""Observations on the wire."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from app.api.schemas.candidates import FindingOut, finding_out
from app.api.schemas.shape import Line, Moment, Origin, Reason, Request, Shape, Text
from app.domain.batches import SuggestionId
from app.domain.clock import stamp
from app.domain.limits import MOST_REPORTS
from app.domain.observations import Failure, Report
from app.services.use_cases.observations import KeyedObservation, Revision, UploadRetraction
from app.services.use_cases.report import ReportReceipt

Value = Annotated[float, Field(description="A finite number, kept exactly.")]
SuggestionText = Annotated[
    str, Field(pattern=r"^ ?[Bb]? ?[1-9][0-9]{0,8} ?- ?[Ss]? ?[1-9][0-9]{0,8} ?$", examples=["B3-S1"])
]


class FailureIn(Request):
    reason: Reason
    retry: bool = Field(default=True, description="Whether the candidate may be suggested again.")


class AbandonedIn(Request):
    reason: Reason


class ReportIn(Request):
    """One result, about a `suggestion` or a `candidate`: its `value`, its `values`, or why there is none."""

    suggestion: SuggestionText | None = None
    candidate: Line | None = Field(default=None, min_length=1, description="The candidate's key.", examples=["A7-42"])
    value: Value | None = Field(default=None, examples=[0.83])
    values: list[Value] | None = Field(default=None, min_length=1, max_length=10_000, description="Replicates.")
    replicate: int | None = Field(default=None, ge=1, le=100_000, description="Which of the replicates this is.")
    failed: FailureIn | None = None
    abandoned: AbandonedIn | None = None
    measured_at: Moment | None = None
    measured_by: Line | None = None
    note: Text | None = None
    ref: Line | None = Field(default=None, min_length=1, description="Your own number; reported twice, it counts once.")

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.suggestion is None) == (self.candidate is None):
            raise ValueError("Give either `suggestion` or `candidate`.")
        given = [part for part in (self.value, self.values, self.failed, self.abandoned) if part is not None]
        if len(given) != 1:
            raise ValueError("Give exactly one of `value`, `values`, `failed` and `abandoned`.")
        if self.ref is not None and self.values is not None and len(self.values) > 1:
            raise ValueError("A `ref` names one measurement. Report each value with a `ref` of its own.")
        return self

    def report(self, pointer: str | None = None) -> Report:
        """As the use case takes it; `pointer` is its place in a list."""
        values = tuple(self.values) if self.values is not None else () if self.value is None else (self.value,)
        return Report(
            suggestion=SuggestionId.parse(self.suggestion) if self.suggestion else None,
            candidate=self.candidate,
            values=values,
            replicate=self.replicate,
            failed=Failure(self.failed.reason, self.failed.retry) if self.failed else None,
            abandoned=self.abandoned.reason if self.abandoned else None,
            measured_at=stamp(self.measured_at) if self.measured_at else None,
            measured_by=self.measured_by,
            note=self.note,
            ref=self.ref,
            pointer=pointer,
        )


class ReportsIn(Request):
    observations: list[ReportIn] = Field(min_length=1, max_length=MOST_REPORTS)


class UnreadReportsIn(Request):
    """As `ReportsIn`, before its reports are looked at one by one: a list has as many mistakes as items."""

    observations: list[Any] = Field(min_length=1, max_length=MOST_REPORTS)


class MatchOut(Shape):
    row: int | None = Field(description="Of the sheet.")
    status: str = Field(description="recorded, duplicate (reported before, not stored again), failed or abandoned.")
    value: float | None = Field(description="As it was understood.")
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
    value: float
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


class ObservationPage(Shape):
    observations: tuple[ObservationOut, ...]
    next: int | None


class CorrectionIn(Request):
    value: Value
    reason: Reason = Field(description="Kept in the ledger.", examples=["the decimal point had slipped"])


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


def report_receipt_out(receipt: ReportReceipt, *, stored: bool) -> ReportReceiptOut:
    return ReportReceiptOut(
        stored=stored,
        recorded=sum(match.status == "recorded" for match in receipt.matches),
        upload=receipt.upload if stored else None,
        results=tuple(
            MatchOut(
                row=match.report.row,
                status=match.status,
                value=match.value,
                observation=match.observation,
                key=match.key,
                suggestion=_text_of(match.suggestion),
                replicate=match.replicate,
            )
            for match in receipt.matches
        ),
        warnings=tuple(finding_out(finding) for finding in receipt.warnings),
    )


def observation_out(keyed: KeyedObservation) -> ObservationOut:
    observation = keyed.observation
    return ObservationOut(
        observation=observation.number,
        version=observation.version,
        state=observation.state,
        key=keyed.key,
        value=keyed.value,
        suggestion=_text_of(observation.suggestion),
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
    )


def upload_retraction_out(retraction: UploadRetraction) -> UploadRetractionOut:
    return UploadRetractionOut(
        upload=retraction.upload, retracted=retraction.observations, affected_batches=retraction.affected_batches
    )


def revision_out(revision: Revision) -> RevisionOut:
    return RevisionOut(observation=observation_out(revision.current), affected_batches=revision.affected_batches)


def _text_of(suggestion: SuggestionId | None) -> str | None:
    return None if suggestion is None else str(suggestion)
