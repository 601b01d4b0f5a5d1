"""What is wrong, or merely odd, in something uploaded, and where."""

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
