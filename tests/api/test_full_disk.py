"""A disk without room for a body's temporary file."""

import errno

import pytest
from fastapi.testclient import TestClient

from app.api import bodies
from tests.api.conftest import problem
from tests.conftest import on_sqlite


@on_sqlite
def test_no_room_for_a_body_is_a_507(admin: TestClient, filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object, **_kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(bodies, "TemporaryFolder", full)
    sheet = {"content": "candidate,value\nA1,1.0\n", "headers": {"Content-Type": "text/csv"}}
    many = {"json": {"observations": [{"candidate": "A1", "value": 1.0, "note": "x" * 1000}] * 100}}
    for needing_room in (sheet, many):
        answer = admin.post(f"/v1/studies/{filled}/observations", **needing_room)
        problem(answer, 507, "storage-full")
        assert answer.headers["Retry-After"] == "10"
    result = admin.post(f"/v1/studies/{filled}/observations", json={"candidate": "A1", "value": 1.0})
    assert result.status_code == 201  # it needs none
