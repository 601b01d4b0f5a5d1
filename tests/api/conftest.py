"""A study with three candidates, and the way to upload some."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from app.services.resources import Resources
from app.settings import Settings
from app.webhooks import dispatcher
from tests.api.lab import Lab
from tests.api.operations import CSV as SHORT

CSV = "key,temperature,solvent,dry\nA1,90,DMF,true\nA2,100,THF,false\nA3,80,DMF,true\n"

Upload = Callable[..., Response]


@pytest.fixture
def settings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """With an address for webhooks, to which nothing is sent."""
    monkeypatch.setattr(dispatcher, "LOOK_SECONDS", 3600.0)
    return settings.model_copy(update={"webhook_targets": ("https://hooks.example.org",)})


@pytest.fixture
def upload(admin: TestClient) -> Upload:
    """`upload(CSV)`, `upload(content, "application/x-npy", study="t", method="POST", dry_run=True)`"""

    def send(
        content: str | bytes,
        media_type: str = "text/csv",
        study: str = "s",
        method: str = "PUT",
        headers: dict[str, str] | None = None,
        **params: Any,
    ) -> Response:
        path = f"/v1/studies/{study}/candidates"
        sent = {"Content-Type": media_type} | (headers or {})
        return admin.request(method, path, content=content, headers=sent, params=params)

    return send


@pytest.fixture
def study(admin: TestClient) -> str:
    """The name of an empty study."""
    assert admin.put("/v1/studies/s", json={}).status_code == 201
    return "s"


@pytest.fixture
def filled(study: str, upload: Upload) -> str:
    """The name of a study with three candidates."""
    assert upload(CSV).status_code == 201
    return study


@pytest.fixture
def lab(admin: TestClient) -> Lab:
    """A lab before its study begins: `lab.begin(direction="minimize")`"""
    return Lab(admin)


@pytest.fixture
def resources(admin: TestClient) -> Resources:
    """What the server works with."""
    found: Resources = admin.app.state.resources  # type: ignore[attr-defined]
    return found


@pytest.fixture
def scene(admin: TestClient, new_key: Callable[..., str]) -> Callable[..., str]:
    """Makes a study with candidates, granted to a further key, whose id it returns; with a batch and a result."""

    def make(study: str, results: bool = False) -> str:
        assert admin.put(f"/v1/studies/{study}", json={}).status_code == 201
        uploaded = admin.put(f"/v1/studies/{study}/candidates", content=SHORT, headers={"Content-Type": "text/csv"})
        assert uploaded.status_code == 201
        if results:
            asked = admin.post(f"/v1/studies/{study}/batches", json={"worker": "w", "max_size": 2})
            reported = admin.post(f"/v1/studies/{study}/observations", json={"suggestion": "B1-S1", "value": 1})
            assert (asked.status_code, reported.status_code) == (201, 201)
        return new_key("dashboard", study).split("_")[1]

    return make


def problem(answer: Response, status: int, code: str) -> dict[str, Any]:
    """The problem document of an answer that must be one."""
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json"), answer.text
    document: dict[str, Any] = answer.json()
    assert (document["status"], document["code"], document["type"]) == (status, code, f"/problems/{code}")
    assert document["request_id"] == answer.headers["X-Request-ID"]
    assert document["title"]
    assert document["detail"]
    return document


def code(answer: Response) -> str:
    found: str = answer.json()["code"]
    return found
