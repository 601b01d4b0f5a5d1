"""What a text cell looks like: a number, a boolean, nothing at all, or just text."""

import re
from enum import IntEnum
from math import isfinite, nan

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9][0-9. ]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_BOOLEANS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
_DECLARED_BOOLEANS = {**_BOOLEANS, "1": 1.0, "0": 0.0}


class Looks(IntEnum):
    """The one look of a cell, by its text alone."""

    MISSING = 0
    NUMBER = 1
    NOT_FINITE = 2
    DECIMAL_COMMA = 3
    BOOLEAN = 4
    TEXT = 5


def look(cell: str) -> Looks:
    """Classify one cell; spaces around it do not count."""
    text = cell.strip()
    if not text:
        return Looks.MISSING
    if _NUMBER.fullmatch(text):
        return Looks.NUMBER if isfinite(float(text)) else Looks.NOT_FINITE
    if _NOT_FINITE.fullmatch(text):
        return Looks.NOT_FINITE
    if _DECIMAL_COMMA.fullmatch(text):
        return Looks.DECIMAL_COMMA
    return Looks.BOOLEAN if text.lower() in _BOOLEANS else Looks.TEXT


def number(cell: str) -> float:
    """The finite number a cell spells, or NaN."""
    return float(cell) if look(cell) is Looks.NUMBER else nan


def truth(cell: str) -> float:
    """1.0 or 0.0 for a cell of a boolean column, where 1 and 0 do as well, or NaN."""
    return _DECLARED_BOOLEANS.get(cell.strip().lower(), nan)
