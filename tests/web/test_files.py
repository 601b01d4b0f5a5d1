"""The page's files: each is served as what it is and cached by its content; nothing else is served."""

import gzip
import re

import pytest
from fastapi.testclient import TestClient

from tests.api.conftest import problem
from tests.conftest import on_sqlite
from tests.server import ROOT

FOLDER = ROOT / "app" / "web"
SERVED = {".css", ".js", ".svg"}
PAGES = (
    *("/", "/create", "/compare", "/people", "/help", "/docs", "/studies/a", "/studies/a/map", "/studies/a/bench"),
    *("/studies/a/results", "/studies/a/insights", "/studies/a/candidates/A%201", "/studies/a/candidates/x/y"),
    "/studies/a/bench/bench-1",
)
FIRST_LOAD = 150_000
# The names of XML and of spreadsheets that scripts spell, and an address in the example of a guide; nothing is loaded
# from them.
NAMESPACES = {"http://www.w3.org", "http://schemas.openxmlformats.org", "https://nextbatch.example.org"}


def served() -> list[str]:
    return sorted(path.name for path in FOLDER.iterdir() if path.suffix in SERVED)


def documents() -> dict[str, str]:
    return {path.name: path.read_text() for path in FOLDER.glob("*.html")}


@on_sqlite
def test_every_address_of_the_page_opens_it_under_a_strict_policy(anonymous: TestClient) -> None:
    for path in PAGES:
        answer = anonymous.get(path)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8"), path
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Frame-Options"] == "DENY"


@on_sqlite
def test_every_link_of_a_document_is_relative_and_leads_to_a_file(anonymous: TestClient) -> None:
    """Below a path prefix, too: the address of a file follows from the address of the document alone."""
    for path in PAGES:
        text = anonymous.get(path).text
        links = re.findall(r'(?:src|href)="([^"#]+)"', text)
        assert len(links) >= 3
        assert [link for link in links if link.startswith("/") or "{" in link] == []
        for link in links:
            if "web/" in link:
                address = str(anonymous.base_url.join(path).join(link).path)
                assert re.fullmatch(r"/web/[\w.-]+", address), (path, link)
                assert anonymous.get(address).status_code == 200, (path, link)


@on_sqlite
def test_every_file_is_served_and_known_again(anonymous: TestClient) -> None:
    for name in served():
        answer = anonymous.get(f"/web/{name}")
        assert answer.status_code == 200, name
        assert answer.content == (FOLDER / name).read_bytes()
        again = anonymous.get(f"/web/{name}", headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")


@on_sqlite
def test_files_named_by_their_content_are_kept_and_everything_is_compressed(anonymous: TestClient) -> None:
    for name in served():
        answer = anonymous.get(f"/web/{name}", headers={"Accept-Encoding": "gzip"})
        by_content = re.search(r"-[A-Z0-9]{8}\.", name) is not None
        assert ("immutable" in answer.headers["Cache-Control"]) == by_content
        assert answer.headers["Content-Encoding"] == "gzip"
    assert "immutable" not in anonymous.get("/").headers["Cache-Control"]
    assert "Content-Encoding" not in anonymous.get("/", headers={"Accept-Encoding": "identity"}).headers


def test_the_bench_is_light_and_charts_come_later() -> None:
    """What the document names is all that a bench needs; the chart library is not in it."""
    needed = {name for name in re.findall(r"web/([\w.-]+)", documents()["index.html"]) if (FOLDER / name).is_file()}
    size = sum(len(gzip.compress((FOLDER / name).read_bytes())) for name in needed)
    assert 20_000 < size < FIRST_LOAD
    assert not any("echarts" in name for name in needed)
    # On a slow line each further file costs a round trip: a browser has six connections.
    assert len(needed) == 4
    overview = re.search(r'data-study="([^"]*)"', documents()["index.html"])
    assert overview
    assert len(overview[1].split()) == 2
    for name in needed:
        imported = re.findall(r'(?:from|import)\s*"\./([\w.-]+)"', (FOLDER / name).read_text())
        assert set(imported) <= needed, name


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
        "/web/stamp",
        "/web/index.html",
        "/web/package.json",
        "/web/node_modules/@biomejs/biome/package.json",
        "/studies/a/none",
    ],
)
def test_nothing_else_is(anonymous: TestClient, path: str) -> None:
    problem(anonymous.get(path), 404, "not-found")


def test_no_file_has_inline_code_or_speaks_of_another_host() -> None:
    for name in served():
        text = (FOLDER / name).read_text()
        hosts = set(re.findall(r"https?://[^/\"'`\s\\]+", text)) - NAMESPACES
        assert hosts == set(), name
        assert "eval(" not in text, name
        assert "new Function(" not in text, name
    for name, text in documents().items():
        assert set(re.findall(r"https?://[^/\"'\s]+", text)) == set(), name
        assert re.findall(r"<script(?![^>]*\bsrc=)|\bstyle=|\bon[a-z]+=|<style", text) == [], name


def test_every_module_that_is_imported_is_there() -> None:
    for name in served():
        if name.endswith(".js"):
            text = (FOLDER / name).read_text()
            for imported in re.findall(r'(?:from|import)\s*\(?"\./([^"]+)"', text):
                assert (FOLDER / imported).is_file(), (name, imported)
