"""What is wrong, or merely odd, in something uploaded, and where."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing found in an upload; it names the place, the rule and the fix, never the value."""

    code: str
    message: str
    row: int | None = None
    """As a person with a spreadsheet counts: the header, where there is one, is row 1."""
    column: str | None = None
    pointer: str | None = None
    """The place in a JSON document, as a JSON pointer."""


class InvalidUpload(Exception):
    """An upload was refused as a whole; the first findings say why, `total` how many there are."""

    code = "invalid-upload"
    SHOWN = 100

    def __init__(self, findings: Sequence[Finding], total: int | None = None) -> None:
        self.findings = tuple(findings[: self.SHOWN])
        self.total = len(findings) if total is None else total
        super().__init__(f"{self.total} finding(s), the first: {self.findings[0].code}")
