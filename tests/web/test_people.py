"""Who did what, by name, for everybody who may see the study; and when each key was last used."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Route, expect

from tests.web.conftest import Open
from tests.web.scene import Scene


@pytest.fixture
def reported_by_ada(scene: Scene, study: str) -> str:
    ada = scene.new_key("technician", study, name="Ada Weber")
    with Scene(scene.address, ada) as bench:
        bench.report(study, {"candidate": "A1", "value": 21.5})
    return study


@pytest.mark.parametrize("role", ["scientist", "technician"])
def test_everybody_reads_who_reported_by_name(window: Open, scene: Scene, reported_by_ada: str, role: str) -> None:
    page = window().sign_in(scene.new_key(role, reported_by_ada), f"/studies/{reported_by_ada}/results")
    expect(page.locator(".tr:not(.th)").first).to_contain_text("Ada Weber")
    page.goto(f"/studies/{reported_by_ada}/candidates/A1")
    expect(page.locator(".measurements")).to_contain_text("Ada Weber")
    page.goto(f"/studies/{reported_by_ada}/events")
    expect(page.locator(".timeline li.observations-reported")).to_contain_text("by Ada Weber")
    expect(page.locator(".timeline")).not_to_contain_text("by key ")


def test_a_live_event_names_a_person_who_was_not_seen_before(window: Open, scene: Scene, study: str) -> None:
    page = window().sign_in(scene.new_key("scientist", study), f"/studies/{study}/events")
    page.locator(".timeline li").first.wait_for()
    ada = scene.new_key("technician", study, name="Ada Weber")
    with Scene(scene.address, ada) as bench:
        bench.report(study, {"candidate": "A1", "value": 21.5})
    expect(page.locator(".timeline li.observations-reported")).to_contain_text("by Ada Weber")


def test_the_list_of_keys_says_when_each_was_last_used(window: Open, scene: Scene) -> None:
    for name in ("Used tablet", "New tablet"):
        scene.new_key("technician", name=name)
    three_days_ago = (datetime.now(UTC) - timedelta(days=3)).isoformat()

    def pass_three_days(route: Route) -> None:
        listed = route.fetch().json()
        for key in listed["keys"]:
            key["last_used_at"] = three_days_ago if key["name"] == "Used tablet" else None
        route.fulfill(json=listed)

    opened = window()
    opened.page.route("**/v1/keys", pass_three_days)
    page = opened.sign_in(scene.key, "/people")
    expect(page.get_by_role("columnheader", name="Last used")).to_be_visible()
    expect(page.locator(".people tr").filter(has_text="Used tablet")).to_contain_text("3 days ago")
    expect(page.locator(".people tr").filter(has_text="New tablet")).to_contain_text("never")
