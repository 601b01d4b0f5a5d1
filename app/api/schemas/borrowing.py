"""Results of earlier studies on the wire."""

from pydantic import Field

from app.api.schemas.shape import Name, Reason, Request, Shape
from app.domain.limits import MOST_EARLIER
from app.services.use_cases.borrowing import Borrowed


class BorrowIn(Request):
    """Which studies to borrow from; an empty list borrows from none any more."""

    sources: list[Name] = Field(
        alias="from",
        max_length=MOST_EARLIER,
        description="Earlier studies. Their results are copied as they are now, in the columns that both have.",
        examples=[["suzuki-2025"]],
    )
    reason: Reason | None = Field(default=None, description="Kept in the ledger.")


class BorrowedStudyOut(Shape):
    study: str
    seq: int = Field(description="The last event of that study that was known.")
    head: str = Field(description="The hash of that event.")
    results: int = Field(description="That were copied.")
    usable: int = Field(description="Those that can be used: molecules that are not in this study's list cannot.")
    columns: tuple[str, ...] = Field(description="That both studies have.")
    missing: tuple[str, ...] = Field(description="Features of this study that the earlier one does not have.")
    importance: float | None = Field(
        description="How much of what is expected here depends on it, from 0 to 1; null until something is measured."
    )
    words: str


class BorrowedOut(Shape):
    borrowed: tuple[BorrowedStudyOut, ...]


def borrowed_out(borrowed: tuple[Borrowed, ...]) -> BorrowedOut:
    return BorrowedOut(
        borrowed=tuple(
            BorrowedStudyOut(
                study=entry.earlier.study,
                seq=entry.earlier.seq,
                head=entry.earlier.head,
                results=len(entry.earlier.values),
                usable=entry.usable,
                columns=entry.columns,
                missing=entry.missing,
                importance=entry.importance,
                words=entry.words,
            )
            for entry in borrowed
        )
    )
