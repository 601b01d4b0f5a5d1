"""The manual: the documentation as a site that the server offers, with a search that needs no internet."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import urldefrag, urljoin

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import expect

from app.api.routes import manual
from tests.api.conftest import problem
from tests.conftest import on_sqlite
from tests.server import ROOT
from tests.web.conftest import Open

FOLDER = ROOT / "app" / "manual"


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    assert (FOLDER / "index.html").is_file(), "the manual is not built: run `make docs`"


def documents() -> dict[str, str]:
    return {path.relative_to(FOLDER).as_posix(): path.read_text() for path in FOLDER.rglob("*.html")}


def test_every_link_of_the_manual_leads_to_a_file_and_a_place_in_it() -> None:
    texts = documents()
    places = {name: set(re.findall(r'\bid="([^"]+)"', text)) for name, text in texts.items()}
    links = 0
    for name, text in texts.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            target, place = urldefrag(urljoin(f"http://site/{name}", unescape(link)))
            if not target.startswith("http://site/"):
                continue
            path = target.removeprefix("http://site/").partition("?")[0]
            assert (FOLDER / path).is_file(), (name, link)
            assert not place or path not in places or place in places[path], (name, link)
            links += 1
    assert links > 1_000


def test_nothing_of_the_manual_is_loaded_from_elsewhere() -> None:
    for name, text in documents().items():
        assert re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(https?:[^"]*)"', text) == [], name


@on_sqlite
def test_its_files_are_served_and_nothing_else(anonymous: TestClient) -> None:
    answer = anonymous.get("/manual/")
    assert answer.status_code == 200
    assert "'unsafe-inline'" not in answer.headers["Content-Security-Policy"].partition("script-src")[2]
    assert anonymous.get("/manual").url.path == "/manual/"
    assert anonymous.get("/manual/reference/study-settings.html").status_code == 200
    for path in ("/manual/../app.py", "/manual/%2e%2e/settings.py", "/manual/nothing.html"):
        problem(anonymous.get(path), 404, "not-found")


@on_sqlite
def test_a_manual_that_is_not_built_says_how_to_build_it(
    anonymous: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(manual, "files", lambda _: tmp_path)
    manual._files.cache_clear()
    try:
        answer = anonymous.get("/manual/")
    finally:
        manual._files.cache_clear()
    assert answer.status_code == 503
    assert all(word in answer.text for word in ("make docs", "wheel", "container image", "/help"))
    assert anonymous.get("/help").status_code == 200


def test_its_search_finds_a_setting_in_a_browser(window: Open) -> None:
    page = window().page
    page.goto("/manual/")
    page.get_by_role("textbox", name="Search").first.fill("overdue_hours")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Study settings").first.click()
    assert page.url.startswith(f"{window().address}/manual/reference/study-settings.html")
    expect(page.get_by_role("cell", name="When a suggestion counts as overdue.")).to_be_visible()
