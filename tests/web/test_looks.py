"""How the page looks to different people: roles, colours, screens, and those who use a keyboard or a screen reader."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.web.browser import sticking_out
from tests.web.conftest import Open
from tests.web.scene import Scene

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
DARK = {"color_scheme": "dark"}
EVERY_LOOK: dict[str, dict[str, Any]] = {"light": {}, "dark": DARK, "light phone": PHONE, "dark phone": DARK | PHONE}
PARTS = (
    *("", "/results", "/results?candidate=A3", "/candidates", "/candidates/A3", "/insights", "/map", "/batches?open=1"),
    *("/events", "/forecast", "/settings", "/audit", "/bench", "/bench/b"),
)


@pytest.fixture
def worked(scene: Scene, study: str) -> str:
    """A study with a few results and an open batch."""
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + 3 * n} for n in range(1, 7)))
    scene.ask(study, "b", min_size=3, max_size=3)
    return study


def test_what_a_role_may_not_do_is_not_shown(window: Open, scene: Scene, worked: str) -> None:
    page = window().sign_in(scene.new_key("dashboard", worked), f"/studies/{worked}/settings")
    expect(page.get_by_role("heading", name="Status")).to_be_visible()
    for name in ("Ask for a batch", "Pause", "Archive", "Change"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_role("link", name="Bench")).to_have_count(0)
    page.goto("/")
    expect(page.get_by_role("link", name=worked)).to_be_visible()
    expect(page.get_by_role("link", name="New study")).to_have_count(0)
    page.goto("/create")
    expect(page.get_by_text("Your key does not allow this")).to_be_visible()
    page.goto(f"/studies/{worked}/bench/b")
    expect(page.locator(".bench-row").first).to_be_visible()
    expect(page.locator(".bench-row input")).to_have_count(0)


def test_a_technician_reports_and_does_not_ask(window: Open, scene: Scene, worked: str) -> None:
    page = window().sign_in(scene.new_key("technician", worked), f"/studies/{worked}/bench/b")
    expect(page.locator(".bench-row input").first).to_be_visible()
    page.goto(f"/studies/{worked}")
    expect(page.get_by_role("link", name="Bench")).to_be_visible()
    expect(page.get_by_role("button", name="Ask for a batch")).to_have_count(0)


def test_a_study_that_is_not_granted_cannot_be_told_from_none(window: Open, scene: Scene, worked: str) -> None:
    page = window().sign_in(scene.new_key("scientist"), f"/studies/{worked}")
    expect(page.get_by_text("Study not found")).to_be_visible()
    page.goto("/studies/never-was")
    expect(page.get_by_text("Study not found")).to_be_visible()


def test_a_wrong_key_is_told_and_signing_out_leaves_nothing(window: Open, scene: Scene) -> None:
    opened = window()
    page = opened.page
    page.goto("/")
    page.get_by_label("Your key").fill("nb_000000000000_" + "A" * 43)
    opened.offline = True  # the browser reports the 401 on its console
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("does not accept this key")
    opened.offline = False
    opened.sign_in(scene.key)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Your key")).to_be_visible()
    page.goto("/")
    expect(page.get_by_label("Your key")).to_be_visible()


def background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_dark_follows_the_system_and_the_choice_is_remembered(window: Open, scene: Scene) -> None:
    page = window(color_scheme="dark").sign_in(scene.key)
    dark = background(page)
    page.get_by_role("button", name="Use light colours").click()
    light = background(page)
    assert dark != light
    page.reload()
    expect(page.get_by_role("button", name="Use dark colours")).to_be_visible()
    assert background(page) == light


def test_the_keyboard_reaches_a_result_in_the_chart(window: Open, scene: Scene, worked: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{worked}")
    page.locator("figure[aria-label^='Results'] .catch").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("figure[aria-label^='Results'] .tip")).to_contain_text("38 %")


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"} | PHONE], ids=["light", "dark phone"])
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_screen(
    window: Open, scene: Scene, worked: str, options: dict[str, Any]
) -> None:
    opened = window(bypass_csp=True, **options)
    opened.page.goto("/")
    opened.page.get_by_label("Your key").wait_for()
    found = findings(opened.page)
    page = opened.sign_in(scene.key)
    for path in (
        "/",
        "/create",
        "/?state=deleted",
        "/compare",
        "/compare?show=distribution",
        "/people",
        "/help",
        *(f"/studies/{worked}{part}" for part in PARTS),
        "/docs",
    ):
        page.goto(path)
        page.locator("h1").first.wait_for()
        page.locator(".skeleton").first.wait_for(state="detached")
        found |= {f"{path}: {one}" for one in findings(page)}
        found |= {f"{path}: {element}" for element in sticking_out(page)}
    assert found == set()


def findings(page: Page) -> set[str]:
    """What axe finds, of any impact."""
    answer = Axe().run(page).response
    return {f"{one['id']} {node['target']}" for one in answer["violations"] for node in one["nodes"]}


@pytest.mark.parametrize(
    ("locale", "amount", "precise"), [("en-US", "500,000 USD", "12,345.25"), ("de-DE", "500.000 USD", "12.345,25")]
)
def test_numbers_are_written_as_the_reader_writes_them(
    window: Open, scene: Scene, study: str, locale: str, amount: str, precise: str
) -> None:
    name = f"{study}-{locale.lower()}"
    scene.study(name, "key,t\nA,1\nB,2\n", objective="price", unit="USD")
    scene.report(name, {"candidate": "A", "value": 500_000}, {"candidate": "B", "value": 12_345.25})
    page = window(locale=locale).sign_in(scene.key, "/")
    expect(page.locator(".study-card", has_text=name).locator("strong").first).to_have_text(amount)
    page.goto(f"/studies/{name}/results")
    expect(page.locator(".tr", has_text="B").locator("b").first).to_have_text(precise)


def test_on_paper_a_bench_is_a_form_with_what_was_reported(window: Open, scene: Scene, study: str) -> None:
    first, second = scene.ask(study, "b", min_size=2, max_size=2)["suggestions"]
    scene.report(study, {"suggestion": first["suggestion"], "value": 61.5})
    page = window().sign_in(scene.key, f"/studies/{study}/bench/b")
    page.locator(".slot.saved").wait_for()
    page.emulate_media(media="print")
    expect(page.locator(".bench-row", has_text=first["key"])).to_contain_text("61.5")
    expect(page.get_by_label(f"yield of {second['key']}", exact=True)).to_be_visible()
    for hidden in (".bar", ".scan", ".earlier", ".slot.saved button"):
        assert not page.locator(hidden).first.is_visible()


def test_the_tools_above_the_candidates_stay_on_one_line(window: Open, scene: Scene, worked: str) -> None:
    page = window(viewport={"width": 1280, "height": 860}).sign_in(scene.key, f"/studies/{worked}/candidates")
    tools = page.locator(".tools > *, .tools .tally")
    tools.first.wait_for()
    boxes = [box for one in tools.all() if (box := one.bounding_box()) and box["height"] > 0]
    assert max(box["y"] for box in boxes) < min(box["y"] + box["height"] for box in boxes)


def test_a_wall_shows_what_to_do_next_and_needs_no_scrolling(window: Open, scene: Scene, worked: str) -> None:
    for number in range(12):  # narrow cards, with long words and large values
        name = f"wall-{number}-{'of-a-study-with-a-long-name' * 2}"
        scene.send("PUT", f"/v1/studies/{name}", json={"objective": "work", "unit": "kilowatt-hours/laboratory/year"})
        csv = {"Content-Type": "text/csv"}
        scene.send("PUT", f"/v1/studies/{name}/candidates", content="key,t\nA,1\nB,2\nC,3\n", headers=csv)
        scene.ask(name, "a-worker-with-a-name-of-many-words-in-a-row", max_size=1)
        report = {"key": "C", "value": 158258123.25}
        scene.send("POST", f"/v1/studies/{name}/observations", json=report)
    page = window(viewport={"width": 1920, "height": 1080}).sign_in(scene.key, f"/studies/{worked}?wall")
    expect(page.get_by_label("What next")).to_be_visible()
    expect(page.get_by_label("What next").get_by_role("button")).to_have_count(0)
    page.locator(".chart svg").first.wait_for()
    expect(page.get_by_role("heading", name="In progress")).to_be_in_viewport(ratio=1)
    page.goto("/?wall")
    page.locator(".study-card .spark").first.wait_for()
    assert sticking_out(page) == []
