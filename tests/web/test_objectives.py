"""Studies with several objectives and constraints in every view, in a real browser."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.browser import sticking_out
from tests.web.conftest import CSV, Open
from tests.web.scene import Scene
from tests.web.test_looks import PARTS, PHONE, findings

QUANTITIES: dict[str, Any] = {
    "objectives": [
        {"name": "yield", "unit": "%", "direction": "maximize", "limits": {"low": 0, "high": 100}},
        {"name": "price", "unit": "EUR", "direction": "minimize"},
    ],
    "constraints": [{"name": "purity", "unit": "%", "at_least": 90}],
}


def values_of(number: int) -> dict[str, float]:
    """More yield costs more; every fourth candidate is not pure enough."""
    return {"yield": 20.0 + 3 * number, "price": 5.0 + number**1.5, "purity": 80.0 if number % 4 == 0 else 95.0}


@pytest.fixture
def study(scene: Scene, request: pytest.FixtureRequest) -> str:
    """The name of a fresh study with two objectives and a constraint."""
    name = request.node.name.removeprefix("test_").replace("_", "-")[:60].partition("[")[0]
    scene.study(name, CSV, **QUANTITIES)
    return name


@pytest.fixture
def worked(scene: Scene, study: str) -> str:
    """With ten results, and a batch of three on the bench b."""
    if not scene.send("GET", f"/v1/studies/{study}/observations")["observations"]:
        scene.report(study, *({"candidate": f"A{n}", "values": values_of(n)} for n in range(1, 11)))
        scene.ask(study, "b", min_size=3, max_size=3)
    return study


def pending_key(scene: Scene, study: str) -> str:
    key: str = scene.send("GET", f"/v1/studies/{study}/suggestions")["suggestions"][0]["key"]
    return key


def result_of(scene: Scene, study: str, key: str) -> Any:
    found = scene.send("GET", f"/v1/studies/{study}/observations")["observations"]
    return next(result for result in reversed(found) if result["key"] == key)


def test_the_overview_shows_the_front_as_a_chart_and_a_table_that_point_at_each_other(
    window: Open, scene: Scene, worked: str
) -> None:
    page = window().sign_in(scene.key, f"/studies/{worked}")
    front = scene.send("GET", f"/v1/studies/{worked}/front")
    rows = page.get_by_label("Candidates of the front").locator("tbody tr")
    best = front["measured"][0]["key"]
    expect(rows.filter(has=page.get_by_role("link", name=best, exact=True))).to_contain_text("measured")
    expect(page.locator(".stat", has_text="Can still be on the front").locator("strong")).to_have_text(
        str(front["possible"])
    )
    expect(page.locator(".stat", has_text="On the measured front").locator("strong")).to_have_text(
        str(len(front["measured"]))
    )
    expect(page.locator(".legend-list")).to_contain_text("measured, not good enough (2)")
    expect(page.locator(".legend-list")).to_contain_text("on a bench, as expected (3)")
    chart = page.get_by_role("figure", name="The front of the objectives")
    expect(chart.locator(".catch svg")).to_contain_text("price (EUR)")
    chart.locator(".catch").focus()
    page.keyboard.press("ArrowLeft")
    expect(chart.locator(".tip")).to_contain_text("on the measured front")
    key = chart.locator(".tip b").inner_text()
    page.keyboard.press("Enter")
    expect(page.get_by_label(f"Candidate {key}")).to_be_visible()
    expect(page.get_by_role("figure", name="Volume under the front").locator(".catch svg")).to_be_visible()


def test_the_axes_of_the_front_can_be_other_quantities(window: Open, scene: Scene, worked: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{worked}")
    chart = page.get_by_role("figure", name="The front of the objectives")
    page.get_by_label("Vertical").first.select_option("purity")
    expect(chart.locator(".catch svg")).to_contain_text("purity (%)")
    assert "up=purity" in page.url


def test_the_bench_takes_some_quantities_now_and_others_later(window: Open, scene: Scene, worked: str) -> None:
    key = pending_key(scene, worked)
    page = window().sign_in(scene.new_key("technician", worked), f"/studies/{worked}/bench/b")
    row = page.locator(".bench-row", has_text=key)
    page.get_by_label(f"yield of {key}", exact=True).fill("61,5")
    page.keyboard.press("Enter")
    expect(page.get_by_label(f"price of {key}", exact=True)).to_be_focused()
    expect(row.locator(".slot.saved").first).to_contain_text("61.5 %")
    expect(row).to_contain_text("partly measured")
    page.reload()
    expect(row.locator(".slot.saved").first).to_contain_text("61.5 %")
    page.get_by_label(f"price of {key}", exact=True).fill("20")
    page.keyboard.press("Enter")
    page.get_by_label(f"purity of {key}", exact=True).fill("85")
    page.keyboard.press("Enter")
    expect(row).to_contain_text("85 %")
    expect(row).to_contain_text("too low")
    expect(row).not_to_contain_text("partly measured")
    stored = result_of(scene, worked, key)
    assert {name: measured["value"] for name, measured in stored["values"].items()} == {
        "yield": 61.5,
        "price": 20.0,
        "purity": 85.0,
    }


def test_quantities_typed_without_a_connection_all_arrive(window: Open, scene: Scene, worked: str) -> None:
    key = pending_key(scene, worked)
    tablet = window()
    page = tablet.sign_in(scene.key, f"/studies/{worked}/bench/b")
    page.get_by_label(f"yield of {key}", exact=True).wait_for()
    tablet.lose_connection()
    for quantity, value in (("yield", "50"), ("price", "30"), ("purity", "97")):
        page.get_by_label(f"{quantity} of {key}", exact=True).fill(value)
        page.keyboard.press("Enter")
    expect(page.get_by_text("3 values not yet saved")).to_be_visible()
    tablet.regain_connection()
    expect(page.get_by_text("not yet saved")).to_have_count(0)
    expect(page.locator(".bench-row", has_text=key).locator(".quantity .slot.saved")).to_have_count(3)
    assert result_of(scene, worked, key)["missing"] == []


def test_a_value_outside_the_limits_is_saved_only_if_it_is_meant(window: Open, scene: Scene, worked: str) -> None:
    key = pending_key(scene, worked)
    page = window().sign_in(scene.key, f"/studies/{worked}/bench/b")
    page.get_by_label(f"yield of {key}", exact=True).fill("101")
    page.keyboard.press("Enter")
    question = page.locator(".doubt")
    expect(question).to_contain_text("Save 101 % anyway?")
    expect(question).to_contain_text("yield is between 0 and 100")
    page.get_by_role("button", name="Save 101", exact=True).click()
    expect(page.locator(".bench-row", has_text=key).locator(".quantity .slot.saved")).to_contain_text("101 %")
    assert result_of(scene, worked, key)["values"]["yield"]["value"] == 101


def test_a_limit_of_the_only_quantity_is_asked_about_as_well(window: Open, scene: Scene, study: str) -> None:
    name = f"{study}-alone"
    scene.study(name, CSV, objective="yield", unit="%", limits={"low": 0, "high": 100})
    key = scene.ask(name, "b", min_size=1, max_size=1)["suggestions"][0]["key"]
    page = window().sign_in(scene.key, f"/studies/{name}/bench/b")
    page.get_by_label(f"yield of {key}", exact=True).fill("104")
    page.keyboard.press("Enter")
    expect(page.locator(".doubt")).to_contain_text("Save 104 % anyway?")
    page.get_by_role("button", name="Save 104", exact=True).click()
    expect(page.locator(".slot.saved")).to_contain_text("104")


def test_what_is_taken_back_is_entered_again_with_all_its_quantities(window: Open, scene: Scene, worked: str) -> None:
    key = pending_key(scene, worked)
    page = window().sign_in(scene.key, f"/studies/{worked}/bench/b")
    row = page.locator(".bench-row", has_text=key)
    for quantity, value in (("yield", "50"), ("price", "30")):
        page.get_by_label(f"{quantity} of {key}", exact=True).fill(value)
        page.keyboard.press("Enter")
    expect(row.locator(".quantity .slot.saved")).to_have_count(2)
    page.get_by_role("button", name=f"Undo the value of {key}").click()
    expect(row).to_contain_text("Taken back.")
    page.get_by_role("button", name="Enter again").click()
    expect(page.get_by_label("price (EUR)")).to_have_value("30")
    page.get_by_label("yield (%)").fill("55")
    page.get_by_label("Reason").fill("wrong vial")
    page.get_by_role("button", name="Correct", exact=True).click()
    expect(row).to_contain_text("55 %")
    expect(row).to_contain_text("30 EUR")


def row_of(page: Page, key: str) -> Locator:
    return page.locator(".tr").filter(has=page.get_by_role("link", name=key, exact=True))


def test_results_have_a_column_for_each_quantity(window: Open, scene: Scene, worked: str) -> None:
    scene.report(worked, {"candidate": "A12", "values": {"price": 12.5}})
    page = window().sign_in(scene.key, f"/studies/{worked}/results")
    partly = row_of(page, "A12")
    expect(partly).to_contain_text("not yet")
    expect(partly).to_contain_text("12.5")
    expect(row_of(page, "A8")).to_contain_text("too low")
    page.get_by_role("button", name="price (EUR)").click()
    expect(page.locator(".rows .tr").first.get_by_role("link", name="A1", exact=True)).to_be_visible()
    page.get_by_label("Which results").select_option("partly")
    expect(page.get_by_text("1 result of 11")).to_be_visible()
    with page.expect_download() as download:
        page.locator(".tally").get_by_text("CSV", exact=True).click()
    header = Path(download.value.path()).read_text().splitlines()[0]
    assert header.startswith("observation,candidate,yield,price,purity,expected yield")
    page.get_by_role("button", name=re.compile("Correct result 11")).click()
    page.get_by_label("price (EUR)").fill("13")
    page.get_by_label("purity (%)").fill("91")
    page.get_by_label("Reason").fill("read again")
    page.get_by_role("button", name="Correct", exact=True).click()
    expect(partly).to_contain_text("13")
    assert result_of(scene, worked, "A12")["missing"] == ["yield"]


def test_a_candidate_and_its_results_show_every_quantity(window: Open, scene: Scene, worked: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{worked}/candidates/A3")
    expected = page.locator(".expectations > div")
    expect(expected).to_have_count(3)
    expect(expected.nth(2)).to_contain_text("at least 90 %")
    expect(page.get_by_text("chance that it is good enough")).to_be_visible()
    page.get_by_role("button", name="Add a result").click()
    page.get_by_label("purity (%)").fill("96,5")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".measurements li").last).to_contain_text("purity 96.5 %")


def test_the_list_of_candidates_expects_every_quantity(window: Open, scene: Scene, worked: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{worked}/candidates")
    for title in ("Expected yield (%)", "Expected price (EUR)", "Expected purity (%)", "Good enough"):
        expect(page.get_by_role("columnheader", name=title)).to_be_visible()
    expect(page.locator(".rows .tr").first.locator(".belief")).to_have_count(3)


def create(page: Page, file: Path, name: str) -> None:
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_label("Name").fill(name)


def test_a_study_with_several_objectives_and_a_constraint_is_created_with_its_history(
    window: Open, scene: Scene, study: str, tmp_path: Path
) -> None:
    file = tmp_path / "history.csv"
    file.write_text("key,t,yield (%),cost (EUR)\nA1,1,50,7\nA2,2,,\nA3,3,60,\n")
    page = window().sign_in(scene.key, "/create")
    create(page, file, f"{study}-new")
    page.get_by_label("Role of cost (EUR)").select_option("result")
    expect(page.get_by_label("Quantity 2", exact=True)).to_have_value("cost")
    page.locator(".further-row").first.get_by_label("What is wanted").select_option("minimize")
    page.get_by_role("button", name="Measure another quantity").click()
    page.get_by_label("Quantity 3", exact=True).fill("purity")
    page.locator(".further-row").nth(1).get_by_label("What is wanted").select_option("at_least")
    page.get_by_label("Limit", exact=True).fill("95")
    page.get_by_role("button", name="Create the study").click()
    expect(page.locator(".headline")).to_contain_text("Nobody has reported purity yet")
    settings = scene.send("GET", f"/v1/studies/{study}-new")["configuration"]
    assert [(one["name"], one["unit"], one["direction"]) for one in settings["objectives"]] == [
        ("yield", "%", "maximize"),
        ("cost", "EUR", "minimize"),
    ]
    assert [(one["name"], one["at_least"]) for one in settings["constraints"]] == [("purity", 95.0)]
    found = scene.send("GET", f"/v1/studies/{study}-new/observations")["observations"]
    assert [{name: one["value"] for name, one in result["values"].items()} for result in found] == [
        {"yield": 50.0, "cost": 7.0},
        {"yield": 60.0},
    ]


def test_a_second_column_with_past_results_is_never_taken_for_a_feature(
    window: Open, scene: Scene, tmp_path: Path
) -> None:
    file = tmp_path / "two results.csv"
    file.write_text("key,t,yield,conversion\nA1,1,50,70\nA2,2,40,60\n")
    page = window().sign_in(scene.key, "/create")
    create(page, file, "two-results")
    expect(page.get_by_label("Role of yield")).to_have_value("result")
    expect(page.get_by_label("Role of conversion")).to_have_value("attribute")


def test_the_settings_of_a_study_with_several_objectives_are_shown_and_changed(
    window: Open, scene: Scene, worked: str
) -> None:
    page = window().sign_in(scene.key, f"/studies/{worked}/settings")
    expect(page.locator(".facts").first).to_contain_text("price in EUR, smaller is better")
    expect(page.locator(".facts").first).to_contain_text("at least 90 %")
    page.get_by_role("button", name="Change").click()
    page.get_by_label("Largest batch").fill("7")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert scene.send("GET", f"/v1/studies/{worked}")["configuration"]["max_batch"] == 7


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"} | PHONE], ids=["light", "dark phone"])
def test_every_view_of_such_a_study_is_accessible_and_fits(
    window: Open, scene: Scene, worked: str, options: dict[str, Any]
) -> None:
    page = window(bypass_csp=True, **options).sign_in(scene.key, "/")
    found = set()
    for path in ("/", *(f"/studies/{worked}{part}" for part in PARTS)):
        page.goto(path)
        page.locator("h1").first.wait_for()
        page.locator(".skeleton").first.wait_for(state="detached")
        found |= {f"{path}: {violation}" for violation in findings(page)}
        found |= {f"{path}: {element}" for element in sticking_out(page)}
    assert found == set()


def test_candidates_are_sorted_by_any_quantity_and_each_has_insights_of_its_own(
    window: Open, scene: Scene, worked: str
) -> None:
    page = window().sign_in(scene.key, f"/studies/{worked}/candidates")
    page.get_by_role("button", name="Expected price").click()
    expected = scene.send("GET", f"/v1/studies/{worked}/candidates?posterior=true&sort=price mean&limit=1")
    expect(page.locator(".rows:not(.pins) .tr .key").first).to_have_text(expected["candidates"][0]["key"])
    with page.expect_response(lambda answer: "diagnostics?quantity=price" in answer.url):
        page.goto(f"/studies/{worked}/insights?quantity=price")
    expect(page.get_by_role("heading", name="Expected price by column")).to_be_visible()


def test_studies_are_compared_by_any_quantity(window: Open, scene: Scene, worked: str) -> None:
    page = window().sign_in(scene.key, f"/compare?study={worked}")
    page.get_by_label("Quantity", exact=True).select_option("price (EUR)")
    observed = scene.send("GET", f"/v1/studies/{worked}/observations")["observations"]
    values = [one["values"]["price"]["value"] for one in observed if "price" in one["values"]]
    row = page.get_by_role("row", name=worked)
    expect(row).to_contain_text(f"{min(values):.4g} EUR")
    page.get_by_label("Quantity", exact=True).select_option("the front")
    expect(page.get_by_role("heading", name="Volume under the front")).to_be_visible()
