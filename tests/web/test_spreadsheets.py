"""Spreadsheets, names that are taken and values in doubt, on the page in a real browser."""

from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import CSV, Open
from tests.web.scene import Scene


def values(scene: Scene, study: str) -> list[float]:
    found = scene.send("GET", f"/v1/studies/{study}/observations")["observations"]
    return [observation["value"] for observation in found]


def measured_before(scene: Scene, study: str) -> None:
    """Results between 60 and 64, for candidates that no test suggests."""
    scene.report(study, *({"candidate": "A20", "value": 60.0 + number} for number in range(5)))


@pytest.fixture
def bench(window: Open, scene: Scene, study: str) -> tuple[Page, str]:
    """A bench after five results, and the candidate of its first row."""
    measured_before(scene, study)
    key = scene.ask(study, "b", min_size=2, max_size=2)["suggestions"][0]["key"]
    return window().sign_in(scene.key, f"/studies/{study}/bench/b"), key


def type_value(page: Page, key: str, text: str) -> None:
    page.get_by_label(f"yield of {key}", exact=True).fill(text)
    page.keyboard.press("Enter")


def test_the_bench_asks_before_it_saves_an_implausible_value(bench: tuple[Page, str], scene: Scene, study: str) -> None:
    page, key = bench
    type_value(page, key, "3150")
    question = page.locator(".doubt")
    expect(question).to_contain_text("Expected")
    expect(question).to_contain_text("Save 3150 % anyway?")
    assert 3150 not in values(scene, study)
    page.reload()  # the question waits for an answer
    page.get_by_role("button", name="Type it again").click()
    type_value(page, key, "3151")
    page.get_by_role("button", name="Save 3151", exact=True).click()
    expect(page.locator(".slot.saved")).to_contain_text("3151")
    assert values(scene, study)[5:] == [3151.0]


def test_a_number_that_may_be_a_thousand_is_not_guessed(bench: tuple[Page, str], scene: Scene, study: str) -> None:
    page, key = bench
    type_value(page, key, "1,234")
    expect(page.get_by_text("1,234 can be read as a thousand or as a fraction.")).to_be_visible()
    type_value(page, key, "61,25")
    expect(page.locator(".slot.saved")).to_contain_text("61.25")
    assert values(scene, study)[5:] == [61.25]


def test_a_sheet_goes_out_and_comes_back_as_xlsx(bench: tuple[Page, str], scene: Scene, study: str) -> None:
    page, _ = bench
    with page.expect_download() as download:
        page.get_by_role("link", name="Excel file of the batch").click()
    file = Path(download.value.path()).with_suffix(".xlsx")
    download.value.save_as(file)
    workbook = load_workbook(file)
    column = [cell.value for cell in workbook.active[1]].index("value") + 1
    workbook.active.cell(2, column, 62.5)
    workbook.save(file)
    page.get_by_role("button", name="Upload sheet").click()
    page.locator("dialog input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Save 1 row").click()
    expect(page.locator(".slot.saved")).to_contain_text("62.5")
    assert values(scene, study)[5:] == [62.5]


def upload_sheet(page: Page, folder: Path, *rows: str) -> Locator:
    """The dialog after a sheet with these rows was chosen."""
    file = folder / "sheet.csv"
    file.write_text("suggestion,value\n" + "".join(f"{row}\n" for row in rows))
    page.get_by_role("button", name="Upload sheet").click()
    page.locator("dialog input[type=file]").set_input_files(file)
    return page.locator("dialog")


def test_a_sheet_shows_what_was_understood_and_corrects_for_a_reason(
    bench: tuple[Page, str], scene: Scene, study: str, tmp_path: Path
) -> None:
    page, key = bench
    scene.report(study, {"suggestion": "B1-S1", "value": 61.0})
    dialog = upload_sheet(page, tmp_path, "B1-S1,62.5 %", "B1-S2,63")
    expect(dialog.locator("tbody tr").first).to_contain_text(key)
    expect(dialog.locator("tbody tr").first.locator("td.right")).to_have_text(["61 %", "62.5 %"])
    expect(dialog.locator("tbody tr").last).to_contain_text("new")
    save = page.get_by_role("button", name="Save 2 rows")
    expect(save).to_be_disabled()
    dialog.get_by_label("Why is 1 stored result corrected?").fill("read the wrong line")
    save.click()
    expect(page.locator(".toast").first).to_have_text("1 value saved, 1 corrected.")
    found = scene.send("GET", f"/v1/studies/{study}/observations")["observations"][5:]
    assert [(one["value"], one["reason"]) for one in found] == [(62.5, "read the wrong line"), (63.0, None)]


def test_values_in_doubt_of_a_sheet_are_saved_when_a_person_says_so(
    bench: tuple[Page, str], scene: Scene, study: str, tmp_path: Path
) -> None:
    page, _ = bench
    objective = {"name": "yield", "unit": "%", "direction": "maximize", "limits": {"low": 0, "high": 100}}
    scene.send("PATCH", f"/v1/studies/{study}", json={"objectives": [objective]}, headers={"If-Match": "*"})
    dialog = upload_sheet(page, tmp_path, "B1-S1,3150", "B1-S2,62")
    expect(dialog.get_by_text("Values in doubt")).to_be_visible()
    save = page.get_by_role("button", name="Save 2 rows")
    expect(save).to_be_disabled()
    dialog.get_by_label("These values are right").check()
    save.click()
    expect(page.locator(".slot.saved").first).to_contain_text("3150")
    assert values(scene, study)[5:] == [3150.0, 62.0]


def test_a_whole_sheet_is_taken_back_in_the_timeline(
    bench: tuple[Page, str], scene: Scene, study: str, tmp_path: Path
) -> None:
    page, _ = bench
    upload_sheet(page, tmp_path, "B1-S1,62.5", "B1-S2,63")
    page.get_by_role("button", name="Save 2 rows").click()
    expect(page.locator(".slot.saved").last).to_contain_text("63")
    page.goto(f"/studies/{study}/events")
    page.locator(".timeline li").first.get_by_role("button", name="Take back everything").click()
    page.get_by_label("Reason").fill("the sheet of another study")
    page.get_by_role("button", name="Take back", exact=True).click()
    expect(page.locator(".toast").first).to_contain_text("2 results taken back.")
    found = scene.send("GET", f"/v1/studies/{study}/observations")["observations"][5:]
    assert [one["state"] for one in found] == ["retracted", "retracted"]


def test_candidates_and_results_are_downloaded_as_csv_and_xlsx(bench: tuple[Page, str], study: str) -> None:
    page, _ = bench
    for view, first_column in (("candidates", b"key"), ("results", b"observation")):
        page.goto(f"/studies/{study}/{view}")
        for program, start in (("CSV", first_column), ("Excel", b"PK")):
            with page.expect_download() as download:
                page.locator(".tally").get_by_text(program, exact=True).click()
            assert Path(download.value.path()).read_bytes().startswith(start)


def workbook_of(rows: list[list[Any]], path: Path) -> Path:
    workbook = Workbook()
    for row in rows:
        workbook.active.append(row)
    workbook.save(path)
    return path


def test_a_study_from_an_xlsx_file(window: Open, scene: Scene, tmp_path: Path) -> None:
    rows = [["id", "temperature", "comment", "dry"], ["A1", 90, None, True], ["A2", 100.5, "new", False]]
    page = window().sign_in(scene.key, "/create")
    page.locator("input[type=file]").set_input_files(workbook_of(rows, tmp_path / "from excel.xlsx"))
    page.get_by_label("Role of comment").select_option("attribute")
    expect(page.get_by_text("2 candidates, 2 features")).to_be_visible()
    expect(page.locator(".preview tbody tr").nth(1)).to_contain_text("100.5")
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_text("Nothing has been measured yet.")).to_be_visible()
    made = scene.send("GET", "/v1/studies/from-excel/candidates/A2")
    assert (made["features"], made["attributes"]) == ({"temperature": 100.5, "dry": False}, {"comment": "new"})


def test_a_file_that_is_only_named_xlsx_is_refused_with_words(window: Open, scene: Scene, tmp_path: Path) -> None:
    page = window().sign_in(scene.key, "/create")
    fake = tmp_path / "fake.xlsx"
    fake.write_text(CSV)
    page.locator("input[type=file]").set_input_files(fake)
    expect(page.get_by_role("alert")).to_contain_text("not an .xlsx file")
    expect(page.get_by_role("button", name="Create the study")).to_be_disabled()


def create_on_the_page(page: Page, name: str, file: Path) -> None:
    page.goto("/create")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Create the study").click()


def test_a_name_that_is_taken_replaces_nothing_and_leads_to_adding_candidates(
    window: Open, scene: Scene, tmp_path: Path
) -> None:
    more = tmp_path / "more.csv"
    more.write_text("key,temperature\nB1,90\nB2,95\n")
    page = window().sign_in(scene.key)
    create_on_the_page(page, "taken", more)
    expect(page.get_by_text("Nothing has been measured yet.")).to_be_visible()
    page.goto("/create")
    page.locator("input[type=file]").set_input_files(more)  # the same list again is no new study either
    page.get_by_label("Name").fill("taken")
    expect(page.get_by_role("alert")).to_contain_text("This name is taken: open taken, or choose another.")
    expect(page.get_by_role("button", name="Create the study")).to_be_disabled()
    page.get_by_role("link", name="open taken").click()
    more.write_text("key;temperature\nC1;90,5\n")
    page.goto("/studies/taken/candidates")
    page.get_by_role("button", name="Add candidates").click()
    page.locator("dialog input[type=file]").set_input_files(more)
    page.locator("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("3 candidates")).to_be_visible()
    assert scene.send("GET", "/v1/studies/taken/candidates/C1")["features"] == {"temperature": 90.5}


def test_a_name_whose_study_the_key_cannot_see_is_taken(window: Open, scene: Scene, study: str, tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text(CSV)
    page = window().sign_in(scene.new_key("scientist"))
    create_on_the_page(page, study, file)
    expect(page.get_by_role("alert")).to_contain_text("is taken by a study that your key has no access to")
