"""Studies with the longest names, units, tags and values that the API takes: every view still fits its window."""

from typing import Any

import pytest

from tests.web.browser import sticking_out
from tests.web.conftest import Open
from tests.web.scene import Scene
from tests.web.test_looks import PHONE

LINE = 200  # characters in one word
KEY = "K" + "e" * (LINE - 3)
PARTS = (
    *("", "/results", f"/results?candidate={KEY}-1", "/candidates", f"/candidates/{KEY}-1", "/insights", "/map"),
    *("/batches?open=1", "/events", "/forecast", "/settings", "/audit", "/bench"),
)


@pytest.fixture
def long_words(scene: Scene, request: pytest.FixtureRequest) -> str:
    """Everything as long as it may be, in one word; the measured value as large as people write it."""
    name = f"L-{request.node.callspec.id}-".ljust(100, "g")
    settings = {
        "objective": "o" * LINE,
        "unit": "u" * LINE,
        "tags": ["t" * LINE, "second"],
        "description": "d" * 1000,
        "cost_unit": "c" * LINE,
    }
    rows = "".join(f"{KEY}-{number},{number}e12,{'s' * LINE}{number % 2}\n" for number in range(1, 9))
    scene.study(name, f"key,{'t' * LINE},{'l' * LINE}\n{rows}", **settings)
    results = [{"candidate": f"{KEY}-{n}", "value": -1.2345678e14 * n, "note": "n" * LINE} for n in range(1, 4)]
    scene.report(name, *results, {"candidate": f"{KEY}-4", "failed": {"reason": "f" * LINE}})
    scene.ask(name, "w" * 100, min_size=2, max_size=2)
    return name


WINDOWS: dict[str, dict[str, Any]] = {
    "desk": {},
    "tablet": {"viewport": {"width": 820, "height": 1180}},
    "phone": PHONE,
}


@pytest.mark.parametrize("options", WINDOWS.values(), ids=WINDOWS.keys())
def test_no_word_is_so_long_that_a_view_becomes_wider_than_its_window(
    window: Open, scene: Scene, long_words: str, options: dict[str, Any]
) -> None:
    page = window(**options).sign_in(scene.key, "/")
    found = set()
    parts = [f"/studies/{long_words}{part}" for part in PARTS]
    for path in ("/", "/?state=all", f"/compare?study={long_words}", "/people", *parts):
        page.goto(path)
        page.locator("h1").first.wait_for()
        page.locator(".skeleton").first.wait_for(state="detached")
        found |= {f"{path[:12]}…{path[-12:]}: {element}" for element in sticking_out(page)}
    assert found == set()
