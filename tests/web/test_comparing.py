"""Comparing: studies over time and on logarithmic axes, candidates with those like them, and two columns at once."""

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Open
from tests.web.scene import Scene


def test_studies_are_compared_by_time_and_on_a_logarithmic_axis(window: Open, scene: Scene, study: str) -> None:
    moments = ("2026-03-01T08:00:00Z", "2026-03-02T08:00:00Z", "2026-03-05T08:00:00Z")
    reports = [{"candidate": f"A{n}", "value": 10.0**n, "measured_at": at} for n, at in enumerate(moments, 1)]
    scene.report(study, *reports)
    page = window().sign_in(scene.key, f"/compare?study={study}")
    figure = page.get_by_role("figure", name="Best so far of several studies")
    figure.locator(".catch svg").wait_for()
    page.get_by_label("By time").check()
    page.get_by_label("Log", exact=True).check()
    expect(page.get_by_text("since the first result of each")).to_be_visible()
    expect(figure.locator(".catch svg").get_by_text("days since the first result")).to_be_visible()
    figure.locator(".catch").focus()
    page.keyboard.press("ArrowLeft")
    expect(figure.locator(".tip")).to_contain_text("4 days after the first")
    assert "across=time" in page.url
    assert "scale=log" in page.url
    line = page.locator("tr", has=page.get_by_role("link", name=study, exact=True))
    line.get_by_role("link", name="A3", exact=True).click()
    expect(page.locator(".candidate")).to_contain_text("Measurements")


def test_an_axis_that_cannot_be_logarithmic_says_why(window: Open, scene: Scene, study: str) -> None:
    scene.report(study, *({"candidate": f"A{n}", "value": n - 1.0} for n in range(1, 5)))
    page = window().sign_in(scene.key, f"/studies/{study}")
    expect(page.get_by_label("Log", exact=True)).to_be_disabled()
    expect(page.get_by_text("A logarithmic axis needs values above zero.")).to_be_visible()


def test_imported_results_are_neighbours_and_ranges_decide_what_is_near(window: Open, scene: Scene, study: str) -> None:
    """A few degrees at 300 K are much where the list spans ten, and a gram is little where it spans hundreds."""
    name = f"{study}-scaled"
    rows = ["far,300,1", "near,310,5", "other,300,400", "asked,310,8"]
    scene.study(name, "key,kelvin,mass\n" + "\n".join(rows) + "\n", objective="yield", unit="%")
    scene.report(name, *({"candidate": key, "value": 40.0} for key in ("far", "near", "other")))
    page = window().sign_in(scene.key, f"/studies/{name}/candidates/asked")
    expect(page.get_by_role("heading", name="Similar candidates that were measured")).to_be_visible()
    expect(page.locator(".neighbours li").first).to_contain_text("Like near")
    expect(page.locator(".neighbours li")).to_have_count(3)


def test_two_columns_at_once_have_a_legend_and_an_uncertainty(window: Open, scene: Scene, study: str) -> None:
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + 3 * n} for n in range(1, 9)))
    page = window().sign_in(scene.key, f"/studies/{study}/insights?slice=solvent&by=temperature")
    figure = page.get_by_role("figure", name="Expected value by solvent and temperature")
    figure.locator(".catch svg").wait_for()
    legend = page.locator(".card", has=figure).locator(".legend")
    expect(legend).to_contain_text("expected yield (%)")
    expect(legend).to_contain_text("uncertainty of one candidate: ±")
    figure.locator(".catch").focus()
    page.keyboard.press("ArrowLeft")
    expect(figure.locator(".tip")).to_contain_text("uncertainty ±")


def test_noise_and_repeats_are_set_as_numbers(window: Open, scene: Scene, study: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{study}/settings")
    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_label("Measurements per candidate, at most").fill("3")
    page.get_by_label("Standard deviation of one measurement").fill("1.5")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("at most 3 per candidate")).to_be_visible()
    configuration = scene.send("GET", f"/v1/studies/{study}")["configuration"]
    assert (configuration["repeats"], configuration["noise"]) == (3, 1.5)


@pytest.mark.parametrize("term", ["stop", "overdue", "confirm the best", "failed measurements", "model"])
def test_terms_of_the_settings_are_explained(window: Open, scene: Scene, study: str, term: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{study}/settings")
    page.get_by_role("button", name=f"What is meant by “{term}”?").click()
    expect(page.get_by_role("note")).to_be_visible()


def test_keys_on_cards_and_at_the_bench_lead_to_their_candidates(window: Open, scene: Scene, study: str) -> None:
    scene.report(study, {"candidate": "A4", "value": 44.0})
    key = scene.ask(study, "bench-1", min_size=1, max_size=1)["suggestions"][0]["key"]
    page = window().sign_in(scene.key, f"/?find={study}")
    page.locator(".study-card", has=page.get_by_role("link", name=study, exact=True)).get_by_role(
        "link", name="A4", exact=True
    ).click()
    expect(page.locator(".candidate")).to_contain_text("44 %")
    page.goto(f"/studies/{study}/bench/bench-1")
    page.get_by_role("link", name=key, exact=True).click()
    expect(page.locator(".candidate").get_by_role("heading", name=key)).to_be_visible()


def test_a_clone_has_the_list_and_the_settings_and_no_results(window: Open, scene: Scene, study: str) -> None:
    scene.send("PATCH", f"/v1/studies/{study}/candidates/A7", json={"available": False, "reason": "broken"})
    scene.report(study, {"candidate": "A4", "value": 44.0})
    page = window().sign_in(scene.key, f"/studies/{study}/settings")
    page.get_by_role("button", name="Fork").click()
    page.get_by_label("Name of the new study").fill(f"{study}-clone")
    page.get_by_label("Take over").select_option("clone")
    page.get_by_role("dialog").get_by_role("button", name="Fork").click()
    expect(page).to_have_url(f"{scene.address}/studies/{study}-clone")
    old, new = (scene.send("GET", f"/v1/studies/{name}") for name in (study, f"{study}-clone"))
    assert (new["configuration"], new["columns"]) == (old["configuration"], old["columns"])
    lists = [scene.send("GET", f"/v1/studies/{name}/candidates") for name in (study, f"{study}-clone")]
    assert lists[0] == lists[1]
    assert scene.send("GET", f"/v1/studies/{study}-clone/observations")["observations"] == []
