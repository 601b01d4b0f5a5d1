"""Candidates on the wire."""

from pydantic import Field

from app.api.schemas.shape import Reason, Request, Shape
from app.api.schemas.studies import ColumnOut
from app.domain.findings import Finding
from app.services.candidate_page import Page
from app.services.candidate_set import Candidate
from app.services.candidates import Receipt


class FindingOut(Shape):
    code: str
    message: str
    row: int | None = Field(description="As a spreadsheet counts: the header is row 1.")
    column: str | None
    pointer: str | None


class ReceiptOut(Shape):
    """What the upload did, or would do."""

    stored: bool = Field(description="False for a dry run, and when the same list was there already.")
    added: int
    candidates: int = Field(description="How many the study has after it.")
    columns: tuple[ColumnOut, ...]
    warnings: tuple[FindingOut, ...]


class CandidateOut(Shape):
    number: int = Field(description="Its place in the list, from 0.")
    key: str = Field(examples=["A7-42"])
    features: dict[str, float | bool | str | None] = Field(examples=[{"temperature": 90.0, "solvent": "DMF"}])
    attributes: dict[str, float | bool | str | None]
    available: bool
    reason: str | None = Field(description="Why it is not available.")


class PosteriorOut(Shape):
    """What the model believes."""

    mean: float
    std: float
    lower: float = Field(description="With the certificate's confidence it is at least this.")
    upper: float = Field(description="With the certificate's confidence it is at most this.")
    counts: int = Field(description="How often it was measured.")
    pending: int = Field(description="Measurements waited for.")


class CandidatePage(Shape):
    total: int = Field(description="How many meet the filters.")
    candidates: tuple[CandidateOut, ...]
    posterior: tuple[PosteriorOut, ...] | None = Field(description="Of each, with `posterior=true`.")


class CandidateChange(Request):
    available: bool
    reason: Reason | None = Field(default=None, description="Needed to switch off.", examples=["out of stock"])


def receipt_out(receipt: Receipt) -> ReceiptOut:
    return ReceiptOut(
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


def page_out(page: Page) -> CandidatePage:
    shown = tuple(candidate_out(one) for one in page.candidates)
    believed = None if page.posterior is None else tuple(PosteriorOut(**one) for one in page.posterior)
    return CandidatePage(total=page.total, candidates=shown, posterior=believed)
