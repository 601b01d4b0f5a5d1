"""`nextbatch keys` on the server's own machine."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from app.cli import command

Cli = Callable[..., Result]


@pytest.fixture
def cli(address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    monkeypatch.setenv("NEXTBATCH_DATABASE_URL", address)
    monkeypatch.setenv("NEXTBATCH_DATA", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments: CliRunner().invoke(command, ["keys", *arguments])


def test_a_key_is_made_listed_and_revoked(cli: Cli, admin: TestClient) -> None:
    admin.put("/v1/studies/s", json={})
    made = cli("create", "bench-2", "--role", "technician", "--study", "s", "--days", "7")
    assert made.exit_code == 0, made.output
    key = made.stdout.strip()
    headers = {"Authorization": f"Bearer {key}"}
    me = admin.get("/v1/keys/me", headers=headers).json()
    assert (me["name"], me["role"], me["studies"]) == ("bench-2", "technician", ["s"])
    assert me["expires_at"]

    listed = cli("list").stdout
    assert re.search(rf"{me['id']}.*bench-2.*technician.*s.*{me['expires_at'][:10]}", listed)
    assert key[-20:] not in listed

    assert cli("revoke", me["id"]).exit_code == 0
    assert admin.get("/v1/keys/me", headers=headers).status_code == 401
    assert "20" in cli("list").stdout.split(me["id"])[1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "x" * 101, "--role", "client"),
        ("create", "", "--role", "client"),
        ("create", "x", "--role", "king"),
        ("create", "x", "--role", "client", "--study", "nowhere"),
        ("create", "x", "--role", "client", "--days", "0"),
        ("revoke", "000000000000"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli(*arguments).exit_code != 0
    assert "nb_" not in cli("list").stdout
