"""Studies over HTTP: made once, read, changed by whoever saw the newest version, deleted to a tombstone."""

import pytest
from fastapi.testclient import TestClient

from tests.api.conftest import problem

ANY = {"If-Match": "*"}


def test_a_study_is_made_with_defaults_that_work(admin: TestClient) -> None:
    made = admin.put("/v1/studies/s", json={})
    assert made.status_code == 201
    study = made.json()
    assert study["configuration"] == {
        "direction": "maximize",
        "seed": 0,
        "description": "",
        "objective": "value",
        "unit": "",
        "limits": None,
        "target": None,
        "objectives": [
            {
                "name": "value",
                "unit": "",
                "direction": "maximize",
                "limits": None,
                "target": None,
                "theory": None,
            }
        ],
        "constraints": [],
        "prefer": {},
        "reference": {},
        "failures": "learn",
        "goal": "best",
        "algorithm": "bbkb",
        "theory": None,
        "columns": {},
        "min_batch": 1,
        "max_batch": 100,
        "first_batch": None,
        "where": [],
        "repeats": "auto",
        "noise": "auto",
        "stop": {"regret_bound": None, "observations": None, "date": None},
        "overdue_hours": None,
        "budget": None,
        "cost_unit": None,
        "confirm": None,
        "tags": [],
        "shard": None,
        "precision": None,
    }
    assert (study["name"], study["state"], study["candidates"], study["columns"]) == ("s", "active", 0, [])
    assert made.headers["ETag"] == f'"{study["version"]}"'
    assert admin.get("/v1/studies/s").json() == study


def test_the_same_request_again_finds_it_and_another_is_a_conflict(admin: TestClient) -> None:
    wanted = {"direction": "minimize", "seed": 2**63 - 1}
    first, again = (admin.put("/v1/studies/s", json=wanted) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.content == again.content
    problem(admin.put("/v1/studies/s", json={}), 409, "study-exists")


def test_a_changed_study_is_still_found_by_the_request_that_made_it(admin: TestClient, study: str) -> None:
    admin.patch("/v1/studies/s", json={"unit": "%"}, headers=ANY)
    assert admin.put("/v1/studies/s", json={}).json()["configuration"]["unit"] == "%"
    problem(admin.put("/v1/studies/s", json={"unit": "%"}), 409, "study-exists")


def test_a_change_needs_the_version_it_is_about(admin: TestClient, study: str) -> None:
    seen = admin.get("/v1/studies/s").headers["ETag"]
    problem(admin.patch("/v1/studies/s", json={"unit": "%"}), 428, "precondition-required")
    changed = admin.patch("/v1/studies/s", json={"unit": "%"}, headers={"If-Match": seen})
    assert changed.json()["configuration"]["unit"] == "%"
    assert changed.headers["ETag"] != seen
    stale = admin.patch("/v1/studies/s", json={"unit": "g"}, headers={"If-Match": seen})
    assert problem(stale, 412, "precondition-failed")["current"] == changed.json()["version"]
    assert admin.patch("/v1/studies/s", json={"unit": "g"}, headers=ANY).json()["configuration"]["unit"] == "g"


@pytest.mark.parametrize("etag", ["", '"x"', 'W/"1"', "1, 2", "-1", "9" * 20])
def test_a_version_that_is_none_is_refused(admin: TestClient, study: str, etag: str) -> None:
    problem(admin.patch("/v1/studies/s", json={}, headers={"If-Match": etag}), 422, "invalid-input")


def test_what_changes_nothing_leaves_the_version(admin: TestClient, study: str) -> None:
    before = admin.get("/v1/studies/s")
    after = admin.patch("/v1/studies/s", json={"state": "active", "objective": "value"}, headers=ANY)
    assert (after.content, after.headers["ETag"]) == (before.content, before.headers["ETag"])


def test_a_study_goes_through_its_life(admin: TestClient, study: str) -> None:
    for state in ("paused", "active", "paused", "archived", "active", "archived", "paused", "archived"):
        assert (
            admin.patch("/v1/studies/s", json={"state": state, "reason": "why"}, headers=ANY).json()["state"] == state
        )
    problem(admin.patch("/v1/studies/s", json={"state": "deleted"}, headers=ANY), 422, "invalid-input")
    assert admin.delete("/v1/studies/s", params={"reason": "done", "confirm": "s"}).status_code == 204


def test_a_deleted_study_leaves_a_tombstone(admin: TestClient, study: str) -> None:
    assert admin.delete("/v1/studies/s?confirm=s").content == b""
    for answer in (
        admin.get("/v1/studies/s"),
        admin.patch("/v1/studies/s", json={}, headers=ANY),
        admin.delete("/v1/studies/s?confirm=s"),
        admin.get("/v1/studies/s/candidates"),
        admin.put("/v1/studies/s/candidates", content=b"t\n1\n2\n", headers={"Content-Type": "text/csv"}),
        admin.post("/v1/keys", json={"name": "x", "role": "client", "studies": ["s"]}),
    ):
        problem(answer, 410, "study-deleted")
    assert admin.get("/v1/studies").json()["studies"] == []


def test_the_list_comes_in_pages_and_by_state(admin: TestClient) -> None:
    for name in "abcde":
        admin.put(f"/v1/studies/{name}", json={})
    admin.patch("/v1/studies/b", json={"state": "paused"}, headers=ANY)
    names, after = [], 0
    while after is not None:
        page = admin.get("/v1/studies", params={"after": after, "limit": 2}).json()
        names.append([study["name"] for study in page["studies"]])
        after = page["next"]
    assert names == [["a", "b"], ["c", "d"], ["e"]]
    paused = admin.get("/v1/studies", params={"state": "paused"}).json()["studies"]
    assert [study["name"] for study in paused] == ["b"]
    problem(admin.get("/v1/studies", params={"limit": 1001}), 422, "invalid-input")
    problem(admin.get("/v1/studies", params={"state": "deleted?"}), 422, "invalid-input")


def test_a_grant_to_no_key_is_refused(admin: TestClient, study: str) -> None:
    problem(admin.put("/v1/studies/s/grants/000000000000"), 404, "key-not-found")
    problem(admin.delete("/v1/studies/s/grants/000000000000"), 404, "key-not-found")


@pytest.mark.parametrize("reason", ["%00", "a%00b", ""])
def test_a_reason_in_the_address_is_text_that_can_be_kept(admin: TestClient, study: str, reason: str) -> None:
    problem(admin.delete(f"/v1/studies/s?confirm=s&reason={reason}"), 422, "invalid-input")
    assert admin.delete("/v1/studies/s?confirm=s&reason=over%0Aand%20out").status_code == 204


def test_tags_are_kept_and_changed_like_any_setting(admin: TestClient) -> None:
    made = admin.put("/v1/studies/tagged", json={"tags": ["catalysis", "2026-Q4"]})
    assert made.json()["configuration"]["tags"] == ["catalysis", "2026-Q4"]
    changed = admin.patch("/v1/studies/tagged", json={"tags": []}, headers={"If-Match": "*"})
    assert changed.json()["configuration"]["tags"] == []


@pytest.mark.parametrize("tags", [["a", "a"], [""], ["a\nb"], [str(n) for n in range(21)], "catalysis"])
def test_tags_that_sort_nothing_are_refused(admin: TestClient, tags: object) -> None:
    refused = admin.put("/v1/studies/tagged", json={"tags": tags})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"].split("/")[1]) == (422, "tags")
