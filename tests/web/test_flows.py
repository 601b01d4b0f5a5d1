"""What people do with the page, in a real browser on a real server. No clocks: each step waits for what it needs."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.server import Server
from tests.web.conftest import Open
from tests.web.scene import Scene


def results(page: Page) -> str:
    return page.locator(".stat", has_text="Results").locator("strong").inner_text()


def ask_on_the_page(page: Page, worker: str, most: int) -> None:
    page.get_by_role("button", name="Ask for a batch").click()
    page.get_by_label("Worker").fill(worker)
    page.get_by_label("How many measurements").select_option("most")
    page.get_by_label("Number").fill(str(most))
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("heading", name=worker).wait_for()


def test_a_study_from_a_csv_file_its_first_batch_and_its_first_results(
    postgres_backed: Server, window: Open, candidates_file: Path
) -> None:
    assert postgres_backed.key
    page = window(postgres_backed.address).sign_in(postgres_backed.key)
    expect(page.get_by_text("No studies yet")).to_be_visible()
    page.get_by_role("link", name="New study").first.click()
    page.locator("input[type=file]").set_input_files(candidates_file)
    expect(page.get_by_text("20 candidates, 3 features")).to_be_visible()
    page.get_by_label("Role of batch no").select_option("attribute")
    expect(page.get_by_text("20 candidates, 2 features")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("screen-one")
    page.get_by_label("Measured quantity").fill("yield")
    page.get_by_label("Unit").fill("%")
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_text("Nothing has been measured yet.")).to_be_visible()
    ask_on_the_page(page, "bench-1", 3)
    rows = page.locator(".bench-row")
    for number in range(rows.count()):
        rows.nth(number).locator(".entry input").fill(f"5{number},5")
        page.keyboard.press("Enter")
        expect(rows.nth(number).get_by_text("saved", exact=False)).to_contain_text("saved")
    expect(page.get_by_text("Batch 1 is complete")).to_be_visible()
    page.get_by_role("button", name="Ask for the next batch").click()
    expect(page.get_by_text("batch 2 ·")).to_be_visible()


def test_a_file_that_breaks_a_rule_is_refused_with_its_rows(window: Open, scene: Scene, tmp_path: Path) -> None:
    page = window().sign_in(scene.key, "/create")
    broken = tmp_path / "broken.csv"
    broken.write_text("key,temperature\nA1,90\nA1,95\n")
    page.locator("input[type=file]").set_input_files(broken)
    expect(page.get_by_role("alert")).to_contain_text("Row 3")
    expect(page.get_by_role("button", name="Create the study")).to_be_disabled()


def dots(page: Page) -> Locator:
    """The results in the chart of the overview: a circle of radius one, moved and scaled, for each."""
    return page.locator("figure[aria-label^='Results'] .catch svg path[d^='M1 0A1 1']")


def test_the_chart_changes_live_in_a_second_window(window: Open, scene: Scene, study: str) -> None:
    batch = scene.ask(study, "bench-1", min_size=3, max_size=3)
    watching = window().sign_in(scene.new_key("dashboard", study), f"/studies/{study}")
    expect(watching.locator(".live")).to_have_text("Live")
    expect(watching.get_by_text("The first result will appear here.")).to_be_visible()
    bench = window().sign_in(scene.new_key("technician", study), f"/studies/{study}/bench/bench-1")
    for number, suggestion in enumerate(batch["suggestions"], start=1):
        bench.get_by_label(f"yield of {suggestion['key']}", exact=True).fill(f"6{number}.5")
        bench.keyboard.press("Enter")
        expect(dots(watching)).to_have_count(number)
        expect(watching.locator(".headline")).to_contain_text(f"6{number}.5 %")
        assert results(watching) == str(number)
    expect(watching.locator("figure[aria-label^='Results'] .catch svg")).to_contain_text("best so far")


def test_a_value_typed_without_a_connection_is_kept_marked_and_sent_once(
    window: Open, scene: Scene, study: str
) -> None:
    batch = scene.ask(study, "tablet", min_size=3, max_size=3)
    first, second = (one["key"] for one in batch["suggestions"][:2])
    tablet = window(viewport={"width": 820, "height": 1180}, has_touch=True)
    page = tablet.sign_in(scene.key, f"/studies/{study}/bench/tablet")
    page.get_by_label(f"yield of {first}", exact=True).wait_for()
    tablet.lose_connection()
    page.get_by_label(f"yield of {first}", exact=True).fill("12.25")
    page.keyboard.press("Enter")
    page.get_by_label(f"yield of {second}", exact=True).fill("13.5")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 values not yet saved")).to_be_visible()
    expect(page.locator(".live")).to_have_text("Offline")
    assert scene.send("GET", f"/v1/studies/{study}/observations")["observations"] == []
    tablet.regain_connection()
    expect(page.locator(".slot.saved")).to_have_count(2)
    expect(page.get_by_text("not yet saved")).to_have_count(0)
    kept = scene.send("GET", f"/v1/studies/{study}/observations")["observations"]
    assert sorted(one["value"] for one in kept) == [12.25, 13.5]


@pytest.mark.parametrize("status", [408, 429])
def test_a_value_that_the_server_had_no_time_for_is_sent_again(
    window: Open, scene: Scene, study: str, status: int
) -> None:
    key = scene.ask(study, f"tablet-{status}", min_size=2, max_size=2)["suggestions"][0]["key"]
    tablet = window()
    page = tablet.sign_in(scene.key, f"/studies/{study}/bench/tablet-{status}")
    turned_away = []

    def turn_away_once(route: Route) -> None:
        if turned_away or route.request.method != "POST":
            route.continue_()
            return
        turned_away.append(route.request.url)
        route.fulfill(status=status, content_type="application/problem+json", body='{"detail": "Try again."}')

    tablet.offline = True  # what the browser says of that answer is expected
    page.route("**/observations*", turn_away_once)
    page.get_by_label(f"yield of {key}", exact=True).fill("12.25")
    page.keyboard.press("Enter")
    expect(page.locator(".slot.saved")).to_have_count(1)
    assert len(turned_away) == 1
    kept = scene.send("GET", f"/v1/studies/{study}/observations")["observations"]
    assert [one["value"] for one in kept if one["key"] == key] == [12.25]


def test_a_value_whose_request_hangs_is_sent_again(window: Open, scene: Scene, study: str) -> None:
    key = scene.ask(study, "hanging", min_size=2, max_size=2)["suggestions"][0]["key"]
    tablet = window()
    tablet.page.clock.install()
    page = tablet.sign_in(scene.key, f"/studies/{study}/bench/hanging")
    hanging: list[Route] = []

    def hang_once(route: Route) -> None:
        if hanging or route.request.method != "POST":
            route.continue_()
        else:
            hanging.append(route)

    page.route("**/observations*", hang_once)
    tablet.offline = True  # what the browser says of the request that was given up is expected
    page.get_by_label(f"yield of {key}", exact=True).fill("12.25")
    with page.expect_request(lambda request: request.method == "POST"):
        page.keyboard.press("Enter")
    page.clock.fast_forward(31_000)  # the request is given up
    expect(page.locator(".slot.saved")).to_have_count(1)


LOSE_ANSWERS = """() => {
  const send = window.fetch;
  const told = document.documentElement.dataset;
  window.fetch = async (address, options) => {
    if (options?.method !== "POST") return send(address, options);
    if (!told.lost) told.lost = (await send(address, options)).status;
    throw new TypeError("the answer was lost");
  };
}"""
"""The server has the first value, and the page never hears of it. In the page itself: a route of the browser's driver
can outlive the page that it belongs to, and hold the next one's request. The document says which answer was lost: to
wait for a script's value is to evaluate text, which the page's policy forbids."""


def test_unsent_values_outlive_the_page_and_an_answer_that_was_lost(window: Open, scene: Scene, study: str) -> None:
    key = scene.ask(study, "tablet", min_size=2, max_size=2)["suggestions"][0]["key"]
    page = window().sign_in(scene.key, f"/studies/{study}/bench/tablet")
    page.evaluate(LOSE_ANSWERS)
    page.get_by_label(f"yield of {key}", exact=True).fill("44.5")
    page.keyboard.press("Enter")
    expect(page.get_by_text("not yet saved").first).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-lost", "201")
    page.reload()
    expect(page.locator(".slot.saved")).to_contain_text("44.5")
    expect(page.get_by_text("not yet saved")).to_have_count(0)
    assert len(scene.send("GET", f"/v1/studies/{study}/observations")["observations"]) == 1


def test_a_scanned_key_moves_the_focus_to_its_row(window: Open, scene: Scene, study: str) -> None:
    keys = [one["key"] for one in scene.ask(study, "b", min_size=4, max_size=4)["suggestions"]]
    page = window().sign_in(scene.key, f"/studies/{study}/bench/b")
    page.get_by_label("Scan or type a key").fill(keys[2])
    page.keyboard.press("Enter")
    expect(page.get_by_label(f"yield of {keys[2]}", exact=True)).to_be_focused()
    page.keyboard.type(f"{keys[1]}\n")  # the scanner types into the field that has the focus
    expect(page.get_by_label(f"yield of {keys[1]}", exact=True)).to_be_focused()
    expect(page.get_by_label(f"yield of {keys[2]}", exact=True)).to_have_value("")
    page.keyboard.type("7.5\n")
    expect(page.locator(".slot.saved")).to_contain_text("7.5")


def test_a_wrong_value_is_corrected_with_a_reason_and_a_broken_vial_fails(
    window: Open, scene: Scene, study: str
) -> None:
    first, second, third = (one["key"] for one in scene.ask(study, "b", min_size=3, max_size=3)["suggestions"])
    page = window().sign_in(scene.new_key("technician", study), f"/studies/{study}/bench/b")
    page.get_by_label(f"yield of {first}", exact=True).fill("930")
    page.keyboard.press("Enter")
    page.get_by_role("button", name=f"Correct the value of {first}").click()
    page.get_by_label("New value").fill("93.0")
    page.get_by_label("Reason").fill("missed the point")
    page.get_by_role("button", name="Correct", exact=True).click()
    expect(page.locator(".slot.saved")).to_contain_text("93")
    expect(page.locator(".slot.saved")).to_contain_text("corrected")
    page.get_by_role("button", name=f"{second} failed").click()
    page.get_by_label("What happened").fill("vial broke")
    page.get_by_role("button", name="Mark as failed").click()
    expect(page.get_by_text("Marked as failed.")).to_be_visible()
    page.get_by_role("button", name=f"Abandon {third}").click()
    page.get_by_label("Reason").fill("no time")
    page.get_by_role("dialog").get_by_role("button", name="Abandon").click()
    expect(page.get_by_text("Abandoned.")).to_be_visible()
    expect(page.get_by_text("Batch 1 is complete")).to_be_visible()
    history = scene.send("GET", f"/v1/studies/{study}/observations/1")["observations"]
    assert [(one["value"], one["reason"]) for one in history] == [(930.0, None), (93.0, "missed the point")]


def test_a_filled_sheet_is_checked_before_it_is_saved(window: Open, scene: Scene, study: str, tmp_path: Path) -> None:
    suggestions = scene.ask(study, "b", min_size=3, max_size=3)["suggestions"]
    page = window().sign_in(scene.key, f"/studies/{study}/bench/b")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download sheet").click()
    sheet = Path(download.value.path()).read_text()
    assert sheet.startswith("suggestion,replicate,key")
    wrong, right = tmp_path / "wrong.csv", tmp_path / "right.csv"
    wrong.write_text(f"suggestion,value\n{suggestions[0]['suggestion']},much\n")
    right.write_text("suggestion,value\n" + "".join(f"{one['suggestion']},5{n}\n" for n, one in enumerate(suggestions)))
    page.get_by_role("button", name="Upload sheet").click()
    page.locator("dialog input[type=file]").set_input_files(wrong)
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("Row 2")
    page.locator("dialog input[type=file]").set_input_files(right)
    expect(page.get_by_text("3 new values")).to_be_visible()
    assert scene.send("GET", f"/v1/studies/{study}/observations")["observations"] == []
    page.get_by_role("button", name="Save 3 rows").click()
    expect(page.get_by_text("Batch 1 is complete")).to_be_visible()


def test_candidates_are_sorted_filtered_pinned_and_switched_off(window: Open, scene: Scene, study: str) -> None:
    scene.report(study, {"candidate": "A7", "value": 80.0}, {"candidate": "A8", "value": 20.0})
    page = window().sign_in(scene.key, f"/studies/{study}/candidates")
    rows = page.locator(".rows:not(.pins) .tr")
    expect(rows.first).to_contain_text("A7")
    expect(rows.first).to_contain_text("measured")
    page.get_by_role("button", name="Expected yield").click()
    expect(rows.first).to_contain_text("A8")
    page.get_by_label("Add a filter").fill("temperature>=120")
    page.keyboard.press("Enter")
    expect(page.get_by_text("5 candidates of 20")).to_be_visible()
    page.get_by_label("Find a key").fill("A2")
    expect(page.get_by_text("1 candidate of 20")).to_be_visible()
    page.get_by_role("button", name="Pin A20").click()
    expect(page.locator(".pins .tr")).to_contain_text("A20")
    page.locator(".rows:not(.pins)").get_by_role("button", name="Mark A20 as unavailable").click()
    page.get_by_label("Reason").fill("out of stock")
    page.get_by_role("button", name="Mark as unavailable", exact=True).click()
    expect(rows.first).to_contain_text("out of stock")
    assert scene.send("GET", f"/v1/studies/{study}/candidates/A20")["reason"] == "out of stock"


def test_a_hundred_thousand_candidates_scroll(window: Open, scene: Scene) -> None:
    text = "key,a,b\n" + "".join(f"K{n},{n % 317},{n % 211}\n" for n in range(100_000))
    scene.study("very-long", text)
    page = window().sign_in(scene.key, "/studies/very-long/candidates")
    expect(page.get_by_text("100,000 candidates")).to_be_visible()
    page.locator(".table-frame").evaluate("frame => { frame.scrollTop = frame.scrollHeight }")
    expect(page.locator(".tr", has_text=re.compile("K99999"))).to_be_visible()
    assert page.locator(".tr").count() < 100


def test_the_history_can_be_replayed_and_verified_and_read(window: Open, scene: Scene, study: str) -> None:
    scene.ask(study, "b", min_size=2, max_size=2)
    page = window().sign_in(scene.key, f"/studies/{study}/batches")
    page.get_by_role("button", name="Compute batch 1 again").click()
    expect(page.get_by_text("identical, bit for bit")).to_be_visible()
    page.get_by_role("button", name="Verify the ledger").click()
    expect(page.get_by_text("are intact")).to_be_visible()
    page.get_by_role("link", name="Timeline").click()
    expect(page.locator(".timeline li")).to_have_count(3)
    scene.report(study, {"candidate": "A3", "value": 3.5})
    expect(page.locator(".timeline li")).to_have_count(4)
    expect(page.get_by_role("heading", name="Today")).to_be_visible()
    expect(page.locator(".timeline li").first).to_contain_text("A3 3.5 %")  # what was reported, not only how many
    scene.send("PATCH", f"/v1/studies/{study}", json={"tags": ["screen"], "max_batch": 7}, headers={"If-Match": "*"})
    expect(page.locator(".timeline li").first).to_contain_text("Changed: max batch, tags")
    page.get_by_label("Kind of event").select_option("batches")
    expect(page.locator(".timeline li")).to_have_count(1)
    page.get_by_role("link", name="Batch 1 issued to b").click()
    expect(page.get_by_role("button", name="Batch 1, show")).to_have_attribute("aria-expanded", "true")
    page.get_by_role("link", name="Map").click()
    page.get_by_label("Horizontal").select_option("temperature")
    expect(page.get_by_label("Vertical")).to_have_value("solvent")  # another column than the horizontal one
    page.locator("label", has_text="Colour").locator("select").select_option("std")
    expect(page.locator(".legend")).to_contain_text("uncertainty")


def test_the_timeline_shows_the_words_of_an_event_or_else_its_type(window: Open, scene: Scene, study: str) -> None:
    scene.ask(study, "b", min_size=2, max_size=2)

    def add_words(route: Route) -> None:
        answer = route.fetch().json()
        answer["events"][-1]["words"] = "Batch 1 issued to b: 2 measurements"
        answer["events"][0].pop("words", None)
        route.fulfill(json=answer)

    opened = window()
    opened.page.route(re.compile(r"/events\?"), add_words)
    page = opened.sign_in(scene.key, f"/studies/{study}/events")
    expect(page.locator(".timeline li").first).to_contain_text("Batch 1 issued to b: 2 measurements by you")
    expect(page.locator(".timeline li").last).to_contain_text("Study created by you")


def test_a_study_is_paused_with_a_reason_and_resumed(window: Open, scene: Scene, study: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{study}/settings")
    page.get_by_role("button", name="Pause").click()
    page.get_by_label("Reason").fill("holidays")
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.locator(".head .chip")).to_have_text("paused")
    expect(page.get_by_role("button", name="Ask for a batch")).to_have_count(0)
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Ask for a batch")).to_be_visible()
