"""Signing a browser in: a cookie that scripts cannot read, and writes only from our own page."""

import html
import re
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from app.api.routes.page import SIGNED_IN
from app.api.sessions import COOKIE
from tests.api.conftest import problem
from tests.conftest import on_sqlite

pytestmark = on_sqlite  # the same before either database

OURS = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def signed_in(anonymous: TestClient, new_key: Callable[..., str]) -> TestClient:
    answer = anonymous.post("/session", json={"key": f" {new_key('scientist')} "}, headers=OURS)
    assert (answer.status_code, answer.json()["role"]) == (200, "scientist")
    return anonymous


def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites(
    anonymous: TestClient, new_key: Callable[..., str]
) -> None:
    answer = anonymous.post("/session", json={"key": new_key("dashboard")}, headers=OURS)
    cookie = answer.headers["Set-Cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/v1"))
    assert "secure" not in cookie
    assert "max-age" not in cookie
    assert "nb_" not in answer.text


def test_over_https_the_cookie_stays_there(anonymous: TestClient, new_key: Callable[..., str]) -> None:
    anonymous.base_url = "https://testserver"
    answer = anonymous.post("/session", json={"key": new_key("dashboard"), "remember": True}, headers=OURS)
    assert "secure" in answer.headers["Set-Cookie"].lower()
    assert "max-age=2592000" in answer.headers["Set-Cookie"].lower()


@pytest.mark.parametrize(
    ("prefix", "path"),
    [("/lab/nb", "/lab/nb/v1"), ("/lab/", "/lab/v1"), ("/a b", "/v1"), ("//evil", "/v1"), ("", "/v1")],
)
def test_below_a_prefix_the_cookie_is_sent_below_it(
    anonymous: TestClient, new_key: Callable[..., str], prefix: str, path: str
) -> None:
    headers = OURS | {"X-Forwarded-Prefix": prefix}
    begun = anonymous.post("/session", json={"key": new_key("dashboard")}, headers=headers)
    ended = anonymous.delete("/session", headers=headers)
    assert [f"path={path};" in f"{answer.headers['Set-Cookie'].lower()};" for answer in (begun, ended)] == [True, True]


def test_with_the_cookie_one_reads_and_our_own_page_writes(signed_in: TestClient) -> None:
    assert signed_in.get("/v1/keys/me").json()["role"] == "scientist"
    assert signed_in.put("/v1/studies/mine", json={}, headers=OURS).status_code == 201


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://testserver:81"},
    ],
)
def test_no_other_page_writes_with_the_cookie(signed_in: TestClient, headers: dict[str, str]) -> None:
    problem(signed_in.put("/v1/studies/theirs", json={}, headers=headers), 403, "forbidden")


def test_an_older_browser_is_known_by_its_origin(signed_in: TestClient) -> None:
    assert signed_in.put("/v1/studies/mine", json={}, headers={"Origin": "http://testserver"}).status_code == 201


def test_another_site_cannot_sign_a_browser_in(anonymous: TestClient, new_key: Callable[..., str]) -> None:
    answer = anonymous.post("/session", json={"key": new_key("admin")}, headers={"Sec-Fetch-Site": "cross-site"})
    problem(answer, 403, "forbidden")
    assert COOKIE not in answer.cookies


def test_a_wrong_key_signs_nobody_in(anonymous: TestClient) -> None:
    answer = anonymous.post("/session", json={"key": "nb_000000000000_" + "A" * 43}, headers=OURS)
    problem(answer, 401, "unauthenticated")
    assert "Set-Cookie" not in answer.headers


def test_signing_out_ends_it(signed_in: TestClient) -> None:
    assert signed_in.delete("/session").status_code == 204
    problem(signed_in.get("/v1/keys/me"), 401, "unauthenticated")


def test_a_revoked_key_ends_its_sessions(signed_in: TestClient, new_key: Callable[..., str]) -> None:
    me = signed_in.get("/v1/keys/me").json()["id"]
    admin = {"Authorization": f"Bearer {new_key('admin')}"}
    assert signed_in.post(f"/v1/keys/{me}/revocation", headers=admin).status_code == 200
    problem(signed_in.get("/v1/keys/me"), 401, "unauthenticated")


def test_the_key_in_the_header_outranks_the_cookie(signed_in: TestClient, new_key: Callable[..., str]) -> None:
    admin = {"Authorization": f"Bearer {new_key('admin')}"}
    assert signed_in.get("/v1/keys/me", headers=admin).json()["role"] == "admin"


def test_answers_within_a_session_are_compressed_and_those_to_programs_are_not(
    anonymous: TestClient, new_key: Callable[..., str]
) -> None:
    key, packed = new_key("scientist"), {"Accept-Encoding": "gzip"}
    program = {"Authorization": f"Bearer {key}", **packed}
    anonymous.put("/v1/studies/s", json={"description": "a long story " * 100}, headers=program).raise_for_status()
    told = anonymous.get("/v1/studies/s", headers=program)
    assert "Content-Encoding" not in told.headers
    anonymous.post("/session", json={"key": key}, headers=OURS).raise_for_status()
    read = anonymous.get("/v1/studies/s", headers=packed)
    assert (read.headers["Content-Encoding"], read.headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert int(read.headers["Content-Length"]) < 1_000 < len(read.content)
    assert read.content == told.content
    assert "Content-Encoding" not in anonymous.get("/v1/studies/s", headers={"Accept-Encoding": "identity"}).headers
    assert "Content-Encoding" not in anonymous.get("/v1/keys/me", headers=packed).headers  # too short to be worth it


def test_the_document_names_the_answers_of_its_view_to_those_who_are_signed_in(anonymous: TestClient) -> None:
    def named(path: str) -> list[str]:
        links = re.findall(r'as="fetch" crossorigin href="([^"]+)"', anonymous.get(path).text)
        return [str(anonymous.base_url.join(path).join(html.unescape(link)).raw_path, "ascii") for link in links]

    assert named("/studies/s") == []
    anonymous.cookies.set(SIGNED_IN, "1")
    assert named("/studies/s/map") == ["/v1/studies/s", "/v1/studies/s/summary", "/v1/studies/s/trace"]
    assert "/v1/studies/s/batches?worker=b-1&after=0&limit=1000" in named("/studies/s/bench/b-1")
    assert named("/studies/%22%3E%3Cscript%3E") == []
    assert named("/") == ["/v1/studies?after=0&limit=1000"]
