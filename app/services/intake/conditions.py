"""Compares the conditions in a sheet's row with the candidate that the row names.

A sheet whose column was sorted alone, or shifted by a row, names one candidate and describes another. A cell that
cannot be compared (empty, a date that a spreadsheet made of a text) says nothing either way.
"""

import re
from collections.abc import Mapping
from math import isfinite

from app.domain.candidates import Candidate, CellValue
from app.services.intake.cell_types import parse_number
from app.services.intake.measured_values import may_equal

_TRUE = frozenset({"true", "yes", "1", "wahr", "vrai", "verdadero", "vero", "waar"})
_FALSE = frozenset({"false", "no", "0", "falsch", "faux", "falso", "onwaar"})
_DATE_LIKE = re.compile(r"[0-9]{1,4}[./-][0-9]{1,2}(?:[./-][0-9]{0,4})?.*|[0-9]{1,2}[-. ][^\W\d_]{3,}.*")


def contradictions(candidate: Candidate, conditions: Mapping[str, str]) -> list[str]:
    """The names of the columns whose cells are not those of the candidate."""
    values = {**candidate.attributes, **candidate.features}
    return [name for name, cell in conditions.items() if name in values and not _may_show(cell, values[name])]


def _may_show(cell: str, value: CellValue) -> bool:
    if isinstance(value, bool):
        text = cell.casefold()
        return text not in (_FALSE if value else _TRUE)
    if isinstance(value, str):
        return _may_show_text(cell, value)
    if value is None:
        return True
    return may_equal(cell, value) is not False


def _may_show_text(cell: str, text: str) -> bool:
    """Spreadsheets turn 1-2 into a date and 0.50 into 0.5; other texts they leave alone."""
    if " ".join(cell.split()).casefold() == " ".join(text.split()).casefold():
        return True
    if _DATE_LIKE.fullmatch(text):
        return _DATE_LIKE.fullmatch(cell) is not None
    number = parse_number(text)
    return isfinite(number) and may_equal(cell, number) is True
