"""Lists that are too long to be drawn whole: nothing measured is left out, and a sample is called one."""

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Open
from tests.web.scene import Scene

ROWS = 6_000
BETWEEN = [600 * part + 550 for part in range(8)]  # none of them is in the sample, the first 500 of every 600


@pytest.fixture
def long_study(scene: Scene, request: pytest.FixtureRequest) -> str:
    name: str = request.node.name.removeprefix("test_").replace("_", "-")[:60]
    rows = "".join(f"K{n},{n % 317},{('DMF', 'THF')[n % 2]}\n" for n in range(ROWS))
    scene.study(name, "key,heat,solvent\n" + rows, objective="yield", unit="%")
    scene.report(name, *({"candidate": f"K{n}", "value": 20.0 + n % 317 / 10} for n in BETWEEN))
    return name


def walk(page: Page, title: str, steps: int) -> str:
    """What is said of the points of a chart, from the last to the first."""
    figure = page.get_by_role("figure", name=title, exact=True)
    figure.locator(".catch svg").wait_for()
    figure.locator(".catch").focus()
    said = []
    for _ in range(steps):
        page.keyboard.press("ArrowLeft")
        said.append(figure.get_by_role("status").inner_text())
    return "\n".join(said)


def test_every_measured_candidate_of_a_long_list_is_among_the_insights(
    window: Open, scene: Scene, long_study: str
) -> None:
    page = window().sign_in(scene.key, f"/studies/{long_study}/insights?slice=solvent")
    expect(page.get_by_text("8 candidates. Drag along an axis")).to_be_visible()
    levels = 2
    said = walk(page, "Expected value by solvent", levels + len(BETWEEN))
    assert [n for n in BETWEEN if f"K{n} " not in said] == []


def test_averages_over_a_long_list_say_that_they_are_of_a_sample(window: Open, scene: Scene, long_study: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{long_study}/insights?slice=solvent&by=heat")
    expect(page.get_by_text("Computed from a sample: 5000 of 6000 candidates.")).to_be_visible()
    page.goto(f"/studies/{long_study}/insights?slice=solvent")
    expect(page.get_by_text("8 candidates. Drag along an axis")).to_be_visible()
    expect(page.get_by_text("Computed from a sample")).to_have_count(0)  # what the model says of the recommended one
