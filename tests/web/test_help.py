"""Guides inside the page, and a key that a tablet takes from a code."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.server import ROOT
from tests.web.browser import sticking_out
from tests.web.conftest import Open
from tests.web.scene import Scene
from tests.web.test_looks import PHONE, findings

GUIDES = ("scientist", "technician", "objectives", "dashboard", "client", "admin", "settings", "auto", "problems")


def test_every_guide_is_readable_inside_the_page(window: Open, scene: Scene) -> None:
    page = window().sign_in(scene.key, "/help")
    for name in GUIDES:
        title = (ROOT / "docs" / f"{name}.md").read_text().split("\n", 1)[0].removeprefix("# ")
        page.get_by_role("link", name=title, exact=True).first.click()
        expect(page.locator(".guide h1")).to_have_text(title.replace("`", ""))
        assert page.url.endswith(f"/help/{name}")
    text = page.locator(".guide").inner_text()
    assert "```" not in text
    assert "](" not in text


def test_links_of_a_guide_lead_to_guides_and_to_their_headings(window: Open, scene: Scene) -> None:
    page = window().sign_in(scene.key, "/help/client")
    page.locator(".guide").get_by_role("link", name=re.compile("objectives", re.IGNORECASE)).first.click()
    expect(page.locator(".guide h1")).to_contain_text("Two objectives")
    page.goto("/help/auto")
    page.locator(".guide a[href='scientist#decide-when-to-stop']").click()
    expect(page.locator("#decide-when-to-stop")).to_be_in_viewport()
    page.goto("/help/nothing")
    expect(page.get_by_text("No such guide")).to_be_visible()


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"} | PHONE], ids=["light", "dark phone"])
def test_guides_are_accessible_and_fit(window: Open, scene: Scene, options: dict[str, Any]) -> None:
    page = window(bypass_csp=True, **options).sign_in(scene.key, "/help")
    found = set()
    for name in GUIDES:
        page.goto(f"/help/{name}")
        page.locator(".guide h1").wait_for()
        found |= {f"{name}: {violation}" for violation in findings(page)}
        found |= {f"{name}: {element}" for element in sticking_out(page)}
    assert found == set()


def test_a_tablet_takes_its_key_from_a_code_and_a_person_signs_in(window: Open, scene: Scene) -> None:
    page = window().sign_in(scene.key, "/people")
    page.get_by_role("button", name="New key").click()
    page.get_by_placeholder("Dr. Ada Weber").fill("Tablet at the hood")
    page.get_by_role("button", name="Create").click()
    made = page.get_by_label("The new key").input_value()
    expect(page.get_by_role("img", name="Code to sign a tablet in")).to_be_visible()
    tablet = window().page
    tablet.goto(f"/#key={made}")
    expect(tablet.get_by_label("Your key")).to_have_value(made)
    assert "#" not in tablet.url  # the history of the tablet does not keep it
    tablet.get_by_role("button", name="Sign in").click()
    expect(tablet.locator(".who")).to_contain_text("Tablet at the hood")
