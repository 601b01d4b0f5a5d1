"""The rules for texts that name something: columns and keys."""

import re
from collections.abc import Sequence

from app.services.intake.cells import Flaw
from app.services.intake.findings import Findings
from app.services.intake.limits import Limits

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
_SHOWN_LENGTH = 200


def flaw(text: str, longest: int) -> Flaw | None:
    """The rule that a name or a key breaks, as code and message, if any."""
    if not text:
        return "empty", "is empty; give it a text"
    if len(text) > longest:
        return "too-long", f"is longer than {longest} characters; shorten it"
    if _UNPRINTABLE.search(text):
        return "control-character", "holds a control character or a broken character; remove it"
    if text != text.strip():
        return "outer-space", "begins or ends with a space; remove it"
    return None


def shown_name(name: str) -> str | None:
    """The name, if it may stand in an error message."""
    return None if flaw(name, _SHOWN_LENGTH) else name


def check_names(names: Sequence[str], limits: Limits, findings: Findings, *, row: int | None = None) -> None:
    """Column names are present, printable and unique; `row` is where they stand."""
    if not names:
        findings.error("no-features", "there is no column; at least one feature is needed", row=row)
    if len(names) > limits.columns:
        findings.error("too-many-columns", f"{len(names)} columns; the limit is {limits.columns}", row=row)
        return
    first: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        broken = flaw(name, limits.name_length)
        if broken:
            findings.error(f"name-{broken[0]}", f"the name of column {position} {broken[1]}", row=row)
        elif name in first:
            findings.error(
                "name-twice",
                f"columns {first[name]} and {position} have the same name; rename one",
                row=row,
                column=name,
            )
        first.setdefault(name, position)
