"""Numbers as people write them: `83,1`, `1 234.5`, `−5`, `83 %`; understood with certainty, or refused with words.

A number such as 1,234 means one thing with decimal points and another with decimal commas. Each cell is therefore read
under both signs, and the whole file decides which sign it uses.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Literal

from app.domain.errors import Finding
from app.services.intake.cell_types import Flaw

DecimalSign = Literal[".", ","]

_SIGNS: tuple[DecimalSign, ...] = (".", ",")
_NUMBER = re.compile(r"([+-]?)((?:[0-9][0-9 '.,]*)|[.,][0-9]+)(?:[eE]([+-]?[0-9]{1,4}))?(?![0-9eE])\s*(.*)", re.DOTALL)
_NOTHING = re.compile(r"n\.?/?[ad]\.?|nan|none|null|-+|\?+|#.*|missing|failed|not measured", re.IGNORECASE)
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*)?"
    r"|[0-9]{1,2}([./])[0-9]{1,2}\1[0-9]{2,4}"
    r"|[0-9]{1,2}-[^\W\d_]{3,}\.?(?:-[0-9]+)?"
)
_BOUND = re.compile(r"[<>≤≥~≈±].*", re.DOTALL)
_GROUPS = {
    ".": re.compile(r"([1-9][0-9]{0,2}(?:[ ,'][0-9]{3})+|[0-9]*)(?:\.([0-9]*))?"),
    ",": re.compile(r"([1-9][0-9]{0,2}(?:[ .'][0-9]{3})+|[0-9]*)(?:,([0-9]*))?"),
}
_ONE_GROUP = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")
_WORDS = re.compile(
    r"(?:percent|per|cent|ppm|ppb|rpm|part|point|count|unit|equiv|equivalent|degree|celsius|kelvin|day|hour|minute|second|gram|"
    r"kilogram|milligram|litre|liter|millilitre|milliliter|metre|meter|volt|bar)s?",
    re.IGNORECASE,
)
"""Units that are written out. In a symbol, case has a meaning: mPa is not MPa, and s is not S."""
_TRANSLATION = str.maketrans({"−": "-", "–": "-", "—": "-", "\xa0": " ", "\u202f": " ", "\u2009": " ", "’": "'"})

NUMBER = Flaw(
    "number",
    "Write a plain number such as 83.1. If nothing was measured, leave `value` empty and say why in `failed`.",
)
NOT_MEASURED = Flaw(
    "not-measured", "If nothing was measured, leave `value` empty. If the measurement failed, say why in `failed`."
)
BOUND = Flaw(
    "bound",
    "A limit such as <0.1 is not a value. Write the limit itself as the value and explain it in `note`,"
    " or leave `value` empty and say why in `failed`.",
)
MIXED = Flaw(
    "mixed-decimal-signs",
    "Other rows use the other decimal sign. Write all values with decimal points, or all with decimal commas.",
)
DATE = Flaw(
    "date",
    "This is a date. A spreadsheet program may have made it of a number: format the cell as a number and retype it.",
)
AMBIGUOUS = Flaw(
    "ambiguous-number", "This can be read as a thousand or as a fraction. Write it without a thousands separator."
)
_NO_NUMBERS = {_NOTHING: NOT_MEASURED, _BOUND: BOUND, _DATE: DATE}


@dataclass(frozen=True)
class WrittenNumber:
    """A number as written: its text under each decimal sign that it can have."""

    readings: Mapping[DecimalSign, str]
    one_group: bool  # such as 1.234: a thousand under one sign and a fraction under the other

    def value(self, sign: DecimalSign) -> float | Flaw:
        text = self.readings[sign]
        if self.one_group and "." not in text:
            return AMBIGUOUS
        return float(text) if isfinite(float(text)) else NUMBER


def read_number(cell: str, unit: str | None = None, *, any_unit: bool = False) -> WrittenNumber | Flaw:
    """The number in a cell, which may name the unit; what is wrong with the cell if it holds none."""
    text = cell.translate(_TRANSLATION).strip()
    for pattern, flaw in _NO_NUMBERS.items():
        if pattern.fullmatch(text):
            return flaw
    match = _NUMBER.fullmatch(text)
    if match is None:
        return NUMBER
    sign, digits, exponent, rest = match.groups()
    digits = digits.strip()
    readings = {decimal: number for decimal in _SIGNS if (number := _digits(digits, decimal)) is not None}
    if not readings:
        return NUMBER
    if rest and not any_unit and _plain_unit(rest) != _plain_unit(unit or ""):
        return _unit_flaw(unit)
    suffix = f"e{exponent}" if exponent else ""
    texts = {decimal: f"{sign}{number}{suffix}" for decimal, number in readings.items()}
    return WrittenNumber(texts, one_group=_ONE_GROUP.fullmatch(digits) is not None)


def read_values(
    cells: Iterable[tuple[int, str]], unit: str | None, default: DecimalSign, column: str = "value"
) -> tuple[dict[int, float], list[Finding]]:
    """The values of a column by row, and what is wrong. `default` decides if every cell fits both decimal signs."""
    numbers: dict[int, WrittenNumber] = {}
    values: dict[int, float] = {}
    findings = []
    for row, cell in cells:
        number = read_number(cell, unit)
        if isinstance(number, Flaw):
            findings.append(_finding(number, row, column))
        else:
            numbers[row] = number
    sign = _sign_of(numbers.values(), default)
    for row, number in numbers.items():
        value = _value_of(number, sign)
        if isinstance(value, Flaw):
            findings.append(_finding(value, row, column))
        else:
            values[row] = value
    return values, findings


def read_levels(cells: Sequence[str], default: DecimalSign) -> dict[str, float | Flaw]:
    """As `read_values`, for the different cells of a candidate list's column, whose unit is in its header."""
    numbers = {cell: read_number(cell) for cell in cells}
    sign = _sign_of((number for number in numbers.values() if isinstance(number, WrittenNumber)), default)
    return {cell: _value_of(number, sign) for cell, number in numbers.items()}


def may_equal(cell: str, expected: float) -> bool | None:
    """Whether a cell shows this number, to the digits that it shows; None if the cell is not a number."""
    number = read_number(cell, any_unit=True)
    if isinstance(number, Flaw):
        return None
    return any(_shows(Decimal(text), expected) for text in number.readings.values())


def may_be_thousand(cell: str) -> bool:
    """Whether a number such as 1.234 is a thousand under one decimal sign and a fraction under the other."""
    return _ONE_GROUP.fullmatch(cell.strip().lstrip("+-")) is not None


def same_unit(written: str, unit: str | None) -> bool:
    return _plain_unit(written) == _plain_unit(unit or "")


def _shows(shown: Decimal, expected: float) -> bool:
    """Spreadsheets round what they show: equal within half a unit of the last digit."""
    exponent = shown.as_tuple().exponent
    half = Decimal(5).scaleb(exponent - 1) if isinstance(exponent, int) else Decimal(0)
    return abs(shown - Decimal(expected)) <= half + abs(Decimal(expected)) * Decimal("1e-9")


def _sign_of(numbers: Iterable[WrittenNumber], default: DecimalSign) -> DecimalSign:
    """The one sign of most cells that fit only one."""
    only = [next(iter(number.readings)) for number in numbers if len(number.readings) == 1]
    if not only:
        return default
    return max(_SIGNS, key=lambda sign: (only.count(sign), sign == default))


def _value_of(number: WrittenNumber | Flaw, sign: DecimalSign) -> float | Flaw:
    if isinstance(number, Flaw):
        return number
    return number.value(sign) if sign in number.readings else MIXED


def _digits(text: str, sign: DecimalSign) -> str | None:
    match = _GROUPS[sign].fullmatch(text)
    if match is None or not any(map(str.isdigit, text)):
        return None
    whole, fraction = re.sub(r"[^0-9]", "", match[1]) or "0", match[2]
    return whole if fraction is None else f"{whole}.{fraction or '0'}"


def _plain_unit(unit: str) -> str:
    """A unit without spaces. Case matters, but for words and for the litre, whose symbol is l as well as L."""
    text = unicodedata.normalize("NFKC", unit)
    text = re.sub(r"[^\W\d_]+", lambda run: run[0].casefold() if _WORDS.fullmatch(run[0]) else run[0], text)
    return "".join(text.split()).replace("l", "L")


def _unit_flaw(unit: str | None) -> Flaw:
    where = f"This study measures in {unit}. Write the value in {unit}" if unit else "Write the number alone"
    return Flaw("unit", f"{where}, without another unit or text.")


def _finding(flaw: Flaw, row: int, column: str) -> Finding:
    return Finding(flaw.code, flaw.message.replace("`value`", f"`{column}`"), row=row, column=column)
