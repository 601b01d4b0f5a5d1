"""Candidates and results as spreadsheet files: the same cells as in CSV, and texts that stay texts."""

import csv
import zipfile
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from openpyxl import load_workbook

from app.domain.errors import Invalid
from app.services.intake import xlsx
from app.services.intake.xlsx import write_xlsx, xlsx_rows
from tests.api.lab import Lab
from tests.conftest import on_sqlite


def cells(content: bytes) -> list[list[str]]:
    sheet = load_workbook(BytesIO(content)).worksheets[0]
    return [["" if cell is None else str(cell) for cell in row] for row in sheet.iter_rows(values_only=True)]


def of_csv(text: str) -> list[list[str]]:
    return list(csv.reader(StringIO(text)))


@on_sqlite
@pytest.mark.parametrize("path", ["candidates", "observations"])
def test_a_spreadsheet_has_the_cells_of_the_csv(lab: Lab, path: str) -> None:
    lab.begin().work(2, max_size=3)
    sheet = lab.client.get(f"{lab.path}/{path}", params={"format": "xlsx"})
    assert sheet.headers["content-type"] == xlsx.XLSX
    expected = of_csv(lab.client.get(f"{lab.path}/{path}", params={"format": "csv"}).text)
    shown = cells(sheet.content)
    assert shown[0] == expected[0]
    keys = expected[0].index("key")
    assert [row[keys] for row in shown] == [row[keys] for row in expected]
    assert len(shown) == len(expected) > 2


def test_a_text_that_looks_like_a_formula_or_a_date_stays_a_text(tmp_path: Path) -> None:
    write_xlsx(tmp_path / "t.xlsx", ["key"], [["=1+1"], ["1-1"], ["007"]])
    sheet = load_workbook(tmp_path / "t.xlsx").worksheets[0]
    assert [(cell.value, cell.data_type) for (cell,) in sheet.iter_rows(min_row=2)] == [
        ("=1+1", "s"),
        ("1-1", "s"),
        ("007", "s"),
    ]


def test_a_table_that_no_spreadsheet_holds_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "_MOST_CELLS_WRITTEN", 10)
    with pytest.raises(Invalid):
        write_xlsx(tmp_path / "t.xlsx", ["a", "b"], [[1.0, 2.0]] * 10)


def test_a_small_file_that_unpacks_to_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/worksheets/sheet1.xml", b" " * (xlsx._MOST_BYTES + 1))
    assert bomb.stat().st_size < 2_000_000
    with pytest.raises(Invalid) as refused:
        list(xlsx_rows(bomb))
    assert "too large" in refused.value.findings[0].message
