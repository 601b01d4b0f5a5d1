"""Spreadsheet files that are small to send: a few kilobytes kept threads for hours, and others would have gigabytes."""

import io
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook

from app.deadline import DeadlinePassed, Demand, Unwanted, deadline
from app.domain.errors import Invalid
from app.services.intake import children, xlsx
from app.services.intake.children import ChildTooSlow, run_child
from app.services.intake.molecules import _run_child
from app.services.intake.xlsx import _is_harmless, read_rows, xlsx_memory, xlsx_rows

SHEET, STYLES = "xl/worksheets/sheet1.xml", "xl/styles.xml"
ENDLESS = b"import time\ntime.sleep(1000)\n"  # for the module `code`, which runs what it reads
Change = Callable[[bytes], bytes]


def workbook(path: Path, **changes: Change) -> Path:
    """A sheet of two rows whose parts are changed."""
    book, parts = Workbook(), {"sheet": SHEET, "styles": STYLES}
    book.active.append(["key", "value"])
    book.active.append(["A1", 1.5])
    book.save(written := io.BytesIO())
    changed = {parts[name]: change for name, change in changes.items()}
    with zipfile.ZipFile(written) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, changed.get(name, bytes)(source.read(name)))
    return path


def formula(result: bytes) -> Change:
    return lambda sheet: sheet.replace(b"<v>1.5</v>", b"<f>3/2</f>" + result)


def far_away(sheet: bytes) -> bytes:
    """A formula without a result in the last of 2,000 rows, each of which is said to have 702 cells."""
    last = b'<row r="2000"><c r="A2000"><f>1</f></c></row></sheetData>'
    return sheet.replace(b"A1:B2", b"A1:ZZ2000").replace(b"</sheetData>", last)


HARMFUL: dict[str, dict[str, Change]] = {
    "formula": {"sheet": formula(b"<v>1.5</v>")},
    "formula with a prefix": {"sheet": lambda sheet: sheet.replace(b"<v>1.5</v>", b"<x:f>3/2</x:f>")},
    "utf-16": {"sheet": lambda sheet: sheet.decode().encode("utf-16-le")},
    "entities": {"sheet": lambda sheet: b"<!DOCTYPE a [<!ENTITY b 'c'>]>" + sheet},
    "elements": {"styles": lambda styles: styles.replace(b"</cellXfs>", b"<xf/>" * 30_000 + b"</cellXfs>")},
    "attributes": {"sheet": lambda sheet: sheet.replace(b"<v>", b"<v" + b" a=''" * 60_000 + b">")},
    "a long format": {"styles": lambda styles: styles + b"<!-- '" + b"[" * 1_000 + b"' -->"},
    "bytes": {"sheet": lambda sheet: sheet + b" " * (2 << 20)},
}


def test_a_plain_sheet_is_read_here(tmp_path: Path) -> None:
    path = workbook(tmp_path / "plain.xlsx")
    assert _is_harmless(path)
    assert list(xlsx_rows(path)) == [["key", "value"], ["A1", "1.5"]]
    assert xlsx_memory(path) < 1 << 20


@pytest.mark.parametrize("name", HARMFUL)
def test_what_may_take_long_or_much_is_read_elsewhere(tmp_path: Path, name: str) -> None:
    path = workbook(tmp_path / "harmful.xlsx", **HARMFUL[name])
    assert not _is_harmless(path)
    assert xlsx_memory(path) >= 128 << 20  # which the child may take


def test_a_child_reads_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(xlsx, "read_rows")
    path = workbook(tmp_path / "formula.xlsx", sheet=formula(b"<v>1.5</v>"))
    assert list(xlsx_rows(path)) == [["key", "value"], ["A1", "1.5"]]
    path = workbook(tmp_path / "unknown.xlsx", sheet=formula(b""))
    with pytest.raises(Invalid) as refused:
        list(xlsx_rows(path))
    [finding] = refused.value.findings
    assert (finding.code, finding.row, finding.column) == ("formula", 2, "B")


def test_formulas_are_looked_for_within_the_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five kilobytes that declared 17 billion cells had kept a thread for hours, and its deadline did not end it."""
    monkeypatch.setattr(xlsx, "_MOST_CELLS", 100_000)
    with pytest.raises(Invalid) as refused:
        list(read_rows(workbook(tmp_path / "far.xlsx", sheet=far_away)))
    [finding] = refused.value.findings
    assert "too many cells" in finding.message


def test_a_directory_of_many_parts_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a gigabyte of directory would have become ten million objects before anybody counted them."""
    monkeypatch.setattr(xlsx, "_MOST_PARTS", 10**9)
    with zipfile.ZipFile(path := tmp_path / "many.xlsx", "w") as file:
        for number in range(600):
            file.writestr(f"{number}{'n' * 2_000}", b"")
    with pytest.raises(Invalid) as refused:
        list(xlsx_rows(path))
    assert "too large" in refused.value.findings[0].message


class Recorded(subprocess.Popen):  # type: ignore[type-arg]
    last: "Recorded"

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[call-overload]
        Recorded.last = self


def left() -> Demand:
    """Nobody waits any more."""
    demand = Demand()
    demand.leave()
    return demand


def test_a_child_ends_with_the_work_that_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children.subprocess, "Popen", Recorded)
    for seconds, demand, given_up in ((0.2, Demand(), DeadlinePassed), (60, left(), Unwanted)):
        with pytest.raises(given_up), deadline(seconds, demand):
            run_child("code", ENDLESS, 60)
        assert Recorded.last.returncode == -9
    with pytest.raises(ChildTooSlow):
        run_child("code", ENDLESS, 0.2)
    assert Recorded.last.returncode == -9


def test_a_child_that_fails_has_no_answer() -> None:
    assert run_child("code", b"raise SystemExit(3)\n", 60) is None
    assert b"42" in (run_child("code", b"print(6 * 7)\n", 60) or b"")


def test_molecules_are_not_read_beyond_the_deadline() -> None:
    """Each column of SMILES had two minutes of its own, whatever the request had."""
    with pytest.raises(DeadlinePassed), deadline(0):
        _run_child(["C"])
