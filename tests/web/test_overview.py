"""The overview: its numbers agree with one another, and its chart can be turned, saved and shows what failed."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Open
from tests.web.scene import Scene, suzuki

CHART = "figure[aria-label^='Results']"


@pytest.fixture
def chart(window: Open, scene: Scene, study: str) -> Locator:
    """The chart of a study with five results and a failure."""
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + 3 * n} for n in range(1, 6)))
    [suggestion] = scene.ask(study, "b", min_size=1, max_size=1)["suggestions"]
    scene.report(study, {"suggestion": suggestion["suggestion"], "failed": {"reason": "vial cracked"}})
    page = window().sign_in(scene.key, f"/studies/{study}")
    figure = page.locator(CHART)
    figure.locator(".catch svg").wait_for()
    return figure


def test_the_chart_is_drawn_by_time_and_on_a_log_axis(chart: Locator) -> None:
    page = chart.page
    expect(chart.locator(".catch svg")).to_contain_text("result")
    page.get_by_label("By time").check()
    expect(chart.locator(".catch svg")).to_contain_text("time of the measurement")
    expect(chart.locator(".catch svg")).not_to_contain_text("100")
    page.get_by_label("Log", exact=True).check()
    expect(chart.locator(".catch svg")).to_contain_text("100")
    page.get_by_label("By result").check()
    expect(chart.locator(".catch svg")).not_to_contain_text("time of the measurement")


def test_the_chart_is_saved_as_a_picture(chart: Locator, study: str) -> None:
    chart.hover()
    with chart.page.expect_download() as download:
        chart.get_by_role("button", name="Save the picture").click()
    assert download.value.suggested_filename == f"{study}-results.svg"
    assert download.value.path().read_text().startswith("<svg")


def test_a_failed_attempt_is_marked_with_a_cross(chart: Locator) -> None:
    bad = chart.page.evaluate("""() => {
      const probe = document.body.appendChild(document.createElement("span"));
      probe.style.color = "var(--bad)";
      return getComputedStyle(probe).color;
    }""")
    expect(chart.locator(f".catch svg path[stroke='{bad}']")).to_have_count(1)


@pytest.fixture
def advanced(window: Open, scene: Scene, study: str) -> Page:
    """A study that has come far: most of it measured, one candidate twice, one batch on a bench."""
    text, truth = suzuki(40)
    name = f"{study}-far"
    limits = {"low": 0, "high": 100}
    objective = {"name": "yield", "unit": "%", "direction": "maximize", "limits": limits}
    scene.study(name, text, objectives=[objective], repeats=2)
    best = max(truth, key=truth.__getitem__)
    known = [*[key for key in truth if key != best][:26], best]
    scene.report(name, *({"candidate": key, "value": round(truth[key], 1)} for key in known))
    scene.report(name, {"candidate": best, "value": round(truth[best] + 1, 1)})
    scene.ask(name, "bench-1", min_size=3, max_size=3)
    page = window().sign_in(scene.key, f"/studies/{name}")
    page.locator(f"{CHART} .catch svg").wait_for()
    return page


def test_headline_tiles_and_charts_say_the_same(advanced: Page) -> None:
    headline = advanced.locator(".headline .best").inner_text()
    tiles = advanced.locator(".stats").inner_text()
    assert "(mean of 2 results)" in headline
    expect(advanced.locator(f"{CHART} .catch svg")).to_contain_text("best single result")
    others = re.search(r"(\d+) other candidates? can still be better", headline)
    assert (f"{others[1]} other" if others else "no other is likely") in tiles
    if others:
        most = re.search(r"at most ([\d.]+) percentage points", headline)
        assert most
        assert f"≤ {most[1]}" in tiles.replace("\u00a0", " ")


def test_the_limit_is_drawn_batch_by_batch_and_ends_now(advanced: Page) -> None:
    limit = advanced.get_by_role("figure", name="A cautious limit on what is left to gain")
    expect(limit.locator(".catch svg")).to_contain_text("now")
    expect(limit.locator(".catch svg")).to_contain_text("when the batch was issued")


def test_a_value_its_uncertainty_and_its_unit_stay_on_one_line(advanced: Page) -> None:
    tile = advanced.locator(".stat", has_text="Predicted best").locator("strong")
    for width in (1280, 820, 390):
        advanced.set_viewport_size({"width": width, "height": 900})
        lines = tile.evaluate("tile => tile.offsetHeight / parseFloat(getComputedStyle(tile).lineHeight)")
        inside = tile.evaluate("tile => tile.scrollWidth <= tile.parentElement.clientWidth")
        assert (round(lines), inside) == (1, True), width
