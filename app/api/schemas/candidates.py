"""Candidates on the wire."""

from pydantic import Field

from app.api.schemas.columns import ColumnOut
from app.api.schemas.shape import Line, Reason, Request, Shape
from app.domain import limits
from app.domain.candidates import Candidate, CellValue
from app.domain.errors import Finding
from app.services.use_cases.candidates import CandidatePage, Switched
from app.services.workflows.upload import UploadReceipt


class FindingOut(Shape):
    code: str
    message: str
    row: int | None = Field(description="As a spreadsheet counts: the header is row 1.")
    column: str | None
    pointer: str | None


class UploadReceiptOut(Shape):
    """What the upload did, or would do."""

    stored: bool = Field(description="False for a dry run, and when the same list was there already.")
    added: int
    candidates: int = Field(description="How many the study has after it.")
    columns: tuple[ColumnOut, ...]
    warnings: tuple[FindingOut, ...]


class CandidateOut(Shape):
    number: int = Field(description="Its place in the list, from 0.")
    key: str = Field(examples=["A7-42"])
    features: dict[str, CellValue] = Field(examples=[{"temperature": 90.0, "solvent": "DMF"}])
    attributes: dict[str, CellValue]
    available: bool
    reason: str | None = Field(description="Why it is not available.")
    cost: float | None = Field(description="Of one measurement; null if no column says.")
    duration: float | None = Field(description="Of one measurement; null if no column says.")
    reserved_by: str | None = Field(description="The worker who will measure it without a batch.")


class QuantityPredictionOut(Shape):
    mean: float
    std: float
    lower: float
    upper: float


class PredictionOut(Shape):
    """What the model says of a candidate; with several quantities, `mean` to `upper` are about the first."""

    mean: float
    std: float
    lower: float = Field(
        description="At least this: with 95 % probability (auto mode), or with the certificate's confidence (theory)."
    )
    upper: float = Field(description="At most this, likewise.")
    counts: int = Field(description="How often it was measured.")
    pending: int = Field(description="Measurements that are pending.")
    quantities: dict[str, QuantityPredictionOut] = Field(description="Of several quantities, by name.")
    feasible: float | None = Field(description="Chance that it meets the constraints.")
    success: float | None = Field(description="Chance that a measurement gives a value, learnt from failures.")
    on_front: bool | None = Field(description="Whether it can still be on the front of several objectives.")
    front_chance: float | None = Field(
        description="Chance of being on that front, by 256 joint draws of the 300 most promising candidates;"
        " 0 for all others."
    )


class CandidatePageOut(Shape):
    total: int = Field(description="How many meet the filters.")
    candidates: tuple[CandidateOut, ...]
    posterior: tuple[PredictionOut, ...] | None = Field(description="Of each, with `posterior=true`.")


class CandidateChange(Request):
    available: bool
    reason: Reason | None = Field(default=None, description="Needed to switch off.", examples=["out of stock"])


class SwitchIn(CandidateChange):
    """Which candidates to switch: those with these keys, or those that meet the conditions."""

    keys: list[str] | None = Field(default=None, min_length=1, max_length=limits.MOST_NAMED, examples=[["A7", "A9"]])
    where: list[Line] | None = Field(
        default=None, min_length=1, max_length=limits.MOST_CONDITIONS, examples=[["solvent = DMF"]]
    )


class SwitchedOut(Shape):
    switched: int = Field(description="Candidates whose state has changed; the others were in that state already.")
    available: int = Field(description="How many candidates can be suggested now.")


def switched_out(switched: Switched) -> SwitchedOut:
    return SwitchedOut.model_validate(switched)


def receipt_out(receipt: UploadReceipt) -> UploadReceiptOut:
    return UploadReceiptOut(
        stored=receipt.stored,
        added=receipt.added,
        candidates=receipt.study.candidates,
        columns=tuple(ColumnOut.model_validate(column) for column in receipt.study.columns),
        warnings=tuple(finding_out(finding) for finding in receipt.warnings),
    )


def finding_out(finding: Finding) -> FindingOut:
    return FindingOut.model_validate(finding)


def candidate_out(candidate: Candidate) -> CandidateOut:
    return CandidateOut.model_validate(candidate)


def page_out(page: CandidatePage) -> CandidatePageOut:
    predictions = page.predictions
    return CandidatePageOut(
        total=page.total,
        candidates=tuple(candidate_out(candidate) for candidate in page.candidates),
        posterior=None if predictions is None else tuple(PredictionOut.model_validate(p) for p in predictions),
    )
