"""The same write again under the same Idempotency-Key: one effect, and the same bytes."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select

from app.main import create_app
from app.services.workflows import upload as uploads
from app.settings import Settings
from app.storage import tables
from app.storage.database import Database
from tests.api.conftest import problem
from tests.api.operations import CHECKS, CSV, SHOWN_ONCE, Operation, operations

TOKEN = {"Idempotency-Key": "one-and-the-same"}


@pytest.fixture
def elsewhere(admin: TestClient, settings: Settings) -> Iterator[TestClient]:
    """Another server process on the same database."""
    with TestClient(create_app(settings), headers=admin.headers) as client:
        yield client


def writes(client: TestClient) -> list[Operation]:
    return [operation for operation in operations(client.app) if operation.writes]


def effects(database: Database) -> list[int]:
    """How many rows every table has, the kept answers and the engine's cache aside."""
    with database.read() as connection:
        return [
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in tables.metadata.tables.items()
            if name not in ("idempotency", "snapshots", "snapshot_blobs", "blobs", "blob_chunks")
        ]


def whole(answer: Response) -> tuple[int, bytes, dict[str, str]]:
    """An answer but for what names the request itself."""
    headers = {name: value for name, value in answer.headers.items() if name != "x-request-id"}
    return answer.status_code, answer.content, headers


def test_every_write_takes_an_idempotency_key(admin: TestClient) -> None:
    document = admin.get("/openapi.json").json()
    without = [
        f"{method} {path}"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if path.startswith("/v1/")  # signing in and out elsewhere changes a cookie alone
        and method.upper() in ("PUT", "POST", "PATCH", "DELETE")
        and "idempotency-key" not in {each["name"].lower() for each in operation.get("parameters", ())}
    ]
    assert {name.replace("post", "POST") for name in without} == CHECKS


def test_every_write_is_answered_again_byte_for_byte_by_any_process(
    admin: TestClient, elsewhere: TestClient, database: Database, scene: Callable[[str], str]
) -> None:
    for number, operation in enumerate(writes(admin)):
        study = f"s{number}"
        other_key = scene(study, operation.needs_results)
        first = operation.send(admin, study, other_key, token := {"Idempotency-Key": str(number)})
        assert first.is_success, (operation, first.text)
        before = effects(database)
        again = operation.send(elsewhere, study, other_key, token)
        if operation.name not in SHOWN_ONCE:
            assert whole(again) == whole(first), operation
        assert whole(operation.send(admin, study, other_key, token)) == whole(again), operation
        assert effects(database) == before, operation


def test_a_new_keys_secret_is_not_shown_again(admin: TestClient, elsewhere: TestClient) -> None:
    wanted = {"name": "tablet", "role": "technician"}
    first = admin.post("/v1/keys", json=wanted, headers=TOKEN)
    again = elsewhere.post("/v1/keys", json=wanted, headers=TOKEN)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json()["key"].startswith(f"nb_{first.json()['id']}_")
    assert again.json() == {**first.json(), "key": None}


def test_another_request_under_the_same_token_is_refused(admin: TestClient, study: str) -> None:
    admin.put("/v1/studies/t", json={}, headers=TOKEN)
    others = [
        admin.put("/v1/studies/t", json={"seed": 1}, headers=TOKEN),
        admin.put("/v1/studies/u", json={}, headers=TOKEN),
        admin.delete("/v1/studies/s?confirm=s", headers=TOKEN),
        admin.put("/v1/studies/s/candidates", content=CSV, headers=TOKEN | {"Content-Type": "text/csv"}),
    ]
    for answer in others:
        problem(answer, 422, "idempotency-key-reused")
    assert admin.get("/v1/studies/u").status_code == 404


def test_a_refused_write_leaves_its_token_free(admin: TestClient, study: str) -> None:
    assert admin.patch("/v1/studies/s", json={"state": "paused"}, headers=TOKEN).status_code == 428
    changed = admin.patch("/v1/studies/s", json={"state": "paused"}, headers=TOKEN | {"If-Match": "*"})
    assert changed.json()["state"] == "paused"


def test_two_keys_may_use_the_same_token(admin: TestClient, new_key: Callable[..., str]) -> None:
    other = {"Authorization": f"Bearer {new_key('scientist')}"}
    assert admin.put("/v1/studies/a", json={}, headers=TOKEN).status_code == 201
    assert admin.put("/v1/studies/b", json={}, headers=TOKEN | other).status_code == 201


@pytest.mark.parametrize("token", ["", "with space", "ü", "x" * 201])
def test_a_token_that_cannot_be_kept_is_refused(admin: TestClient, token: str) -> None:
    answer = admin.put("/v1/studies/s", json={}, headers={"Idempotency-Key": token.encode()})
    problem(answer, 422, "invalid-input")


def test_many_at_the_same_time_have_one_effect_and_one_answer(
    admin: TestClient, elsewhere: TestClient, database: Database, study: str
) -> None:
    def add(number: int) -> tuple[int, bytes]:
        client = (admin, elsewhere)[number % 2]
        headers = TOKEN | {"Content-Type": "text/csv"}
        answer = client.post("/v1/studies/s/candidates", content=CSV, headers=headers)
        return answer.status_code, answer.content

    with ThreadPoolExecutor(6) as pool:
        answers = set(pool.map(add, range(6)))
    assert len(answers) == 1
    status, body = answers.pop()
    assert (status, json.loads(body)["candidates"]) == (201, 4)
    assert admin.get("/v1/studies/s").json()["candidates"] == 4


def test_a_repeat_that_overtakes_the_first_has_the_same_answer(
    admin: TestClient, elsewhere: TestClient, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = {"content": CSV, "headers": TOKEN | {"Content-Type": "text/csv"}}
    overtaking: list[bytes] = []
    read_table = uploads.read_table

    def overtaken(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(uploads, "read_table", read_table)
        overtaking.append(elsewhere.post("/v1/studies/s/candidates", **request).content)
        return read_table(*args, **kwargs)

    monkeypatch.setattr(uploads, "read_table", overtaken)
    answer = admin.post("/v1/studies/s/candidates", **request)
    assert (answer.status_code, [answer.content]) == (201, overtaking)
