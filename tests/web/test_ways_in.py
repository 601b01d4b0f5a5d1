"""The same work by touch, by keyboard alone, and on the screen of a phone."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.web.browser import eventually
from tests.web.conftest import CSV, Open
from tests.web.scene import Scene
from tests.web.test_looks import PHONE

TABLET = {"viewport": {"width": 820, "height": 1180}, "has_touch": True}
FOCUSED = """() => {
  const element = document.activeElement;
  const label = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent;
  return label.trim();
}"""


def recorded(scene: Scene, study: str) -> list[float]:
    page = scene.send("GET", f"/v1/studies/{study}/observations")
    return [one["value"] for one in page["observations"] if one["state"] == "recorded"]


def tab_to(page: Page, name: str) -> None:
    """Press Tab until something of that name has the focus."""
    for _ in range(60):
        if re.match(name, str(page.evaluate(FOCUSED))):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reaches {name}")


def type_into(page: Page, name: str, text: str) -> None:
    tab_to(page, name)
    page.keyboard.press("Control+A")
    page.keyboard.type(text)


def test_the_keyboard_alone_signs_in_asks_reports_and_corrects(window: Open, scene: Scene, study: str) -> None:
    page = window().page
    page.goto(f"/studies/{study}")
    page.get_by_label("Your key").wait_for()
    type_into(page, "Your key", scene.key)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Ask for a batch")).to_be_visible()
    tab_to(page, "Ask for a batch")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    type_into(page, "Worker", "bench-1")
    tab_to(page, "How many measurements")
    page.keyboard.type("exactly")
    type_into(page, "Number", "2")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="bench-1")).to_be_visible()
    first = page.locator(".bench-row .key").first.inner_text()
    type_into(page, f"yield of {first}", "61.5")
    page.keyboard.press("Enter")
    expect(page.locator(".slot.saved")).to_have_count(1)
    page.keyboard.type("63.5")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Batch 1 is complete")).to_be_visible()
    tab_to(page, f"Correct the value of {first}")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    type_into(page, "New value", "62.5")
    type_into(page, "Reason", "read the wrong line")
    page.keyboard.press("Enter")
    expect(page.locator(".slot.saved", has_text="62.5")).to_be_visible()
    assert sorted(recorded(scene, study)) == [62.5, 63.5]


def test_a_batch_is_asked_for_and_reported_by_touch(window: Open, scene: Scene, study: str) -> None:
    page = window(**TABLET).sign_in(scene.key, f"/studies/{study}")
    page.get_by_role("button", name="Ask for a batch").tap()
    page.get_by_label("Worker").fill("tablet")
    page.get_by_label("How many measurements").select_option("exactly")
    page.get_by_label("Number").fill("2")
    page.get_by_role("button", name="Preview").tap()
    expect(page.get_by_label("Candidates of the preview").locator("tbody b")).to_have_count(2)
    page.get_by_role("button", name="Issue this batch").tap()
    expect(page.get_by_role("heading", name="tablet")).to_be_visible()
    for value in ("41", "42"):
        row = page.locator(".bench-row[data-state=pending]").first
        row.locator(".entry input").fill(value)
        row.get_by_role("button", name="Save").tap()
        expect(page.locator(".slot.saved", has_text=value)).to_be_visible()
    assert recorded(scene, study) == [41.0, 42.0]


def test_a_tap_on_a_result_names_it_and_opens_its_candidate(window: Open, scene: Scene, study: str) -> None:
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + 3 * n} for n in range(1, 6)))
    page = window(**TABLET).sign_in(scene.key, f"/studies/{study}")
    dot = page.locator("figure[aria-label^='Results'] .catch svg path[d^='M1 0A1 1']").nth(2)
    dot.wait_for()
    tap(page, dot)
    expect(page.locator("figure[aria-label^='Results'] .tip")).to_contain_text("29 % · A3")
    expect(page.get_by_role("region", name="Candidate A3")).to_be_visible()


def tap(page: Page, target: Locator) -> None:
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


# The first pixel of the map that has a colour, seen from the corner of its canvas: a part of a dot.
COLOURED = """canvas => {
  const { width, height } = canvas;
  const copy = Object.assign(document.createElement("canvas"), { width, height });
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  for (let at = 0; at < data.length; at += 4) {
    const [red, green, blue, opaque] = data.slice(at, at + 4);
    if (opaque > 200 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) {
      const pixel = at / 4;
      const scale = canvas.clientWidth / width;
      return [((pixel % width) + 0.5) * scale, (Math.floor(pixel / width) + 3) * scale];
    }
  }
  return null;
}"""


def test_a_tap_on_the_map_opens_a_candidate(window: Open, scene: Scene, study: str) -> None:
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + 3 * n} for n in range(1, 6)))
    page = window(**TABLET).sign_in(scene.key, f"/studies/{study}/map?x=temperature&y=solvent")
    canvas = page.locator(".chart.map canvas").first
    canvas.wait_for()
    canvas.scroll_into_view_if_needed()
    x, y = eventually(page, lambda: canvas.evaluate(COLOURED))
    box = canvas.bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + x, box["y"] + y)
    expect(page.get_by_role("region", name=re.compile(r"Candidate A\d+"))).to_be_visible()


def test_a_phone_is_enough_for_a_round_of_work(window: Open, scene: Scene, study: str) -> None:
    """From the list of studies to a corrected result at 390 pixels: nothing sticks out, and all is reached by a tap."""
    page = window(**PHONE).sign_in(scene.key, f"/?find={study}")
    fits(page)
    heading, new = (page.get_by_role(role, name=name) for role, name in (("heading", "Studies"), ("link", "New study")))
    assert middle(heading) == middle(new), "New study stands on a line of its own"
    page.get_by_role("link", name=study, exact=True).tap()
    page.get_by_role("button", name="Ask for a batch").tap()
    page.get_by_label("Worker").fill("phone")
    page.get_by_label("How many measurements").select_option("exactly")
    page.get_by_label("Number").fill("1")
    fits(page)
    page.get_by_role("button", name="Ask", exact=True).tap()
    field = page.locator(".bench-row .entry input")
    field.fill("51")
    fits(page)
    page.get_by_role("button", name="Save").tap()
    expect(page.get_by_text("Batch 1 is complete")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Correct")).first.tap()
    page.get_by_label("New value").fill("52")
    page.get_by_label("Reason").fill("read the wrong line")
    page.get_by_role("dialog").get_by_role("button", name="Correct").tap()
    expect(page.locator(".slot.saved")).to_contain_text("52")
    page.goto(f"/studies/{study}/results")
    expect(page.locator(".tr b").first).to_have_text("52")
    fits(page)


def middle(target: Locator) -> int:
    box = target.bounding_box()
    assert box
    return round((box["y"] + box["height"] / 2) / 10)


def fits(page: Page) -> None:
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_the_names_in_the_bar_are_whole_where_there_is_room(window: Open, scene: Scene) -> None:
    scene.study("suzuki-coupling", CSV, objective="yield")
    scene.ask("suzuki-coupling", "bench-1", min_size=1, max_size=1)
    key = scene.new_key("scientist", "suzuki-coupling", name="Dr. Ada Weber")
    page = window(**TABLET).sign_in(key, "/studies/suzuki-coupling/bench/bench-1")
    page.locator(".bench-row").first.wait_for()
    for trail in page.locator(".bar .trail").all():
        assert trail.evaluate("trail => trail.scrollWidth <= trail.clientWidth")
