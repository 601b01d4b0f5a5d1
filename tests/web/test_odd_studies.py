"""Studies unlike the examples: large and tiny values, columns whose names begin alike, long names, only failures."""

from itertools import pairwise

import pytest
from playwright.sync_api import Page, Route, expect

from tests.web.conftest import Open
from tests.web.scene import Scene
from tests.web.test_looks import PHONE

NAME = "costly"
WORKER = "Dr.Maximiliane-Theodora-von-Hohenstein-bench-by-the-window"
COLUMNS = [f"descriptor {number:02d} of the ligand (kJ/mol)" for number in range(18)]
CRACKED = "the vial was found cracked in the morning"


@pytest.fixture
def costly(scene: Scene) -> str:
    """Made once for the server of these tests."""
    if scene.http.get(f"/v1/studies/{NAME}").is_success:
        return NAME
    rows = [f"K{n}," + ",".join(str((n * (7 + column)) % 31) for column in range(len(COLUMNS))) for n in range(30)]
    text = "\n".join([",".join(["key", *COLUMNS]), *rows])
    objective = {"objective": "margin per kilogram of isolated product", "unit": "USD"}
    scene.study(NAME, text, **objective, description="One sentence of the description. " * 12)
    for _ in range(2):
        batch = scene.ask(NAME, WORKER, min_size=6, max_size=6)["suggestions"]
        values = [{"suggestion": one["suggestion"], "value": 500_000 + 9_871.3 * int(one["key"][1:])} for one in batch]
        failures = [{"suggestion": one["suggestion"], "failed": {"reason": CRACKED}} for one in batch[:2]]
        scene.report(NAME, *failures, *values[2:])
    scene.ask(NAME, WORKER, min_size=2, max_size=2)
    return NAME


def test_an_estimate_has_few_digits_and_stays_in_its_tile(window: Open, scene: Scene, costly: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{costly}")
    for width in (1280, 820, 390):
        page.set_viewport_size({"width": width, "height": 900})
        tiles = page.locator(".stat strong")
        tiles.first.wait_for()
        cut = tiles.evaluate_all("them => them.filter(it => it.scrollWidth > it.clientWidth).map(it => it.innerText)")
        assert cut == [], width
    assert page.locator(".stat", has_text="Still to gain").locator("strong").inner_text().endswith("00\u00a0USD")
    middle, _, around = page.locator(".stat", has_text="Predicted best").locator("strong").inner_text().partition("±")
    assert middle.strip().endswith("00")
    assert around.strip().endswith("00\u00a0USD")


def test_a_chart_is_zoomed_with_buttons_that_a_finger_reaches(window: Open, scene: Scene, costly: str) -> None:
    page = window(**PHONE).sign_in(scene.key, f"/studies/{costly}")
    figure = page.get_by_role("figure", name="Results and the best so far")
    labels = figure.locator("svg text")
    expect(figure.get_by_text("1", exact=True)).to_be_visible()
    whole = labels.all_text_contents()
    button = figure.get_by_role("button", name="Zoom in")
    assert button.evaluate("it => getComputedStyle(it.parentElement).opacity") == "1"
    button.click()
    expect(figure.get_by_text("1", exact=True)).to_have_count(0)
    figure.get_by_role("button", name="Zoom out").click()
    expect(figure.get_by_text("1", exact=True)).to_be_visible()
    assert labels.all_text_contents() == whole


@pytest.mark.parametrize("part", ["candidates", "results"])
def test_heads_of_columns_are_cut_at_their_end_and_never_overlap(
    window: Open, scene: Scene, costly: str, part: str
) -> None:
    page = window().sign_in(scene.key, f"/studies/{costly}/{part}")
    page.locator(".tr .key").first.wait_for()
    cells = page.get_by_role("columnheader").evaluate_all(
        """heads => heads.map(head => {
            const text = head.querySelector('.clip')
            const [outer, inner] = [head, text ?? head].map(it => it.getBoundingClientRect())
            return {words: head.innerText, before: inner.left - outer.left, after: outer.right - inner.right}
        })"""
    )
    assert [
        cell for cell in cells if cell["before"] < -6 or cell["after"] < -1
    ] == []  # a button's edge is 6 px outside
    if part == "candidates":
        shown = page.locator(".belief .number").evaluate_all(
            "them => them.every(it => it.scrollWidth <= it.clientWidth)"
        )
        assert shown


def test_a_long_worker_has_a_wide_heading(window: Open, scene: Scene, costly: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{costly}/bench/{WORKER}")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(WORKER)
    assert heading.evaluate("it => it.offsetHeight / parseFloat(getComputedStyle(it).lineHeight)") < 2.5
    expect(page.locator(".bench-head")).to_contain_text("0 of 2 candidates done")


def test_a_name_with_a_space_is_refused_in_words(window: Open, scene: Scene, costly: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{costly}")
    page.get_by_role("button", name="Ask for a batch").click()
    worker = page.get_by_label("Worker")
    worker.fill("bench 3")
    page.get_by_role("button", name="Preview").click()
    expect(worker).to_be_focused()
    assert "no spaces" in worker.evaluate("it => it.validationMessage")
    worker.fill("bench-3")
    assert worker.evaluate("it => it.checkValidity()")


def test_results_do_not_wait_for_how_it_went(window: Open, scene: Scene, costly: str) -> None:
    opened = window()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    opened.page.route("**/trace", hold)
    page = opened.sign_in(scene.key, f"/studies/{costly}/results")
    expect(page.locator(".tr .key").first).to_be_visible()
    page.get_by_role("link", name="Batches", exact=True).click()
    expect(page.get_by_role("status", name="Loading")).to_be_visible()
    expect(page.get_by_text("No batch yet")).to_have_count(0)
    for route in held:
        route.continue_()
    expect(page.locator("table.batches")).to_be_visible()


def test_batches_say_what_came_of_them_on_a_phone_too(window: Open, scene: Scene, costly: str) -> None:
    page = window(**PHONE).sign_in(scene.key, f"/studies/{costly}/batches")
    rows = page.locator("table.batches tbody tr")
    expect(rows.nth(1)).to_contain_text("4 of 6")
    results = scene.send("GET", f"/v1/studies/{costly}/observations")["observations"]
    best = max(results, key=lambda result: result["value"])
    last = best["suggestion"].partition("-")[0].removeprefix("B")
    expect(rows.nth(3 - int(last))).to_contain_text(best["key"])
    if last == "2":
        expect(rows.nth(1)).to_contain_text("new best")
    frame = page.get_by_role("region", name="Batches, scrollable")
    assert frame.evaluate("it => it.scrollWidth <= it.clientWidth")


def test_failures_name_their_candidates_and_each_reason_once(window: Open, scene: Scene, costly: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{costly}/events")
    entry = page.locator(".timeline li", has_text="2 measurements failed.").first
    expect(entry.get_by_text(CRACKED)).to_have_count(1)
    key = entry.locator(".key").first
    name = key.inner_text()
    key.click()
    expect(page.locator(".drawer")).to_contain_text(name)


def test_many_columns_are_told_apart_and_keep_the_settings_short(window: Open, scene: Scene, costly: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{costly}/insights")
    labels = page.get_by_role("figure", name="Which columns matter").locator("svg text")
    labels.first.wait_for()
    names = [text for text in labels.all_text_contents() if text.startswith("descriptor")]
    assert len(names) == len(set(names)) > 8
    boxes = labels.evaluate_all(
        "them => them.filter(it => it.textContent.startsWith('descriptor')).map(it => it.getBoundingClientRect().top)"
    )
    boxes.sort()
    assert min(lower - upper for upper, lower in pairwise(boxes)) >= 14
    page.get_by_role("link", name="Settings").click()
    assert page.get_by_role("region", name="Columns").evaluate("it => it.offsetHeight") <= 480
    description = page.get_by_text("One sentence of the description.")
    short = description.evaluate("it => it.offsetHeight")
    page.get_by_role("button", name="Show all").click()
    assert description.evaluate("it => it.offsetHeight") > short


def test_the_numbers_of_events_stay_on_one_line(window: Open, scene: Scene, costly: str) -> None:
    page: Page = window(**PHONE).sign_in(scene.key, f"/studies/{costly}/audit")
    numbers = page.locator(".stored summary > .mono")
    numbers.first.wait_for()
    assert max(numbers.evaluate_all("them => them.map(it => it.offsetHeight)")) < 30


def test_nothing_is_expected_before_the_first_result(window: Open, scene: Scene, study: str) -> None:
    first = scene.ask(study, "b", min_size=2, max_size=2)["suggestions"][0]
    scene.report(study, {"suggestion": first["suggestion"], "failed": {"reason": CRACKED}})
    page = window().sign_in(scene.key, f"/studies/{study}/candidates")
    expect(page.locator(".tr", has_text="A1")).not_to_have_count(0)
    assert "±" not in page.get_by_role("table", name="Candidates").inner_text()
    page.get_by_role("link", name="A1", exact=True).click()
    expect(page.locator(".drawer")).to_contain_text("Nothing can be expected yet")


def test_a_tiny_value_and_its_uncertainty_share_a_power_of_ten(window: Open, scene: Scene, study: str) -> None:
    name = f"{study}-of-1"
    scene.study(name, "key,x\n" + "".join(f"T{n},{n}\n" for n in range(8)), objective="loss", direction="minimize")
    scene.report(name, *({"candidate": f"T{n}", "value": (n - 3) ** 2 * 1e-8 + 2e-8} for n in range(6)))
    page = window().sign_in(scene.key, f"/studies/{name}/candidates")
    texts = page.locator(".belief .number")
    texts.first.wait_for()
    assert "× 10⁻" in texts.first.inner_text()
    assert texts.evaluate_all("them => them.every(it => it.scrollWidth <= it.clientWidth)")


@pytest.mark.parametrize("part", ["candidates", "results"])
def test_a_table_without_rows_says_why(window: Open, scene: Scene, costly: str, part: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{costly}/{part}")
    page.locator(".tr .key").first.wait_for()
    page.get_by_label("Find a key").fill("nothing like this")
    expect(page.get_by_text("is like that.")).to_be_visible()
    page.get_by_label("Find a key").fill("")
    expect(page.get_by_text("is like that.")).to_have_count(0)


def test_a_wrong_filter_is_told_without_the_words_of_the_api(window: Open, scene: Scene, costly: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{costly}/candidates?where=colour%3Dred")
    expect(page.get_by_role("alert")).to_contain_text("no feature or attribute of this name")
    expect(page.get_by_role("alert")).not_to_contain_text("errors`")
