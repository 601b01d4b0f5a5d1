"""Looking into a study: results, single candidates, insights and the map. Every key leads to the thing itself."""

import csv
import re
from pathlib import Path

import pytest
from openpyxl import load_workbook
from playwright.sync_api import Page, expect

from tests.web.conftest import Open
from tests.web.scene import Scene


@pytest.fixture
def investigated(scene: Scene, study: str) -> str:
    """A study with six unasked results, a measured batch with expectations, and one on a bench."""
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + 3 * n} for n in range(1, 7)))
    batch = scene.ask(study, "bench-1", min_size=3, max_size=3)
    reports = [{"suggestion": one["suggestion"], "value": 40.0 + n} for n, one in enumerate(batch["suggestions"])]
    scene.report(study, *reports)
    scene.report(study, {"candidate": "A1", "value": 23.5, "note": "second vial", "measured_by": "Ada"})
    scene.ask(study, "bench-2", min_size=2, max_size=2)
    return study


def results(page: Page) -> list[str]:
    page.locator(".tr:not(.th)").first.wait_for()
    return [row.replace("\n", " ") for row in page.locator(".tr:not(.th)").all_inner_texts()]


def test_results_are_listed_with_what_was_expected_sorted_and_found(
    window: Open, scene: Scene, investigated: str
) -> None:
    page = window().sign_in(scene.key, f"/studies/{investigated}/results")
    expect(page.get_by_text("10 results", exact=True)).to_be_visible()
    newest = results(page)[0]
    assert newest.startswith("10")
    assert all(part in newest for part in ("A1", "23.5", "Ada", "second vial"))
    asked = page.locator(".tr:not(.th)").nth(1)
    expect(asked).to_contain_text("±")
    expect(asked.get_by_role("link", name="1", exact=True)).to_be_visible()
    page.get_by_role("button", name="yield (%)").click()
    assert "42" in results(page)[0]
    page.get_by_role("button", name="yield (%)").click()
    expect(page.locator(".tr:not(.th)").first).to_contain_text("23")
    page.get_by_label("Find a key, note or person").fill("second")
    expect(page.get_by_text("1 result of 10")).to_be_visible()
    assert "find=second" in page.url
    page.goto(f"/studies/{investigated}/results?which=unasked&sort=value")
    expect(page.get_by_text("7 results of 10")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert [float(row["value"]) for row in rows] == sorted(float(row["value"]) for row in rows)
    assert len(rows) == 7


def test_results_are_shown_with_their_conditions_and_saved_as_they_are_shown(
    window: Open, scene: Scene, investigated: str
) -> None:
    page = window().sign_in(scene.key, f"/studies/{investigated}/results?which=unasked&sort=-value")
    page.get_by_role("button", name="Conditions").click()
    page.get_by_label("temperature").check()
    page.get_by_label("solvent").check()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Conditions: 2 shown")).to_be_visible()
    page.get_by_role("button", name="temperature").click()
    page.get_by_label("Find a key, note or person").fill("thf")
    expect(page.get_by_text("3 results of 10")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert [(row["candidate"], row["temperature"], row["solvent"]) for row in rows] == [
        ("A1", "45", "THF"),
        ("A1", "45", "THF"),
        ("A4", "60", "THF"),
    ]
    with page.expect_download() as download:
        page.get_by_role("button", name="Excel").click()
    with Path(download.value.path()).open("rb") as file:
        header, *cells = load_workbook(file).worksheets[0].iter_rows(values_only=True)
    assert list(header) == list(rows[0])
    assert [["" if cell is None else str(cell) for cell in row] for row in cells] == [[*row.values()] for row in rows]
    assert isinstance(cells[0][header.index("value")], int | float)


def test_results_are_corrected_and_taken_back_with_a_reason(window: Open, scene: Scene, investigated: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{investigated}/results?sort=number")
    page.get_by_role("button", name="Correct result 2 of A2").click()
    page.get_by_label("New value").fill("26,5")
    page.get_by_label("Reason").fill("read the wrong line")
    page.get_by_role("button", name="Correct", exact=True).click()
    expect(page.locator(".tr:not(.th)").nth(1)).to_contain_text("26.5")
    expect(page.locator(".tr:not(.th)").nth(1)).to_contain_text("corrected")
    for number in (3, 4):
        page.get_by_label(f"Choose result {number}", exact=True).check()
    page.get_by_role("button", name="Take back 2 results").click()
    page.get_by_label("Reason").fill("wrong plate")
    page.get_by_role("dialog").get_by_role("button", name="Take back").click()
    expect(page.get_by_text("8 results", exact=True)).to_be_visible()
    assert scene.send("GET", f"/v1/studies/{investigated}/observations/3")["observations"][-1]["state"] == "retracted"


def test_every_key_opens_its_candidate_beside_the_view_or_alone(window: Open, scene: Scene, investigated: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{investigated}/results")
    page.get_by_role("link", name="A1", exact=True).first.click()
    drawer = page.get_by_role("region", name="Candidate A1")
    expect(drawer.get_by_role("heading", name="A1")).to_be_visible()
    expect(drawer).to_contain_text("23.5 %")
    expect(drawer).to_contain_text("Expected yield")
    expect(page.get_by_text("10 results", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    page.goto(f"/studies/{investigated}/candidates/A1")
    expect(page.locator(".candidate")).to_contain_text("Measurements")
    expect(page.locator(".candidate")).to_contain_text("batch no (only shown)")
    page.goto(f"/studies/{investigated}/candidates/nobody")
    expect(page.get_by_text("Candidate not found")).to_be_visible()


def test_why_a_candidate_was_suggested_is_told_with_its_neighbours_and_what_differs(
    window: Open, scene: Scene, investigated: str
) -> None:
    batch = scene.send("GET", f"/v1/studies/{investigated}/batches/1")
    key = batch["suggestions"][0]["key"]
    page = window().sign_in(scene.key, f"/studies/{investigated}/candidates/{key}")
    expect(page.get_by_role("heading", name="Why it was suggested")).to_be_visible()
    neighbour = page.locator(".neighbours li").first
    expect(neighbour).to_have_text(re.compile(r"Like A\d+ \(\d+.*\s%\): .*(same|temperature|solvent).*alike"))
    expect(page.locator(".candidate")).not_to_contain_text("exploration")
    neighbour.get_by_role("link").click()
    expect(page.locator("section.drawer")).to_be_visible()


def test_a_result_is_added_from_the_candidate_and_it_is_switched_off(
    window: Open, scene: Scene, investigated: str
) -> None:
    page = window().sign_in(scene.key, f"/studies/{investigated}/candidates/A5")
    page.get_by_role("button", name="Add a result").click()
    page.get_by_label("yield (%)").fill("35,25")
    page.get_by_label("Note").fill("by hand")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".measurements")).to_contain_text("35.25 %")
    page.get_by_role("button", name="Add a result").click()
    page.get_by_label("yield (%)").fill("3525")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("dialog", name="Save 3525 anyway?")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Mark as unavailable").click()
    page.get_by_label("Reason").fill("used up")
    page.get_by_role("dialog").get_by_role("button", name="Mark as unavailable").click()
    expect(page.locator(".candidate")).to_contain_text("unavailable: used up")
    kept = scene.send("GET", f"/v1/studies/{investigated}/observations", params={"candidate": "A5"})["observations"]
    assert [one["value"] for one in kept] == [35.0, 35.25]


def test_candidates_are_measured_on_a_bench_or_never_and_no_column_hides_itself(
    window: Open, scene: Scene, investigated: str
) -> None:
    page = window().sign_in(scene.key, f"/studies/{investigated}/candidates")
    for words, shown in (
        ("Never measured", "11 candidates"),
        ("On a bench", "2 candidates"),
        ("Measured", "9 candidates"),
    ):
        page.get_by_label("Which candidates").select_option(words)
        expect(page.get_by_text(f"{shown} of 20")).to_be_visible()
    assert "show=measured" in page.url
    page.reload()
    expect(page.get_by_text("9 candidates of 20")).to_be_visible()
    page.get_by_role("button", name="Filter …").click()
    page.get_by_role("dialog").get_by_label("Column", exact=True).select_option("solvent")
    page.get_by_role("dialog").get_by_label("THF").check()
    page.get_by_role("dialog").get_by_role("button", name="Add condition").click()
    page.get_by_role("button", name="Remove the filter solvent=THF").click()
    expect(page.get_by_role("columnheader", name="batch no")).to_be_visible()
    page.get_by_role("button", name="Columns").click()
    page.get_by_label("batch no").uncheck()
    expect(page.get_by_role("columnheader", name="batch no")).to_have_count(0)
    expect(page.get_by_role("button", name="Columns: 1 of 3 hidden")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert len(rows) == 9
    assert all(row["mean"] for row in rows)
    assert "temperature" in rows[0]
    assert "batch no" not in rows[0]  # it is hidden
    assert "omit=batch+no" in (page.get_by_role("link", name="Excel").get_attribute("href") or "")


def test_insights_name_columns_predictions_and_surprises(window: Open, scene: Scene, investigated: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{investigated}/insights")
    chart = page.get_by_role("figure", name="Which columns matter").locator(".catch")
    chart.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("figure", name="Which columns matter").locator(".tip")).to_contain_text("decides")
    page.get_by_label("Column", exact=True).select_option("solvent")
    expect(page.get_by_role("figure", name="Expected value by solvent")).to_be_visible()
    assert "slice=solvent" in page.url
    page.get_by_label("Second column").select_option("temperature")
    tiles = page.get_by_role("figure", name="Expected value by solvent and temperature")
    tiles.locator(".catch").focus()
    page.keyboard.press("ArrowLeft")
    expect(tiles.locator(".tip")).to_contain_text("on average")
    expect(page.get_by_text("Each candidate as all the others predict it.")).to_be_visible()
    expect(page.get_by_role("heading", name="Surprises", exact=True)).to_be_visible()
    expect(
        page.get_by_role("figure", name="Measured candidates, column by column").locator(".catch svg")
    ).to_be_visible()


def test_the_map_opens_candidates_by_keyboard_and_gathers_them_with_a_lasso(
    window: Open, scene: Scene, investigated: str
) -> None:
    page = window().sign_in(scene.key, f"/studies/{investigated}/map?x=temperature&y=solvent")
    figure = page.get_by_role("figure", name="Map of the candidates")
    figure.locator("canvas").first.wait_for()
    figure.locator(".catch").focus()
    page.keyboard.press("ArrowLeft")
    expect(figure.locator(".tip")).to_contain_text("temperature")
    page.keyboard.press("Enter")
    expect(page.locator("section.drawer")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Lasso").click()
    box = figure.locator("canvas").first.bounding_box()
    assert box
    corners = [(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98), (0.02, 0.05)]
    points = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in corners]
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point, steps=8)
    page.mouse.up()
    expect(page.get_by_role("heading", name="20 candidates in the lasso")).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_text("in the lasso")).to_have_count(0)


def test_a_map_of_thousands_is_reached_by_the_keyboard_too(window: Open, scene: Scene) -> None:
    """What ECharts draws piece by piece has no point that could be shown: the map is drawn at once."""
    scene.study("thousands", "key,a,b\n" + "".join(f"K{n},{n % 317},{n % 211}\n" for n in range(6_000)))
    scene.report("thousands", *({"candidate": f"K{97 * n}", "value": float(n)} for n in range(5)))
    page = window().sign_in(scene.key, "/studies/thousands/map?x=a&y=b")
    figure = page.get_by_role("figure", name="Map of the candidates")
    figure.locator("canvas").first.wait_for()
    figure.locator(".catch").focus()
    page.keyboard.press("ArrowLeft")
    expect(figure.locator(".tip")).to_contain_text("K291")  # the rightmost that is measured


def test_what_was_typed_is_shown_as_typed_and_a_program_s_number_is_rounded(
    window: Open, scene: Scene, study: str
) -> None:
    scene.report(study, {"candidate": "A1", "value": 37.955793659978255}, {"candidate": "A2", "value": 20.1234567})
    page = window().sign_in(scene.key, f"/studies/{study}/results")
    expect(page.get_by_text("37.9558", exact=True)).to_be_visible()
    expect(page.get_by_text("20.1234567", exact=True)).to_be_visible()


def test_the_candidates_show_the_structures_of_their_molecules(window: Open, scene: Scene) -> None:
    content = "key,alcohol,heat\nM1,CCO,20\nM2,CC(C)O,30\nM3,OCCO,40\n"
    scene.send("PUT", "/v1/studies/molecules", json={})
    params, headers = {"smiles": "alcohol"}, {"Content-Type": "text/csv"}
    scene.send("PUT", "/v1/studies/molecules/candidates", content=content, params=params, headers=headers)
    page = window().sign_in(scene.key, "/studies/molecules/candidates")
    for smiles in ("CCO", "CC(C)O", "OCCO"):
        picture = page.get_by_role("img", name=f"Structure of {smiles}", exact=True)
        expect(picture).to_be_visible()
        row = picture.locator("xpath=ancestor::*[contains(@class, 'tr')][1]").bounding_box()
        drawn = picture.bounding_box()
        assert row is not None
        assert drawn is not None
        assert row["y"] <= drawn["y"]
        assert drawn["y"] + drawn["height"] <= row["y"] + row["height"]
    expect(page.locator(".structure img[alt='Structure of CCO']")).to_have_js_property("complete", True)
    page.route("**/structures/**", lambda route: route.fulfill(status=204))
    page.reload()
    expect(page.get_by_text("CC(C)O", exact=True)).to_be_visible()  # a server that cannot draw: the text
