"""A secret is shown once and then nowhere: not in the database, its log, the server's log or an error."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from fastapi.testclient import TestClient
from psycopg import sql

from app import logs
from app.main import create_app
from app.settings import Settings


def everything_stored(address: str) -> bytes:
    """All bytes of an SQLite database and its write-ahead log, or all rows of a PostgreSQL database."""
    if address.startswith("sqlite"):
        path = Path(address.removeprefix("sqlite:///"))
        return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    with psycopg.connect(address) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        rows = [
            connection.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(name))).fetchall()
            for (name,) in tables
        ]
    return repr(rows).encode()


def test_a_planted_secret_is_found_nowhere(admin: TestClient, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = admin.post("/v1/keys", json={"name": "tablet", "role": "client"}, headers={"Idempotency-Key": "kept"}).json()
    secret = made["key"].split("_", 2)[2]
    key = {"Authorization": f"Bearer {made['key']}"}
    answers = [
        admin.get("/v1/keys/me", headers=key),
        admin.get("/v1/keys", headers=key),
        admin.put("/v1/studies/s", content=b"{", headers=key),
        admin.get("/v1/studies", headers={"Authorization": f"Bearer {made['key']}x"}),
    ]
    assert [answer.text for answer in answers if secret in answer.text] == []
    printed = capsys.readouterr()
    assert secret not in printed.out + printed.err
    stored = everything_stored(address)
    assert made["id"].encode() in stored
    assert secret.encode() not in stored
    assert secret.encode().hex().encode() not in stored


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_not_even_a_bug_logs_a_secret(
    settings: Settings,
    new_key: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    log_format: str,
) -> None:
    def broken(connection: object, spelling: str) -> None:
        raise KeyError("on purpose")

    monkeypatch.setattr("app.api.dependencies.authenticate", broken)
    key = new_key("admin")
    client = TestClient(
        create_app(settings.model_copy(update={"log_format": log_format})), raise_server_exceptions=False
    )
    answer = client.get("/v1/studies", headers={"Authorization": f"Bearer {key}"})
    logs.configure("json", "info")
    client.app.state.resources.database.dispose()
    assert answer.status_code == 500
    printed = capsys.readouterr().out
    assert "on purpose" in printed
    assert key[-20:] not in printed
