"""Asking as people mean it: conditions, favourites, rules for the batch, and a look before it counts."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Open
from tests.web.scene import Scene
from tests.web.test_looks import PHONE, findings


def batches(scene: Scene, study: str) -> list[Any]:
    found: list[Any] = scene.send("GET", f"/v1/studies/{study}/batches")["batches"]
    return found


def members(scene: Scene, study: str, number: int = 1) -> dict[str, Any]:
    batch = scene.send("GET", f"/v1/studies/{study}/batches/{number}")
    return {suggestion["key"]: suggestion for suggestion in batch["suggestions"]}


@pytest.fixture
def dialog(window: Open, scene: Scene, study: str) -> Locator:
    """The dialog of an ask, after six results."""
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + 3 * n} for n in range(1, 7)))
    page = window().sign_in(scene.key, f"/studies/{study}")
    page.get_by_role("button", name="Ask for a batch").click()
    return page.get_by_role("dialog")


def ask_for(dialog: Locator, how: str, number: int) -> None:
    dialog.get_by_label("How many measurements").select_option(how)
    dialog.get_by_label("Number").fill(str(number))


def look(dialog: Locator) -> Locator:
    dialog.get_by_role("button", name="Preview").click()
    rows = dialog.get_by_label("Candidates of the preview").locator("tbody tr:not(.explanation)")
    rows.first.wait_for()
    return rows


def test_a_batch_is_looked_at_with_its_prices_and_then_issued_as_it_was_seen(
    dialog: Locator, scene: Scene, study: str
) -> None:
    ask_for(dialog, "exactly", 4)
    dialog.get_by_text("Which candidates").click()
    dialog.get_by_label("Column", exact=True).select_option("solvent")
    dialog.get_by_label("DMF").check()
    dialog.get_by_label("THF").check()
    dialog.get_by_role("button", name="Add condition").click()
    dialog.get_by_label("Write a condition").fill("temperature >= 60")
    dialog.page.keyboard.press("Enter")
    dialog.get_by_label("Include a candidate", exact=True).fill("a7")
    expect(dialog.locator("datalist option").first).to_be_attached()
    dialog.page.keyboard.press("Enter")
    dialog.get_by_label("Measurements of A7").fill("2")
    dialog.get_by_label("Leave out a candidate", exact=True).fill("A16")
    dialog.get_by_role("button", name="Leave out a candidate: add").click()
    rows = look(dialog)
    expect(dialog.get_by_label("Preview", exact=True)).to_contain_text("4 measurements of 3 candidates")
    expect(rows.filter(has_text="A7")).to_contain_text("your own")
    expect(dialog.locator(".prices li")).to_have_count(3)
    expect(dialog.locator(".prices")).to_contain_text("The filter: costs")
    assert batches(scene, study) == []
    seen = [row.locator("b").first.inner_text() for row in rows.all()]
    dialog.get_by_role("button", name="Issue this batch").click()
    dialog.page.get_by_role("heading", name="bench-1").wait_for()
    issued = members(scene, study)
    assert list(issued) == seen
    assert issued["A7"]["replicates"] == 2
    assert "A16" not in issued
    assert {suggestion["features"]["solvent"] for suggestion in issued.values()} <= {"DMF", "THF"}


def test_a_preview_that_no_longer_holds_is_not_issued_and_says_what_changed(
    dialog: Locator, scene: Scene, study: str
) -> None:
    ask_for(dialog, "exactly", 3)
    first = look(dialog).first.locator("b").first.inner_text()
    scene.send("PATCH", f"/v1/studies/{study}/candidates/{first}", json={"available": False, "reason": "sold"})
    dialog.get_by_role("button", name="Issue this batch").click()
    expect(dialog.get_by_role("alert")).to_contain_text("candidates were switched on or off")
    expect(dialog.get_by_label("Preview", exact=True)).to_contain_text(f"No longer: {first}")
    assert batches(scene, study) == []
    dialog.get_by_role("button", name="Issue this batch").click()
    dialog.page.get_by_role("heading", name="bench-1").wait_for()
    assert first not in members(scene, study)


def test_what_changes_the_request_makes_its_preview_old(dialog: Locator) -> None:
    look(dialog)
    expect(dialog.get_by_role("button", name="Issue this batch")).to_be_visible()
    dialog.get_by_label("Number").fill("2")
    expect(dialog.get_by_text("The request has changed since.")).to_be_visible()
    expect(dialog.get_by_role("button", name="Issue this batch")).to_have_count(0)


def test_rules_for_the_whole_batch_are_kept(dialog: Locator, scene: Scene, study: str) -> None:
    ask_for(dialog, "exactly", 3)
    dialog.get_by_text("What the batch shares").click()
    dialog.get_by_label("Column of the rule").select_option("solvent")
    dialog.get_by_role("button", name="Add rule").click()
    dialog.get_by_label("Column of the rule").select_option("batch no")
    dialog.get_by_label("Rule", exact=True).select_option("per")
    dialog.get_by_label("How many", exact=True).fill("2")
    dialog.get_by_role("button", name="Add rule").click()
    look(dialog)
    expect(dialog.locator(".prices")).to_contain_text("One solvent for the whole batch: costs")
    expect(dialog.locator(".prices")).to_contain_text("At most 2 measurements for each batch no: costs")
    dialog.get_by_role("button", name="Issue this batch").click()
    dialog.page.get_by_role("heading", name="bench-1").wait_for()
    issued = members(scene, study).values()
    assert len({suggestion["features"]["solvent"] for suggestion in issued}) == 1
    plates = [suggestion["attributes"]["batch no"] for suggestion in issued]
    assert max(plates.count(plate) for plate in plates) <= 2


def test_a_request_that_cannot_be_met_names_its_part_and_stores_nothing(
    dialog: Locator, scene: Scene, study: str
) -> None:
    dialog.get_by_text("Which candidates").click()
    dialog.get_by_label("Write a condition").fill("pressure > 3")
    dialog.page.keyboard.press("Enter")
    dialog.get_by_label("Include a candidate", exact=True).fill("Z9")
    dialog.page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Preview").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Z9: The study has no candidate with this key.")
    dialog.get_by_role("button", name="Remove Z9").click()
    dialog.get_by_role("button", name="Ask", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("pressure > 3")
    assert batches(scene, study) == []


def test_a_pinned_candidate_is_offered_as_a_favourite(window: Open, scene: Scene, study: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{study}/candidates")
    page.get_by_role("button", name="Pin A9").click()
    page.get_by_role("button", name="Ask for a batch").click()
    page.get_by_text("Which candidates", exact=True).click()
    page.get_by_role("button", name="Include A9, which is pinned").click()
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("heading", name="bench-1").wait_for()
    assert "A9" in members(scene, study)


def test_a_worker_with_an_open_batch_is_told_before_asking(window: Open, scene: Scene, study: str) -> None:
    scene.ask(study, "bench-1", min_size=2, max_size=2)
    page = window().sign_in(scene.key, f"/studies/{study}")
    page.get_by_role("button", name="Ask for a batch").click()
    expect(page.get_by_role("dialog")).to_contain_text("bench-1 still has batch 1 open, with 2 measurements to report.")
    page.get_by_label("Worker").fill("bench-2")
    expect(page.get_by_role("dialog")).not_to_contain_text("still has batch")
    page.get_by_label("Worker").fill("bench-1")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("heading", name="bench-1").wait_for()
    assert len(batches(scene, study)) == 1


def test_a_suggestion_is_swapped_with_a_reason(window: Open, scene: Scene, study: str) -> None:
    keys = [suggestion["key"] for suggestion in scene.ask(study, "b", min_size=3, max_size=3)["suggestions"]]
    page = window().sign_in(scene.new_key("client", study), f"/studies/{study}/bench/b")
    page.get_by_role("button", name=f"Swap {keys[0]}").click()
    page.get_by_label("Reason").fill("not in stock")
    page.get_by_label(f"May {keys[0]} be suggested again?").select_option("yes")
    page.get_by_role("dialog").get_by_role("button", name="Swap").click()
    expect(page.locator(".bench-row")).to_have_count(4)
    expect(page.locator(".bench-row", has_text=keys[0])).to_contain_text("Abandoned.")
    assert scene.send("GET", f"/v1/studies/{study}/candidates/{keys[0]}")["reason"] == "not in stock"


def test_a_technician_is_not_offered_to_swap(window: Open, scene: Scene, study: str) -> None:
    scene.ask(study, "b", min_size=2, max_size=2)
    page = window().sign_in(scene.new_key("technician", study), f"/studies/{study}/bench/b")
    page.get_by_role("button", name="Abandon").first.wait_for()
    expect(page.get_by_role("button", name="Swap")).to_have_count(0)


@pytest.fixture
def filled_plate(window: Open, scene: Scene, study: str) -> Page:
    """The bench of a batch that fills six wells, of which one was swapped."""
    asked = scene.ask(study, "b", composition={"wells": 6})
    suggestion = asked["suggestions"][0]["suggestion"]
    scene.send("POST", f"/v1/studies/{study}/suggestions/{suggestion}/swap", json={"reason": "not in stock"})
    page = window().sign_in(scene.key, f"/studies/{study}/bench/b")
    page.get_by_role("button", name="Print").click()
    return page


def test_a_plate_is_laid_out_to_print_and_as_csv(filled_plate: Page) -> None:
    page = filled_plate
    page.get_by_role("button", name="Plate layout").click()
    expect(page.locator(".plate td.filled")).to_have_count(6)
    page.get_by_label("In order of").select_option("temperature")
    expect(page.locator(".plate td.filled span").first).to_be_visible()
    with page.expect_response(lambda answer: "order_by=solvent" in answer.url):
        page.get_by_label("In order of").select_option("solvent")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV of the layout").click()
    rows = [line.split(",") for line in Path(download.value.path()).read_text().splitlines()]
    solvents = [row[rows[0].index("solvent")] for row in rows[1:]]
    assert [row[0] for row in rows] == ["well", "A1", "A2", "A3", "B1", "B2", "B3"]
    assert solvents == sorted(solvents)
    shown = page.locator(".plate tbody tr").first.locator("td").first
    expect(shown).to_contain_text(rows[1][rows[0].index("key")])
    page.emulate_media(media="print")
    assert not page.get_by_role("link", name="Back to the bench").is_visible()
    assert page.locator(".plate td.filled").first.is_visible()


def test_labels_carry_the_key_as_a_code_that_a_scanner_reads(filled_plate: Page) -> None:
    page = filled_plate
    page.get_by_role("button", name="Labels with codes").click()
    expect(page.locator(".label")).to_have_count(6)
    key = page.locator(".label b").first.inner_text()
    expect(page.get_by_role("img", name=f"Code of {key}", exact=True)).to_be_visible()
    assert len(page.locator(".label .qr path").first.get_attribute("d") or "") > 500


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"} | PHONE], ids=["light", "dark phone"])
def test_axe_finds_nothing_in_the_dialog_nor_on_paper(
    window: Open, scene: Scene, study: str, options: dict[str, Any]
) -> None:
    opened = window(bypass_csp=True, **options)
    page = opened.sign_in(scene.key, f"/studies/{study}")
    page.get_by_role("button", name="Ask for a batch").click()
    dialog = page.get_by_role("dialog")
    worker = "phone" if options else "desk"
    dialog.get_by_label("Worker").fill(worker)
    dialog.get_by_text("Which candidates").click()
    dialog.get_by_text("What the batch shares").click()
    dialog.get_by_role("button", name="Add rule").click()
    look(dialog)
    found = findings(page)
    assert not dialog.evaluate("dialog => dialog.scrollWidth > dialog.clientWidth")
    dialog.get_by_role("button", name="Issue this batch").click()
    page.get_by_role("heading", name=worker).wait_for()
    for show in ("plate", "labels"):
        page.goto(f"/studies/{study}/bench/{worker}?show={show}")
        page.locator(".plate td.filled, .label").first.wait_for()
        found |= findings(page)
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert found == set()
