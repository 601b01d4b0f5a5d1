"""What the server says of its own model, in charts; and a choice in one chart that the others follow."""

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.web.conftest import Open
from tests.web.scene import Scene


@pytest.fixture
def insights(window: Open, scene: Scene, study: str) -> Page:
    """The insights of a study with twelve results."""
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + 3 * n + (n % 3) * 5} for n in range(1, 13)))
    page = window().sign_in(scene.key, f"/studies/{study}/insights")
    page.get_by_role("figure", name="Which columns matter").locator(".catch svg").wait_for()
    return page


def diagnostics(scene: Scene, study: str) -> Any:
    return scene.send("GET", f"/v1/studies/{study}/diagnostics")


def point_at_first(page: Page, title: str) -> Any:
    """The tip of the last point of a chart, reached by the keyboard."""
    figure = page.get_by_role("figure", name=title, exact=True)
    figure.locator(".catch").focus()
    page.keyboard.press("ArrowLeft")
    return figure.locator(".tip")


def test_every_candidate_stands_beside_what_the_others_predict(insights: Page, scene: Scene, study: str) -> None:
    last = diagnostics(scene, study)["leave_one_out"][-1]
    tip = point_at_first(insights, "Predicted against observed")
    expect(tip).to_contain_text(f"{last['key']}: ")
    expect(tip).to_contain_text("predicted from all others")
    expect(tip).to_contain_text("between")
    insights.keyboard.press("Enter")
    expect(insights.get_by_label(f"Candidate {last['key']}")).to_be_visible()


def test_how_often_the_intervals_held_is_drawn_as_the_server_says(insights: Page, scene: Scene, study: str) -> None:
    last = diagnostics(scene, study)["calibration"][-1]
    tip = point_at_first(insights, "How often the intervals held")
    expect(tip).to_contain_text(f"the model says {round(100 * last['says'])} %")


def test_a_slice_has_the_model_s_band_and_the_audit_has_the_lengthscales(
    insights: Page, scene: Scene, study: str
) -> None:
    first = diagnostics(scene, study)["columns"][0]
    tip = point_at_first(insights, f"Expected value by {first['name']}")
    expect(tip).to_contain_text("between")
    expect(insights.get_by_text("all else the same. Band: where 95 of 100 true values lie.")).to_be_visible()
    expect(insights.get_by_text("How far results stay alike")).to_have_count(0)
    insights.get_by_role("navigation").get_by_role("link", name="Audit").click()
    lengths = insights.locator(".card", has_text="How far results stay alike").locator("dl")
    for column in ("temperature", "solvent"):
        expect(lengths).to_contain_text(column)
    expect(lengths).to_contain_text("THF")


def test_an_outlier_is_named_and_leads_to_its_candidate(window: Open, scene: Scene, study: str) -> None:
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + 3 * n} for n in range(1, 9)))

    def add_outlier(route: Route) -> None:
        answer = route.fetch().json()
        answer["outliers"] = [
            {"key": "A3", "candidate": 2, "deviations": 7.0, "words": "A3 gave 290 %, and the other results say 29 %."}
        ]
        route.fulfill(json=answer)

    opened = window()
    opened.page.route("**/diagnostics", add_outlier)
    page = opened.sign_in(scene.key, f"/studies/{study}/insights")
    expect(page.locator(".outlier")).to_contain_text("the other results say 29 %")
    page.locator(".outlier").get_by_role("link", name="A3").click()
    expect(page.get_by_label("Candidate A3")).to_be_visible()


def test_what_is_chosen_along_an_axis_is_listed_and_marked_on_the_map(insights: Page, study: str) -> None:
    chart = insights.get_by_role("figure", name="Measured candidates, column by column").locator(".catch")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box
    x = box["x"] + 70  # the first axis
    insights.mouse.move(x, box["y"] + 60)
    insights.mouse.down()
    insights.mouse.move(x, box["y"] + box["height"] * 0.5, steps=8)
    insights.mouse.up()
    table = insights.get_by_label("Chosen candidates")
    expect(table.locator("tbody tr").first).to_be_visible()
    count = table.locator("tbody tr").count()
    assert 0 < count < 12
    insights.get_by_role("link", name="Show on the map").click()
    expect(insights.get_by_role("button", name=f"{count} candidate")).to_be_visible()
    assert f"/studies/{study}/map?mark=" in insights.url


def test_a_model_without_diagnostics_still_has_insights(window: Open, scene: Scene, study: str) -> None:
    name = f"{study}-theory"
    scene.study(name, "key,t,s\n" + "".join(f"A{n},{n},{n % 4}\n" for n in range(20)), theory={"noise": 1.0})
    scene.report(name, *({"candidate": f"A{n}", "value": float(n)} for n in range(8)))
    page = window().sign_in(scene.key, f"/studies/{name}/insights")
    expect(page.get_by_text("Each column alone.")).to_be_visible()
    expect(page.get_by_role("figure", name="How often the intervals held")).to_have_count(0)
