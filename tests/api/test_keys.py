"""API keys over HTTP: shown once, listed without their secrets, gone at once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.services.use_cases import access
from tests.api.conftest import problem


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def make(admin: TestClient, **wanted: object) -> dict[str, str]:
    made = admin.post("/v1/keys", json={"name": "tablet", "role": "technician", **wanted})
    assert made.status_code == 201, made.text
    document: dict[str, str] = made.json()
    return document


def test_a_new_key_works_and_knows_itself(admin: TestClient, study: str) -> None:
    made = make(admin, studies=["s", "s"])
    me = admin.get("/v1/keys/me", headers=bearer(made["key"])).json()
    assert me == {name: value for name, value in made.items() if name != "key"}
    assert (me["role"], me["studies"], me["revoked_at"]) == ("technician", ["s"], None)


def test_the_list_has_every_key_and_no_secret(admin: TestClient) -> None:
    made = make(admin)
    listed = admin.get("/v1/keys")
    assert [key["name"] for key in listed.json()["keys"]] == ["a admin", "tablet"]
    assert made["key"].split("_", 2)[2] not in listed.text


def test_a_revoked_key_is_refused_at_once_and_stays_so(admin: TestClient) -> None:
    made = make(admin)
    assert admin.get("/v1/keys/me", headers=bearer(made["key"])).status_code == 200
    revoked = admin.post(f"/v1/keys/{made['id']}/revocation")
    problem(admin.get("/v1/keys/me", headers=bearer(made["key"])), 401, "unauthenticated")
    assert revoked.json()["revoked_at"]
    assert admin.post(f"/v1/keys/{made['id']}/revocation").content == revoked.content
    problem(admin.post("/v1/keys/000000000000/revocation"), 404, "key-not-found")


@pytest.mark.parametrize("token", [{}, {"Idempotency-Key": "t"}])
def test_a_revoked_key_reports_nothing_more_although_it_was_seen_a_moment_ago(
    admin: TestClient, filled: str, token: dict[str, str]
) -> None:
    made = make(admin, studies=[filled])
    headers, path = bearer(made["key"]) | token, f"/v1/studies/{filled}/observations"
    bodies = [{"json": {"candidate": "A1", "value": 1.0}}, {"content": "key,value\nA2,2.0\n"}]
    bodies[1]["headers"] = {"Content-Type": "text/csv"}
    for _ in range(2):  # the second time it is known
        assert admin.post(path, json={"candidate": "A1", "value": 1.0}, headers=headers).is_success
    admin.post(f"/v1/keys/{made['id']}/revocation")
    for body in bodies:
        sent = {**body, "headers": headers | body.get("headers", {})}
        for query in ("", "?dry_run=true"):
            problem(admin.post(path + query, **sent), 401, "unauthenticated")
    assert len(admin.get(path).json()["observations"]) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"json": {"candidate": "A1", "value": "much"}},
        {"json": {"candidate": "nobody", "value": 1.0}},
        {"content": "{", "headers": {"Content-Type": "application/json"}},
        {"content": "key\n", "headers": {"Content-Type": "text/csv"}},
        {"content": "x", "headers": {"Content-Type": "text/plain"}},
    ],
)
def test_a_revoked_key_learns_nothing_from_a_bad_report(admin: TestClient, filled: str, body: dict[str, Any]) -> None:
    made = make(admin, studies=[filled])
    path = f"/v1/studies/{filled}/observations"
    sent = {**body, "headers": bearer(made["key"]) | body.get("headers", {})}
    assert admin.post(path, **sent).status_code in (400, 404, 415, 422)
    admin.post(f"/v1/keys/{made['id']}/revocation")
    problem(admin.post(path, **sent), 401, "unauthenticated")


def test_a_key_reports_nothing_more_after_its_expiry_although_it_was_seen_a_moment_ago(
    admin: TestClient, filled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expiry = datetime.now(UTC) + timedelta(hours=1)
    made = make(admin, studies=[filled], expires_at=expiry.isoformat())
    path, body = f"/v1/studies/{filled}/observations", {"candidate": "A1", "value": 1.0}
    assert admin.post(path, json=body, headers=bearer(made["key"])).status_code == 201
    monkeypatch.setattr(access, "now", lambda: made["expires_at"])
    problem(admin.post(path, json=body, headers=bearer(made["key"])), 401, "unauthenticated")


def test_another_secret_of_a_known_key_is_refused(admin: TestClient, filled: str) -> None:
    made = make(admin, studies=[filled])
    path, body = f"/v1/studies/{filled}/observations", {"candidate": "A1", "value": 1.0}
    assert admin.post(path, json=body, headers=bearer(made["key"])).status_code == 201
    other = made["key"][:-1] + ("A" if made["key"][-1] != "A" else "B")
    problem(admin.post(path, json=body, headers=bearer(other)), 401, "unauthenticated")


def test_a_key_ends_at_its_expiry(admin: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    expiry = datetime.now(UTC) + timedelta(hours=1)
    made = make(admin, expires_at=expiry.isoformat())
    assert admin.get("/v1/keys/me", headers=bearer(made["key"])).status_code == 200
    monkeypatch.setattr(access, "now", lambda: made["expires_at"])
    problem(admin.get("/v1/keys/me", headers=bearer(made["key"])), 401, "unauthenticated")


@pytest.mark.parametrize(
    "expires_at", ["2020-01-01T00:00:00Z", "2999-01-01T00:00:00", "soon", "9999-12-31T23:59:59-23:59"]
)
def test_an_expiry_is_a_moment_in_the_future_with_a_time_zone(admin: TestClient, expires_at: str) -> None:
    wanted = {"name": "x", "role": "client", "expires_at": expires_at}
    document = problem(admin.post("/v1/keys", json=wanted), 422, "invalid-input")
    assert document["errors"][0]["pointer"] == "/expires_at"


@pytest.mark.parametrize("name", ["", "x" * 101, "two\nlines", "\t"])
def test_a_name_is_a_line_of_1_to_100_characters(admin: TestClient, name: str) -> None:
    problem(admin.post("/v1/keys", json={"name": name, "role": "client"}), 422, "invalid-input")
    assert make(admin, name="ü" * 100)["name"] == "ü" * 100


def test_a_key_for_a_study_that_is_not_there_is_not_made(admin: TestClient) -> None:
    wanted = {"name": "x", "role": "client", "studies": ["nowhere"]}
    problem(admin.post("/v1/keys", json=wanted), 404, "study-not-found")
    assert len(admin.get("/v1/keys").json()["keys"]) == 1


def test_a_key_with_the_right_id_and_another_secret_is_refused(admin: TestClient) -> None:
    made = make(admin)
    wrong = made["key"][:-1] + ("A" if made["key"][-1] != "A" else "B")
    problem(admin.get("/v1/keys/me", headers=bearer(wrong)), 401, "unauthenticated")


def rotate(admin: TestClient, key_id: str, **wanted: object) -> dict[str, str]:
    rotated = admin.post(f"/v1/keys/{key_id}/rotation", json=wanted)
    assert rotated.status_code == 200, rotated.text
    document: dict[str, str] = rotated.json()
    return document


def test_a_rotated_key_has_two_secrets_until_the_overlap_ends(
    admin: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(admin)
    rotated = rotate(admin, made["id"], overlap_hours=2)
    assert (rotated["id"], rotated["key"] != made["key"]) == (made["id"], True)
    for key in (made["key"], rotated["key"]):
        assert admin.get("/v1/keys/me", headers=bearer(key)).json()["id"] == made["id"]
    later = (datetime.now(UTC) + timedelta(hours=2)).isoformat().replace("+00:00", "Z")
    monkeypatch.setattr(access, "now", lambda: later)
    problem(admin.get("/v1/keys/me", headers=bearer(made["key"])), 401, "unauthenticated")
    assert admin.get("/v1/keys/me", headers=bearer(rotated["key"])).status_code == 200


def test_without_an_overlap_the_old_secret_is_refused_at_once(admin: TestClient) -> None:
    made = make(admin)
    rotated = rotate(admin, made["id"], overlap_hours=0)
    problem(admin.get("/v1/keys/me", headers=bearer(made["key"])), 401, "unauthenticated")
    admin.post(f"/v1/keys/{made['id']}/revocation")
    for key in (made["key"], rotated["key"]):
        problem(admin.get("/v1/keys/me", headers=bearer(key)), 401, "unauthenticated")
    problem(admin.post(f"/v1/keys/{made['id']}/rotation", json={}), 404, "key-not-found")


def test_a_key_can_be_renamed_promoted_and_given_an_expiry(admin: TestClient) -> None:
    made = make(admin)
    expiry = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    changed = admin.patch(f"/v1/keys/{made['id']}", json={"name": "wall", "role": "client", "expires_at": expiry})
    assert (changed.json()["name"], changed.json()["role"]) == ("wall", "client")
    assert admin.patch(f"/v1/keys/{made['id']}", json={"expires_at": None}).json()["expires_at"] is None
    assert admin.get("/v1/keys/me", headers=bearer(made["key"])).json()["role"] == "client"
    actions = [entry["action"] for entry in admin.get("/v1/audit").json()["entries"]]
    assert actions.count("key-changed") == 2
    admin.post(f"/v1/keys/{made['id']}/revocation")
    problem(admin.patch(f"/v1/keys/{made['id']}", json={"name": "x"}), 404, "key-not-found")


def test_the_last_admin_cannot_lock_everybody_out(admin: TestClient) -> None:
    me = admin.get("/v1/keys/me").json()["id"]
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    make(admin, role="admin", expires_at=soon)  # does not last
    attempts = [
        lambda: admin.post(f"/v1/keys/{me}/revocation"),
        lambda: admin.patch(f"/v1/keys/{me}", json={"role": "scientist"}),
        lambda: admin.patch(f"/v1/keys/{me}", json={"expires_at": soon}),
    ]
    for attempt in attempts:
        problem(attempt(), 409, "last-admin")
    assert admin.get("/v1/keys/me").json()["role"] == "admin"
    other = make(admin, role="admin")
    assert attempts[0]().status_code == 200
    problem(admin.get("/v1/keys", headers=bearer(admin.headers["Authorization"].split()[1])), 401, "unauthenticated")
    assert admin.get("/v1/keys", headers=bearer(other["key"])).status_code == 200


def test_a_key_says_when_it_was_last_used(admin: TestClient) -> None:
    made = make(admin)
    admin.app.state.key_uses.write()  # type: ignore[attr-defined]
    assert {key["name"]: key["last_used_at"] for key in admin.get("/v1/keys").json()["keys"]}["tablet"] is None
    admin.get("/v1/keys/me", headers=bearer(made["key"]))
    admin.app.state.key_uses.write()  # type: ignore[attr-defined]
    used = {key["name"]: key["last_used_at"] for key in admin.get("/v1/keys").json()["keys"]}["tablet"]
    assert abs(datetime.fromisoformat(used) - datetime.now(UTC)) < timedelta(minutes=5)
