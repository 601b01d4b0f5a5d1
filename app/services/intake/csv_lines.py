"""A CSV file as decoded lines and split records, with the row of whatever cannot be read."""

import csv
import re
from collections.abc import Iterator
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from app.services.intake.findings import refuse

_CHUNK = 1 << 18
_LONGEST_LINE = 16 << 20
_BOM = b"\xef\xbb\xbf"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_QUOTED = re.compile(r'"[^"]*"?')
_DELIMITERS = (",", ";", "\t")


class Records:
    """The records of one file, each a list of cells, handed out in blocks so that memory stays small."""

    def __init__(self, path: Path) -> None:
        lines = _lines(path)
        self._records = self._split(lines)
        self.rows = 0
        """Records handed out so far; a spreadsheet shows the last of them in the row of this number."""

    def block(self, size: int) -> list[list[str]]:
        """The next records, at most `size`; none at the end."""
        block: list[list[str]] = []
        try:
            block.extend(islice(self._records, size))  # keeps what came before a mistake, so that its row is known
        except _Unreadable as mistake:
            raise refuse(mistake.code, mistake.message, row=self.rows + len(block) + 1) from None
        except csv.Error as error:
            raise refuse("broken-csv", _csv_mistake(error), row=self.rows + len(block) + 1) from None
        self.rows += len(block)
        return block

    def _split(self, lines: Iterator[str]) -> Iterator[list[str]]:
        first = next(lines, "")
        yield from csv.reader(chain([first], lines), delimiter=_delimiter(first), strict=True)


class _Unreadable(Exception):
    """A line that is no text; whoever counts the records adds the row."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code)
        self.code = code
        self.message = message


def _lines(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        mark = file.read(len(_BOM))
        if mark.startswith(_UTF_16_MARKS):
            raise _Unreadable("not-utf-8", "the file is UTF-16; save it as CSV in UTF-8")
        if mark != _BOM:
            file.seek(0)
        for chunk in _whole_lines(file):
            yield from _decoded(chunk)


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """The file in pieces that end where a line ends."""
    rest = b""
    while piece := file.read(_CHUNK):
        lines, newline, tail = piece.rpartition(b"\n")
        if newline:
            yield rest + lines + newline
            rest = tail
        else:
            rest += piece
        if len(rest) > _LONGEST_LINE:
            raise _Unreadable("line-too-long", f"a line of more than {_LONGEST_LINE} bytes; is this a CSV file?")
    if rest:
        yield rest


def _decoded(chunk: bytes) -> Iterator[str]:
    """The lines of a chunk; one by one if something is wrong with it, so that all before the mistake come out."""
    try:
        if b"\0" not in chunk:
            yield from StringIO(chunk.decode(), newline="")
            return
    except UnicodeDecodeError:
        pass
    for line in chunk.splitlines(keepends=True):
        if b"\0" in line:
            raise _Unreadable("broken-text", "holds a NUL; remove it, or save the file as CSV in UTF-8")
        try:
            yield line.decode()
        except UnicodeDecodeError:
            raise _Unreadable("not-utf-8", "not UTF-8; save the file as CSV in UTF-8") from None


def _delimiter(header: str) -> str:
    """The separator that stands most often in the header, outside quotes; a comma when in doubt."""
    bare = _QUOTED.sub("", header)
    return max(_DELIMITERS, key=bare.count)


def _csv_mistake(error: csv.Error) -> str:
    """Our own words: the module's message could quote the file."""
    if "field limit" in str(error):
        return f"a cell of more than {csv.field_size_limit()} characters; is a quote left open?"
    return "a quote is left open or misplaced; double the quotes inside a quoted cell"
