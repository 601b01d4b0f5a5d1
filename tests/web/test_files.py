"""The page's files: each is served as what it is and cached by its content; nothing else is served."""

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.api.conftest import problem
from tests.conftest import on_sqlite
from tests.server import ROOT

FOLDER = ROOT / "app" / "web"
SERVED = {".html", ".css", ".js", ".svg"}
FILES = sorted(
    path.relative_to(FOLDER).as_posix()
    for path in FOLDER.rglob("*")
    if path.suffix in SERVED and "node_modules" not in path.parts
)
PAGES = ("/", "/create", "/studies/a", "/studies/a/map", "/studies/a/bench", "/studies/a/bench/bench-1", "/docs")


@on_sqlite
def test_every_address_of_the_page_opens_it_under_a_strict_policy(anonymous: TestClient) -> None:
    for path in PAGES:
        answer = anonymous.get(path)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Frame-Options"] == "DENY"


@on_sqlite
def test_every_file_is_served_and_known_again(anonymous: TestClient) -> None:
    for name in FILES:
        answer = anonymous.get(f"/web/{name}")
        assert answer.status_code == 200, name
        again = anonymous.get(f"/web/{name}", headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")


@on_sqlite
@pytest.mark.parametrize(
    "path",
    [
        "/web/",
        "/web/../main.py",
        "/web/%2e%2e/main.py",
        "/web//etc/passwd",
        "/web/js",
        "/web/none.js",
        "/web/package.json",
        "/web/node_modules/@biomejs/biome/package.json",
        "/studies/a/none",
    ],
)
def test_nothing_else_is(anonymous: TestClient, path: str) -> None:
    problem(anonymous.get(path), 404, "not-found")


def test_no_file_has_inline_code_or_speaks_of_another_host() -> None:
    for name in FILES:
        text = (FOLDER / name).read_text()
        hosts = set(re.findall(r"https?://[^/\"'\s]+", text)) - {"http://www.w3.org"}
        assert hosts == set(), name
        if name.endswith(".html"):
            assert re.findall(r"<script(?![^>]*\bsrc=)|\bstyle=|\bon[a-z]+=|<style", text) == [], name


def test_every_module_that_is_imported_is_there() -> None:
    for name in FILES:
        if name.endswith(".js"):
            for imported in re.findall(r'from "(\.[^"]+)"', (FOLDER / name).read_text()):
                assert (Path(FOLDER / name).parent / imported).resolve().is_file(), (name, imported)
