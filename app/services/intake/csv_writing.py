"""Writes tables as CSV text that a spreadsheet shows without running it.

A spreadsheet may run a text cell as a formula if it begins with = + - @, a tab or a carriage return. Such a text gets a
leading apostrophe. So does a text that begins with apostrophes followed by one of these characters: this keeps the
escape reversible, `unescape_formula(escape_formula(text)) == text` for every text. Numbers are never escaped. Floats
are written by repr, the shortest text that reads back as the same float.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from app.domain.candidates import CellValue

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_ESCAPED_FORMULA = re.compile(r"'+[=+\-@\t\r]")
_ROWS_PER_PIECE = 1_000


def csv_text(header: Sequence[str], rows: Iterable[Sequence[CellValue]], *, comma: bool = False) -> Iterator[str]:
    """The table in pieces of CSV text, the header first; None is an empty cell, booleans are true and false.

    With `comma`, numbers have decimal commas and semicolons separate the cells, as spreadsheets of many countries
    expect.
    """
    buffer = StringIO(newline="")
    writer = csv.writer(buffer, delimiter=";" if comma else ",", lineterminator="\r\n")
    writer.writerow([escape_formula(name) for name in header])
    for number, row in enumerate(rows, start=1):
        writer.writerow([_cell_text(cell, comma) for cell in row])
        if number % _ROWS_PER_PIECE == 0:
            yield _take(buffer)
    yield _take(buffer)


def escape_formula(text: str) -> str:
    """The text as a cell that no spreadsheet runs as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_formula(cell: str) -> str:
    """The text that `escape_formula` turned into this cell."""
    return cell[1:] if _ESCAPED_FORMULA.match(cell) else cell


def _cell_text(cell: CellValue, comma: bool) -> str:
    if isinstance(cell, str):
        return escape_formula(cell)
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return repr(cell).replace(".", ",") if comma else repr(cell)


def _take(buffer: StringIO) -> str:
    """Everything in the buffer, which is empty afterwards."""
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
