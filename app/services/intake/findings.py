"""Collects what is found while an upload is read, so that one answer names every mistake."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from app.domain.errors import InvalidCandidates
from app.domain.findings import Finding


class Findings:
    """Errors (the first hundred and their total) and warnings of one upload."""

    def __init__(self) -> None:
        self._errors: list[Finding] = []
        self._total = 0
        self._warnings: list[Finding] = []

    def error(
        self, code: str, message: str, *, row: int | None = None, column: str | None = None, pointer: str | None = None
    ) -> None:
        """Note one mistake and go on reading."""
        self._total += 1
        if len(self._errors) < InvalidCandidates.SHOWN:
            self._errors.append(Finding(code, message, row, column, pointer))

    def errors_in_rows(self, code: str, message: str, rows: npt.NDArray[np.int64], column: str | None) -> None:
        """Note the same mistake in many rows of one column."""
        shown = max(0, InvalidCandidates.SHOWN - len(self._errors))
        self._errors.extend(Finding(code, message, int(row), column) for row in rows[:shown])
        self._total += len(rows)

    def warning(self, code: str, message: str, *, row: int | None = None, column: str | None = None) -> None:
        """Note something odd that does not stop the upload."""
        self._warnings.append(Finding(code, message, row, column))

    def include(self, refused: InvalidCandidates) -> None:
        """Note the mistakes of a part that was refused, and go on with the next part."""
        self._errors.extend(refused.findings[: InvalidCandidates.SHOWN - len(self._errors)])
        self._total += refused.total

    def stop_if_any(self) -> None:
        """Refuse the upload if a mistake was noted."""
        if self._total:
            raise InvalidCandidates(_in_reading_order(self._errors), self._total)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What was odd, in reading order."""
        return tuple(_in_reading_order(self._warnings))


def refuse(
    code: str, message: str, *, row: int | None = None, column: str | None = None, pointer: str | None = None
) -> InvalidCandidates:
    """The exception for a mistake after which nothing more can be read."""
    return InvalidCandidates([Finding(code, message, row, column, pointer)])


def _in_reading_order(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: finding.row or 0)
