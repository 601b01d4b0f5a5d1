"""Files as people send them by mistake: each is refused with its row and with what to do, or understood."""

from io import BytesIO
from typing import Any

import pytest
from fastapi.testclient import TestClient
from openpyxl import Workbook

from tests.api.conftest import problem
from tests.api.lab import LIST, Lab
from tests.conftest import on_sqlite

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def workbook(*rows: list[Any]) -> bytes:
    book, file = Workbook(), BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


TITLED = workbook(["Monday"], [], ["suggestion", "value"], ["B1-S1", 1])
WITH_FORMULA = workbook(["suggestion", "value"], ["B1-S1", 5], ["B1-S2", "=5+3"])
LATIN = "suggestion,note,value\nB1-S1,,1\nB1-S2,grün,2\n".encode("latin-1")
WRONG_SHEETS: dict[str, tuple[bytes, str, int | None, str]] = {
    "an Excel file sent as CSV": (TITLED, "text/csv", None, "This is an Excel file"),
    "in another character set": (LATIN, "text/csv", 3, "UTF-8"),
    "an open quotation mark": (b'suggestion,value\nB1-S1,1\n"B1-S2,2\n', "text/csv", 3, "quotation marks"),
    "an unquoted decimal comma": (b"suggestion,value\nB1-S1,83,1\n", "text/csv", 2, "83.1 instead of 83,1"),
    "a title above the header": (TITLED, XLSX, 1, "Delete rows above the header"),
    "a formula without a result": (WITH_FORMULA, XLSX, 3, "formula has no result"),
    "a number that became a date": (b"suggestion,value\nB1-S1,2026-01-05\n", "text/csv", 2, "This is a date"),
    "a value that became a date": (b"suggestion,value\nB1-S1,05-Jan\n", "text/csv", 2, "This is a date"),
    "an unknown key": (b"key,value\nZZ,5\n", "text/csv", 2, "no candidate with this key"),
}


@pytest.mark.parametrize("name", WRONG_SHEETS)
@on_sqlite
def test_a_wrong_sheet_is_refused_with_its_row_and_what_to_do(lab: Lab, name: str) -> None:
    content, media_type, row, words = WRONG_SHEETS[name]
    lab.begin(objective="yield", unit="%").batch(min_size=4, max_size=4)
    path, headers = f"{lab.path}/observations", {"Content-Type": media_type}
    [finding] = problem(lab.client.post(path, content=content, headers=headers), 422, "invalid-input")["errors"]
    assert finding.get("row") == row
    assert words in finding["message"]
    assert lab.observations() == []


WRONG_LISTS: dict[str, tuple[bytes, str, str]] = {
    "an Excel file sent as CSV": (workbook(["key", "x"], ["a", 1]), "text/csv", "This is a spreadsheet file"),
    "a first row that names the separator": (b"sep=;\nkey;x\na;1\nb;2\n", "text/csv", "Delete the first row"),
    "a formula without a result": (workbook(["key", "x"], ["a", "=1+1"]), XLSX, "formula has no result"),
}


@pytest.mark.parametrize("name", WRONG_LISTS)
@on_sqlite
def test_a_wrong_list_is_refused_with_its_row_and_what_to_do(admin: TestClient, name: str) -> None:
    content, media_type, words = WRONG_LISTS[name]
    refused = admin.post("/v1/candidates/check", content=content, headers={"Content-Type": media_type})
    assert refused.status_code == 422
    [finding] = refused.json()["errors"]
    assert finding["row"]
    assert words in finding["message"]


@pytest.mark.parametrize(
    ("cells", "codes"),
    [(("20 °C", "30 °C"), ["numbers-with-unit"]), (("20 °C", "30 mg"), []), (("grade A", "grade B"), [])],
)
@on_sqlite
def test_a_list_whose_numbers_have_units_gets_a_warning(
    admin: TestClient, cells: tuple[str, str], codes: list[str]
) -> None:
    rows = f"key,x,y\na,{cells[0]},1\nb,{cells[1]},2\n"
    checked = admin.post("/v1/candidates/check", content=rows, headers={"Content-Type": "text/csv"})
    assert [finding["code"] for finding in checked.json()["warnings"]] == codes


@on_sqlite
def test_an_id_that_cannot_be_one_is_refused_with_an_example(lab: Lab) -> None:
    [finding] = problem(lab.begin(LIST).report(suggestion="01-Jan", value=1), 422, "invalid-input")["errors"]
    assert "such as B3-S1" in finding["message"]
