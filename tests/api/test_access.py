"""Every role against every operation: generated from the routes, so that a new one cannot be forgotten."""

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from app.api.live import Streams
from app.domain.access import SCOPES, Role, Scope
from tests.api.conftest import problem
from tests.api.operations import SAMPLES, Operation, operations


def test_every_operation_under_v1_needs_a_scope_and_has_a_sample(anonymous: TestClient) -> None:
    found = operations(anonymous.app)
    assert [operation.name for operation in found if operation.scope is None] == []
    assert sorted(operation.name for operation in found) == sorted(SAMPLES)


def expected(operation: Operation, role: Role, granted: bool) -> int | None:
    """The status of a refusal; None if it is allowed."""
    if operation.scope not in SCOPES[role]:
        return 403
    if "{study}" in operation.path and not granted and role is not Role.ADMIN:
        return 404
    of_another = (
        operation.path.endswith(("/corrections", "/retraction", "/retractions")) and Scope.CORRECT not in SCOPES[role]
    )
    return 403 if of_another else None


@pytest.mark.parametrize("granted", [True, False], ids=["granted", "not granted"])
@pytest.mark.parametrize("role", Role)
def test_a_role_may_do_what_its_scopes_say_in_the_studies_it_is_granted(
    admin: TestClient, new_key: Callable[..., str], scene: Callable[[str], str], role: Role, granted: bool
) -> None:
    outcomes, refused = {}, scene("s", results=True)  # of those who are refused, nobody changes it for the next
    for number, operation in enumerate(operations(admin.app)):
        wanted = expected(operation, role, granted)
        study = f"s{number}" if wanted is None else "s"
        other = scene(study, operation.needs_results) if wanted is None else refused
        key = {"Authorization": f"Bearer {new_key(role, *([study] if granted else []))}"}
        answer = operation.send(admin, study, other, key)
        fine = answer.is_success if wanted is None else answer.status_code == wanted
        outcomes[operation.name] = "as expected" if fine else f"{answer.status_code}, not {wanted or '2xx'}"
    assert set(outcomes.values()) == {"as expected"}, outcomes


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer nb_000000000000_" + "A" * 43, "Basic YTpi", "Bearer x y"])
def test_without_a_valid_key_there_is_nothing_to_see(
    anonymous: TestClient, scene: Callable[[str], str], header: str
) -> None:
    other = scene("s", results=True)
    key = {"Authorization": header}
    for operation in operations(anonymous.app):
        answer = operation.send(anonymous, "s", other, key)
        assert (answer.status_code, answer.headers.get("WWW-Authenticate")) == (401, "Bearer"), operation


def test_who_has_no_key_is_told_nothing_else_first(anonymous: TestClient, scene: Callable[[str], str]) -> None:
    other = scene("s", results=True)
    for operation in operations(anonymous.app):
        answer = operation.send(anonymous, "s", other, {"Authorization": "", "If-Match": "nonsense"})
        assert answer.status_code == 401, operation


def test_a_study_that_is_not_granted_looks_like_one_that_is_not_there(
    admin: TestClient, new_key: Callable[..., str], scene: Callable[[str], str]
) -> None:
    other = scene("s", results=True)
    key = {"Authorization": f"Bearer {new_key('scientist')}"}
    for operation in operations(admin.app):
        if "{study}" not in operation.path or operation.name == "PUT /v1/studies/{study}":
            continue
        hidden, absent = (operation.send(admin, study, other, key).json() for study in ("s", "t"))
        assert {**hidden, "request_id": ""} == {**absent, "request_id": ""}, operation


def test_a_list_shows_only_what_is_granted(admin: TestClient, new_key: Callable[..., str]) -> None:
    for name in ("a", "b", "c"):
        admin.put(f"/v1/studies/{name}", json={})
    key = {"Authorization": f"Bearer {new_key('dashboard', 'b')}"}
    assert [study["name"] for study in admin.get("/v1/studies", headers=key).json()["studies"]] == ["b"]


def test_a_scientist_sees_the_study_it_made_and_lets_others_in(admin: TestClient, new_key: Callable[..., str]) -> None:
    scientist = {"Authorization": f"Bearer {new_key('scientist')}"}
    guest = new_key("dashboard")
    seen = {"Authorization": f"Bearer {guest}"}
    assert admin.put("/v1/studies/own", json={}, headers=scientist).status_code == 201
    assert admin.get("/v1/studies/own", headers=scientist).status_code == 200
    assert admin.get("/v1/studies/own", headers=seen).status_code == 404
    grant = f"/v1/studies/own/grants/{guest.split('_')[1]}"
    assert admin.put(grant, headers=scientist).status_code == 204
    assert admin.get("/v1/studies/own", headers=seen).status_code == 200
    assert admin.delete(grant, headers=scientist).status_code == 204
    assert admin.get("/v1/studies/own", headers=seen).status_code == 404
    assert admin.delete(grant, headers=scientist).status_code == 404


def test_each_scope_is_needed_by_the_operations_it_is_meant_for(anonymous: TestClient) -> None:
    needed = {operation.name: operation.scope for operation in operations(anonymous.app)}
    assert all(scope is Scope.KEYS for name, scope in needed.items() if "/v1/keys" in name and "me" not in name)
    reads = {name: scope for name, scope in needed.items() if name.startswith("GET") and "keys" not in name}
    assert {name: scope for name, scope in reads.items() if scope is not Scope.READ} == {
        "GET /v1/studies/{study}/archive": Scope.MANAGE,
        "GET /v1/backtests": Scope.MANAGE,
        "GET /v1/backtests/{number}": Scope.MANAGE,
        "GET /v1/studies/{study}/webhooks": Scope.MANAGE,
        "GET /v1/studies/{study}/webhooks/{number}": Scope.MANAGE,
        "GET /v1/studies/{study}/webhooks/{number}/deliveries": Scope.MANAGE,
        "GET /v1/audit": Scope.KEYS,
    }


def test_a_stream_is_refused_before_it_begins(admin: TestClient, new_key: Callable[..., str], study: str) -> None:
    live = f"/v1/studies/{study}/events/live"
    problem(admin.get(live, headers={"Authorization": f"Bearer {new_key('dashboard')}"}), 404, "study-not-found")
    problem(admin.get(live, headers={"Authorization": ""}), 401, "unauthenticated")
    problem(admin.get(live, headers={"Last-Event-ID": str(2**70)}), 422, "invalid-input")
    admin.app.state.streams = Streams(0, 0)
    problem(admin.get(live), 503, "overloaded")
    admin.delete(f"/v1/studies/{study}?confirm={study}")
    problem(admin.get(live), 410, "study-deleted")
