"""The filter language of candidates: one condition as a person writes it, and which candidates meet it.

    temperature >= 80       solvent = DMF            solvent != "THF"          20 <= temperature <= 80
    temperature = 20..80    solvent in (DMF, THF)    solvent not in (DMSO)     supplier is missing
    measured                not measured             pending                   available

Spaces do not matter. Quotes are needed only around a name or a value that contains a sign of the language. A missing
value meets no condition except `is missing`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from operator import ge, gt, le, lt
from typing import Any

import numpy as np

from app.arrays import Array, BoolArray
from app.deadline import check_deadline
from app.domain.candidates import CellValue, Column
from app.domain.errors import Finding, Invalid
from app.modelling.ledger_state import LedgerState
from app.storage.candidate_set import CandidateSet

_SIGNS: Mapping[str, Callable[..., Array]] = {"<": lt, ">": gt, "<=": le, ">=": ge}
_SPELLINGS = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}
_SIGN = re.compile(r"""(?P<sign>>=|<=|<>|!=|==(?=[\s"'`])|=|<|>|≤|≥|≠)""")
_LIST = re.compile(r"(?P<column>.+?)\s+(?P<no>not\s+)?in\s*\((?P<values>.*)\)", re.DOTALL | re.IGNORECASE)
_MISSING = re.compile(r"(?P<column>.+?)\s+is\s+(?P<no>not\s+)?missing", re.DOTALL | re.IGNORECASE)
_BETWEEN = re.compile(r"(?P<low>[^<≤]+?)(?P<from><=|≤|<)(?P<column>.+?)(?P<to><=|≤|<)(?P<high>[^<≤]+)", re.DOTALL)
_RANGE = re.compile(r"(?P<low>[^.]*(?:\.[0-9]+)?)\.\.(?P<high>.*)", re.DOTALL)
_JOINT = re.compile(r"\s+(?:and|or|&&?|\|\|?)\s+", re.IGNORECASE)
_VALUES = re.compile(r"""\s*("[^"]*"|'[^']*'|[^,]*)\s*(?:,|$)""")
MOST_LISTED = 10
"""Columns or values that a refusal names."""

_QUOTES = ('"', "'", "`")
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}

# The numbers of the candidates that have each mark.
_MARKED: Mapping[str, Callable[[LedgerState], Any]] = {
    "measured": lambda ledger: ledger.candidates[ledger.counted],
    "pending": lambda ledger: [*(pending.candidate for pending in ledger.pending.values()), *ledger.reserved],
    "reserved": lambda ledger: list(ledger.reserved),
    "available": lambda ledger: np.delete(np.arange(ledger.rows), list(ledger.unavailable)),
}


@dataclass(frozen=True)
class FilteredTable:
    """Candidates as conditions see them: by their columns, and by what the ledger says of them."""

    candidates: CandidateSet
    columns: Sequence[Column]
    ledger: Callable[[], LedgerState]  # read only if a condition asks for a mark
    predicted: Mapping[str, Array] = field(default_factory=dict)  # what the model says of each candidate, by name

    def meeting(self, conditions: Sequence[str], pointer: str | None = None) -> BoolArray:
        """(A,) which candidates meet all of the conditions; `pointer` is where the request lists them."""
        meets = np.ones(len(self.candidates), dtype=bool)
        for meeting_one in self._one_by_one(conditions, pointer):
            meets &= meeting_one
        return meets

    def why_nothing_meets(self, conditions: Sequence[str]) -> str:
        """Which condition to change, for conditions that no candidate meets together."""
        alone = list(self._one_by_one(conditions, None))
        names = [f"condition {number}" if len(alone) > 1 else "this condition" for number in range(1, len(alone) + 1)]
        for condition, name, met in zip(conditions, names, alone, strict=True):
            if not met.any():
                return f"No candidate meets {name}.{self._range_of(condition.strip())}"
        without = [np.logical_and.reduce([*alone[:i], *alone[i + 1 :]]).sum() for i in range(len(alone))]
        best = int(np.argmax(without))
        few = "is" if without[best] == 1 else "are"
        return "No candidate meets these conditions together." + (
            f" Without {names[best]} there {few} {without[best]:,}." if without[best] else ""
        )

    def _one_by_one(self, conditions: Sequence[str], pointer: str | None) -> Iterator[BoolArray]:
        for position, condition in enumerate(conditions):
            check_deadline()
            yield self._meets(condition.strip(), None if pointer is None else f"{pointer}/{position}")

    def _range_of(self, condition: str) -> str:
        """What the column of a condition holds instead."""
        column = _Condition(self, condition, None).column()
        if column is None or column.role == "key":
            return ""
        if column.kind == "number":
            numbers = self.candidates.column(column)
            known = numbers[~np.isnan(numbers)]
            return f" {column.name} goes from {known.min():g} to {known.max():g}." if len(known) else ""
        if column.kind != "text" or column.role != "feature":
            return ""
        more = ", …" if len(column.levels) > MOST_LISTED else ""
        return f" {column.name} is one of: {', '.join(column.levels[:MOST_LISTED])}{more}."

    def _meets(self, condition: str, pointer: str | None) -> BoolArray:
        if _is_mark(condition):
            words = condition.casefold().split()
            marked = np.zeros(len(self.candidates), dtype=bool)
            marked[_MARKED[words[-1]](self.ledger())] = True
            return ~marked if len(words) > 1 else marked
        return _Condition(self, condition, pointer).meets()


@dataclass(frozen=True)
class _Condition:
    """One condition on a column."""

    table: FilteredTable
    text: str
    pointer: str | None

    def meets(self) -> BoolArray:
        if self._joins_several():
            raise self._refusal(
                "Write each condition by itself: candidates must meet all of them. For one of several values there is "
                "solvent in (DMF, THF)."
            )
        for pattern, read in ((_MISSING, self._missing), (_LIST, self._in_list), (_BETWEEN, self._between)):
            match = pattern.fullmatch(self.text)
            if match is not None and self._find(match["column"]) is not None:
                return read(match)
        return self._compared()

    def column(self) -> Column | None:
        """The column that the condition is about."""
        matches = (pattern.fullmatch(self.text) for pattern in (_MISSING, _LIST, _BETWEEN))
        names = [*(match["column"] for match in matches if match), *self._left_sides()]
        return next((column for name in names if (column := self._find(name)) is not None), None)

    def _joins_several(self) -> bool:
        """Whether conditions on columns stand on both sides of an `and` or `or` outside of quotes."""
        parts = _JOINT.split(self.text)
        unquoted = all(part.count(quote) % 2 == 0 for part in parts for quote in _QUOTES)
        return len(parts) > 1 and unquoted and all(map(self._is_one, parts))

    def _is_one(self, text: str) -> bool:
        return _is_mark(text) or replace(self, text=text).column() is not None

    def _left_sides(self) -> list[str]:
        return [self.text[: sign.start()] for sign in _SIGN.finditer(self.text)]

    def _missing(self, match: re.Match[str]) -> BoolArray:
        missing = self._is_missing(self._column(match["column"]))
        return ~missing if match["no"] else missing

    def _in_list(self, match: re.Match[str]) -> BoolArray:
        column = self._column(match["column"])
        listed = [self._equal(column, _unquoted(value)) for value in _VALUES.findall(match["values"]) if value.strip()]
        if not listed:
            raise self._refusal("The list is empty. Write its values as in solvent in (DMF, THF).", column)
        found: BoolArray = np.logical_or.reduce(listed)
        return ~found & ~self._is_missing(column) if match["no"] else found

    def _between(self, match: re.Match[str]) -> BoolArray:
        column = self._column(match["column"])
        numbers = self._numbers(column)
        low, high = self._number(column, match["low"]), self._number(column, match["high"])
        from_, to = (_SIGNS[_SPELLINGS.get(match[name], match[name])] for name in ("from", "to"))
        return np.asarray(from_(low, numbers) & to(numbers, high))

    def _compared(self) -> BoolArray:
        """The first sign whose left side is a column divides the condition, so that names may contain signs."""
        divisions = list(_SIGN.finditer(self.text))
        if not divisions:
            raise self._refusal("Write a condition such as solvent=DMF, temperature>=80 or measured.")
        known = (sign for sign in divisions if self._find(self.text[: sign.start()]) is not None)
        sign = next(known, divisions[0])
        column = self._column(self.text[: sign.start()])
        return self._compare(column, _SPELLINGS.get(sign["sign"], sign["sign"]), self.text[sign.end() :].strip())

    def _compare(self, column: Column, sign: str, value: str) -> BoolArray:
        spread = _RANGE.fullmatch(value) if column.kind == "number" and sign == "=" else None
        if spread is not None:
            low, high = self._number(column, spread["low"]), self._number(column, spread["high"])
            numbers = self._numbers(column)
            return (numbers >= low) & (numbers <= high)
        if sign == "=":
            return self._equal(column, _unquoted(value))
        if sign == "!=":
            return ~self._equal(column, _unquoted(value)) & ~self._is_missing(column)
        return np.asarray(_SIGNS[sign](self._numbers(column), self._number(column, value)))

    def _equal(self, column: Column, value: str) -> BoolArray:
        if column.kind == "number":
            return np.asarray(self._numbers(column) == self._number(column, value))
        if column.kind == "boolean":
            if value.casefold() not in _TRUTH:
                raise self._refusal("Write true or false.", column)
            return np.asarray(self.table.candidates.column(column) == _TRUTH[value.casefold()])
        if column.role == "feature":
            code = column.levels.index(value) if value in column.levels else -1
            return np.asarray(self.table.candidates.column(column) == code)
        return np.array([cell == value for cell in self._texts(column)], dtype=bool)

    def _is_missing(self, column: Column) -> BoolArray:
        if column.kind == "text":
            return np.array([cell is None for cell in self._texts(column)], dtype=bool)
        numbers = self._numbers(column) if column.role == "key" else self.table.candidates.column(column)
        return np.isnan(numbers)

    def _texts(self, column: Column) -> list[CellValue]:
        return self.table.candidates.values(column, np.arange(len(self.table.candidates)))

    def _numbers(self, column: Column) -> Array:
        if column.kind != "number":
            raise self._refusal("Only numbers can be compared. Use = or in (…) for text and booleans.", column)
        if column.role != "key":
            return self.table.candidates.column(column)
        predicted = self.table.predicted[column.name]
        return np.pad(predicted.astype(float), (0, len(self.table.candidates) - len(predicted)), constant_values=np.nan)

    def _number(self, column: Column, text: str) -> float:
        text = _unquoted(text.strip())
        predicted = self.table.predicted.get(column.name) if column.role == "key" else None
        if predicted is not None and predicted.dtype == bool and text.casefold() in _TRUTH:
            return float(_TRUTH[text.casefold()])
        try:
            return float(text.replace("−", "-"))
        except ValueError:
            raise self._refusal("This column holds numbers: compare it with a number.", column) from None

    def _column(self, name: str) -> Column:
        column = self._find(name)
        if column is None:
            raise self._refusal(self._unknown(_unquoted(name.strip())))
        return column

    def _unknown(self, name: str) -> str:
        known = [column.name for column in self.table.columns if column.role != "key"]
        close = get_close_matches(name, known, n=1)
        hint = f"Did you mean `{close[0]}`?" if close else f"There are: {', '.join(known[:MOST_LISTED])}."
        return f"The study has no feature or attribute of this name. {hint}"

    def _find(self, name: str) -> Column | None:
        """The column of that name; without regard to case if there is none."""
        exact = _unquoted(name.strip())
        named = [column for column in self.table.columns if column.role != "key"]
        same = [column for column in named if column.name == exact]
        alike = [column for column in named if column.name.casefold() == exact.casefold()]
        if not same and exact in self.table.predicted:
            return Column(exact, "number", "key")  # a column of the model, which no study's list can have
        return same[0] if same else alike[0] if len(alike) == 1 else None

    def _refusal(self, message: str, column: Column | None = None) -> Invalid:
        return Invalid([Finding("where", message, column=column.name if column else None, pointer=self.pointer)])


def _is_mark(condition: str) -> bool:
    """Such as `measured` and `not measured`."""
    *no, word = condition.casefold().split() or [""]
    return word in _MARKED and no in ([], ["not"])


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES
    return text[1:-1] if quoted else text
