"""Rows as CSV text that a spreadsheet can open without running it.

A text cell that a spreadsheet could take for a formula (it begins with = + - @, a tab or a carriage return) gets a
leading apostrophe; so does one that begins with apostrophes and then such a character, which keeps the way back
unambiguous: `armed(defused(text)) == text` for every text. Numbers are never touched: floats are written by repr, the
shortest text that reads back as the same float.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import TypeAlias

Cell: TypeAlias = str | float | int | bool | None

_DANGEROUS = re.compile(r"'*[=+\-@\t\r]")
_DEFUSED = re.compile(r"'+[=+\-@\t\r]")
_ROWS_PER_PIECE = 1_000


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Cell]], *, comma: bool = False) -> Iterator[str]:
    """The table as pieces of CSV text, the header first; None is an empty cell, booleans are true and false.

    With `comma`, for spreadsheets of countries that write 1,5: decimal commas, and semicolons between the cells.
    """
    buffer = StringIO(newline="")
    writer = csv.writer(buffer, delimiter=";" if comma else ",", lineterminator="\r\n")
    writer.writerow([defused(name) for name in header])
    for number, row in enumerate(rows, start=1):
        writer.writerow([_written(cell, comma) for cell in row])
        if number % _ROWS_PER_PIECE == 0:
            yield _emptied(buffer)
    yield _emptied(buffer)


def defused(text: str) -> str:
    """The text as a cell no spreadsheet takes for a formula."""
    return f"'{text}" if _DANGEROUS.match(text) else text


def armed(cell: str) -> str:
    """The text that was defused into this cell."""
    return cell[1:] if _DEFUSED.match(cell) else cell


def _written(cell: Cell, comma: bool) -> str:
    if isinstance(cell, str):
        return defused(cell)
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return repr(cell).replace(".", ",") if comma else repr(cell)


def _emptied(buffer: StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
