"""Collects the mistakes found while an upload is read, so that one answer names them all."""

from collections.abc import Iterable

from app.arrays import IndexArray
from app.domain.errors import Finding, InvalidCandidates


class Findings:
    """The errors of one upload (the first hundred, and how many there are) and its warnings."""

    def __init__(self) -> None:
        self._errors: list[Finding] = []
        self._total = 0
        self._warnings: list[Finding] = []

    def error(
        self, code: str, message: str, *, row: int | None = None, column: str | None = None, pointer: str | None = None
    ) -> None:
        """Record one mistake; reading goes on."""
        self._total += 1
        if len(self._errors) < InvalidCandidates.SHOWN:
            self._errors.append(Finding(code, message, row, column, pointer))

    def errors_in_rows(self, code: str, message: str, rows: IndexArray, column: str | None) -> None:
        """Record the same mistake in many rows of one column."""
        shown = max(0, InvalidCandidates.SHOWN - len(self._errors))
        self._errors.extend(Finding(code, message, int(row), column) for row in rows[:shown])
        self._total += len(rows)

    def warning(self, code: str, message: str, *, row: int | None = None, column: str | None = None) -> None:
        """Record something unusual that does not stop the upload."""
        self._warnings.append(Finding(code, message, row, column))

    def include(self, refused: InvalidCandidates) -> None:
        """Record the mistakes of a part that was refused; reading goes on with the next part."""
        self._errors.extend(refused.findings[: InvalidCandidates.SHOWN - len(self._errors)])
        self._total += refused.total

    def stop_if_any(self) -> None:
        """Refuse the upload if a mistake was recorded."""
        if self._total:
            raise InvalidCandidates(_in_reading_order(self._errors), self._total)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The warnings in reading order."""
        return tuple(_in_reading_order(self._warnings))


def refuse(
    code: str, message: str, *, row: int | None = None, column: str | None = None, pointer: str | None = None
) -> InvalidCandidates:
    """The exception for a mistake that makes further reading pointless."""
    return InvalidCandidates([Finding(code, message, row, column, pointer)])


def _in_reading_order(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: finding.row or 0)
