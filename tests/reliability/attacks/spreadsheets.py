"""Spreadsheet files of some kilobytes that are large, or endless, once somebody reads them."""

import io
import zipfile
from collections.abc import Callable
from functools import cache

from openpyxl import Workbook

from app.services.intake.xlsx import XLSX

HEADERS = {"Content-Type": XLSX}
LAST = b"A1048576"


@cache
def large_styles() -> bytes:
    """Ninety megabytes of empty styles, each of which becomes an object of a kilobyte."""
    return _changed("xl/styles.xml", lambda part: part.replace(b"</cellXfs>", b"<xf/>" * 18_000_000 + b"</cellXfs>"))


@cache
def distant_formula() -> bytes:
    """A formula without a result in the last row of a sheet that declares 17 billion cells."""
    row = b'<row r="1048576"><c r="' + LAST + b'"><f>1</f></c></row></sheetData>'

    def change(part: bytes) -> bytes:
        return part.replace(b"A1:B2", b"A1:XFD1048576").replace(b"</sheetData>", row)

    return _changed("xl/worksheets/sheet1.xml", change)


def _changed(name: str, change: Callable[[bytes], bytes]) -> bytes:
    """A sheet of two rows with one of its parts changed."""
    book, written, changed = Workbook(), io.BytesIO(), io.BytesIO()
    book.active.append(["key", "value"])
    book.active.append(["K7", 1.5])
    book.save(written)
    with zipfile.ZipFile(written) as source, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as target:
        for part in source.namelist():
            content = source.read(part)
            target.writestr(part, change(content) if part == name else content)
    return changed.getvalue()
