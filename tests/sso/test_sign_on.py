"""People sign on at a provider: a real one, in a process of its own on this machine."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from app.api.sessions import COOKIE
from app.main import create_app
from app.settings import Settings
from app.sso.provider import MOST_AT_ONCE
from tests.api.conftest import problem

ROLES = ("lab-admins=admin", "chemists=scientist", "benches=technician")


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """The address of a provider that knows whoever the tests tell it of."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        address, deadline = f"http://localhost:{port}", monotonic() + 60
        while True:
            try:
                httpx.get(f"{address}/.well-known/openid-configuration").raise_for_status()
                break
            except httpx.HTTPError:
                assert monotonic() < deadline
                sleep(0.1)
        yield address
        process.terminate()


@pytest.fixture
def settings(address: str, tmp_path: Path, provider: str) -> Settings:
    return Settings(
        data=tmp_path / "data",
        database_url=address,
        allowed_hosts=("testserver",),
        database_connections=5,
        sso_issuer=provider,
        sso_client_id="nextbatch",
        sso_client_secret=SecretStr("a secret of ours"),
        sso_roles=ROLES,
    )


def person(provider: str, subject: str, *groups: str) -> None:
    claims = {"email": f"{subject}@example.org", "groups": list(groups)}
    httpx.put(f"{provider}/users/{subject}", json=claims).raise_for_status()


def sign_on(client: TestClient, subject: str) -> httpx.Response:
    """As a browser does: to the provider, through its form, and back."""
    sent = client.get("/session/sso", follow_redirects=False)
    assert sent.status_code == 303, sent.text
    back = httpx.post(sent.headers["location"], data={"sub": subject}, timeout=30)
    assert back.status_code in (302, 303), back.text
    return client.get(back.headers["location"], follow_redirects=False)  # type: ignore[return-value]


def test_a_person_signs_on_with_the_role_of_a_group(anonymous: TestClient, provider: str) -> None:
    person(provider, "ada", "everybody", "benches", "chemists")
    assert anonymous.get("/session/sso/status").json() == {"available": True, "name": "single sign-on"}
    done = sign_on(anonymous, "ada")
    assert (done.status_code, done.headers["location"]) == (303, "/")
    cookie = next(text for text in done.headers.get_list("set-cookie") if text.startswith(COOKIE))
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    me = anonymous.get("/v1/keys/me").json()
    assert (me["name"], me["role"]) == ("ada@example.org", "scientist")
    own = {"Sec-Fetch-Site": "same-origin"}
    assert anonymous.put("/v1/studies/of-ada", json={}, headers=own).status_code == 201

    anonymous.cookies.clear()
    person(provider, "ada", "benches")
    assert sign_on(anonymous, "ada").status_code == 303
    again = anonymous.get("/v1/keys/me").json()
    assert (again["id"], again["role"], again["studies"]) == (me["id"], "technician", ["of-ada"])


def test_a_person_signs_on_below_a_path_prefix(anonymous: TestClient, provider: str) -> None:
    """As behind a proxy that removes the prefix and says so."""
    person(provider, "gil", "chemists")
    anonymous.headers["X-Forwarded-Prefix"] = "/lab/nb"
    sent = anonymous.get("/session/sso", follow_redirects=False)
    assert "Path=/lab/nb/session/sso" in sent.headers["set-cookie"]
    [kept] = sent.headers.get_list("set-cookie")
    back = httpx.post(sent.headers["location"], data={"sub": "gil"}, timeout=30).headers["location"]
    assert urlsplit(back).path == "/lab/nb/session/sso/callback"
    came_back = urlsplit(back)._replace(path="/session/sso/callback").geturl()  # as the proxy passes it on
    done = anonymous.get(came_back, headers={"Cookie": kept.partition(";")[0]}, follow_redirects=False)
    assert (done.status_code, done.headers["location"]) == (303, "/lab/nb/")
    cookies = done.headers.get_list("set-cookie")
    assert any(text.startswith(COOKIE) and "Path=/lab/nb/" in text for text in cookies)
    session = next(text for text in cookies if text.startswith(COOKIE)).partition(";")[0]
    assert anonymous.get("/v1/keys/me", headers={"Cookie": session}).json()["name"] == "gil@example.org"


def test_signing_out_ends_the_session_of_this_browser_alone(anonymous: TestClient, provider: str) -> None:
    person(provider, "bea", "lab-admins")
    sign_on(anonymous, "bea")
    first = anonymous.cookies[COOKIE]
    anonymous.cookies.clear()
    sign_on(anonymous, "bea")
    own = {"Sec-Fetch-Site": "same-origin"}
    assert anonymous.delete("/v1/keys/me/session", headers=own).status_code == 204
    problem(anonymous.get("/v1/keys/me"), 401, "unauthenticated")  # type: ignore[arg-type]
    anonymous.cookies.clear()
    assert anonymous.get("/v1/keys/me", headers={"Authorization": f"Bearer {first}"}).status_code == 200
    actions = [
        entry["action"]
        for entry in anonymous.get("/v1/audit", headers={"Authorization": f"Bearer {first}"}).json()["entries"]
    ]
    assert actions == ["key-created", "signed-in", "signed-in"]


def test_who_is_in_no_group_with_a_role_gets_no_session(anonymous: TestClient, provider: str) -> None:
    person(provider, "eve", "everybody")
    refused = sign_on(anonymous, "eve")
    assert refused.status_code == 403
    assert COOKIE not in anonymous.cookies


def test_a_revoked_person_cannot_sign_on_again(admin: TestClient, provider: str) -> None:
    person(provider, "mallory", "chemists")
    key = admin.headers.pop("Authorization")
    sign_on(admin, "mallory")
    me = admin.get("/v1/keys/me").json()["id"]
    admin.cookies.clear()
    admin.post(f"/v1/keys/{me}/revocation", headers={"Authorization": key}).raise_for_status()
    assert sign_on(admin, "mallory").status_code == 403


def test_what_comes_back_must_be_what_was_begun_in_this_browser(anonymous: TestClient, provider: str) -> None:
    person(provider, "ada", "chemists")
    sent = anonymous.get("/session/sso", follow_redirects=False)
    asked = parse_qs(urlsplit(sent.headers["location"]).query)
    assert (asked["code_challenge_method"], asked["response_type"]) == (["S256"], ["code"])
    assert {"state", "nonce", "code_challenge"} <= asked.keys()
    back = httpx.post(sent.headers["location"], data={"sub": "ada"}, timeout=30).headers["location"]
    other_state = re.sub(r"state=[^&]+", "state=forged", back)
    problem(anonymous.get(other_state), 401, "unauthenticated")  # type: ignore[arg-type]
    kept = dict(anonymous.cookies)
    anonymous.cookies.clear()
    problem(anonymous.get(back), 401, "unauthenticated")  # type: ignore[arg-type]
    anonymous.get("/session/sso", follow_redirects=False)  # another attempt: its verifier and nonce are not those
    state = parse_qs(urlsplit(back).query)["state"][0]
    problem(anonymous.get(back.replace(state, "x")), 401, "unauthenticated")  # type: ignore[arg-type]
    anonymous.cookies.clear()
    anonymous.cookies.update(kept)
    done = anonymous.get(back, follow_redirects=False)
    assert done.status_code in (303, 401)


def test_without_a_provider_nobody_signs_on_elsewhere(settings: Settings) -> None:
    plain = settings.model_copy(update={"sso_issuer": None})
    with TestClient(create_app(plain)) as client:
        problem(client.get("/session/sso"), 404, "not-found")  # type: ignore[arg-type]
        assert client.get("/session/sso/status").json() == {"available": False, "name": None}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sso_issuer": "http://provider.example"}, "SSO_ISSUER|sso_issuer"),
        ({"sso_issuer": "https://provider.example"}, "needs NEXTBATCH_SSO_CLIENT_ID"),
        ({"sso_roles": "chemists=king"}, "write group=role"),
        ({"sso_roles": "chemists"}, "write group=role"),
    ],
)
def test_settings_that_cannot_work_are_refused(given: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Settings(**given)  # type: ignore[arg-type]


def test_few_wait_for_the_provider_at_the_same_time(anonymous: TestClient, provider: str) -> None:
    """Anyone could keep every thread waiting for a provider that is silent, and with them everybody's reports."""
    with ExitStack() as waiting:
        for _ in range(MOST_AT_ONCE):
            waiting.enter_context(anonymous.app.state.sso_provider.turn())  # type: ignore[attr-defined]
        problem(anonymous.get("/session/sso", follow_redirects=False), 503, "overloaded")
    person(provider, "late", "benches")
    assert sign_on(anonymous, "late").status_code == 303
