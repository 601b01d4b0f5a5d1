"""Every act of administration is on record, in a chain of its own; what cannot be recorded is not done."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from typer.testing import CliRunner

from app.api import limits
from app.cli import command
from app.domain.errors import StorageFull
from app.main import create_app
from app.settings import Settings
from app.storage import audit
from app.storage.database import Database, open_database
from tests.api.conftest import problem
from tests.api.test_heads import check, heads
from tests.conftest import on_sqlite

OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}


def entries(client: TestClient) -> list[dict[str, Any]]:
    """What was recorded after the admin's own key."""
    listed: list[dict[str, Any]] = client.get("/v1/audit").json()["entries"]
    return [entry | {"details": json.loads(entry["details"])} for entry in listed[1:]]


def actions(client: TestClient) -> list[str]:
    return [entry["action"] for entry in entries(client)]


def is_sound(client: TestClient) -> bool:
    return bool(client.post("/v1/audit/verify").json()["sound"])


def administer(admin: TestClient) -> dict[str, Any]:
    """Something of everything."""
    made: dict[str, Any] = admin.post("/v1/keys", json={"name": "bench", "role": "technician"}).json()
    admin.put("/v1/studies/s", json={}).raise_for_status()
    admin.put(f"/v1/studies/s/grants/{made['id']}").raise_for_status()
    admin.delete(f"/v1/studies/s/grants/{made['id']}").raise_for_status()
    admin.post("/session", json={"key": made["key"]}, headers=OWN_PAGE).raise_for_status()
    admin.get("/v1/studies/s/archive").raise_for_status()
    admin.post(f"/v1/keys/{made['id']}/revocation").raise_for_status()
    admin.delete("/v1/studies/s?confirm=s").raise_for_status()
    return made


def test_every_act_is_on_record_with_who_when_and_from_where(admin: TestClient) -> None:
    made = administer(admin)
    found = entries(admin)
    assert [entry["action"] for entry in found] == [
        *("key-created", "access-given", "access-taken", "signed-in"),
        *("study-exported", "key-revoked", "study-removed"),
    ]
    me = admin.get("/v1/keys/me").json()["id"]
    assert [entry["actor"] for entry in found] == [me, me, me, made["id"], me, me, me]
    assert {entry["address"] for entry in found} == {"testclient"}
    assert found[0]["details"] == {
        "key": made["id"],
        "name": "bench",
        "role": "technician",
        "studies": [],
        "expires_at": None,
    }
    assert found[1]["details"] == {"study": "s", "key": made["id"]}
    assert made["key"].rpartition("_")[2] not in admin.get("/v1/audit").text
    assert is_sound(admin)


def test_pages_follow_one_another(admin: TestClient) -> None:
    administer(admin)
    first = admin.get("/v1/audit", params={"limit": 3}).json()
    assert (len(first["entries"]), first["next"]) == (3, 3)
    rest = admin.get("/v1/audit", params={"after": 3}).json()
    assert [entry["seq"] for entry in rest["entries"]] == [4, 5, 6, 7, 8]


def test_a_repeated_request_is_recorded_once(admin: TestClient) -> None:
    for _ in range(2):
        sent = {"json": {"name": "bench", "role": "technician"}, "headers": {"Idempotency-Key": "one"}}
        assert admin.post("/v1/keys", **sent).status_code == 201
    assert actions(admin) == ["key-created"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/keys", {"name": "bench", "role": "technician"}),
        ("GET", "/v1/studies/s/archive", None),
        ("DELETE", "/v1/studies/s?confirm=s", None),
    ],
)
def test_what_cannot_be_recorded_is_not_done(
    admin: TestClient, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: Any
) -> None:
    admin.put("/v1/studies/s", json={})

    def fail(*_: Any) -> None:
        raise DBAPIError("INSERT INTO audit", None, Exception("disk is full"))

    monkeypatch.setattr(audit, "append", fail)
    problem(admin.request(method, path, json=body), 507, "storage-full")
    monkeypatch.undo()
    assert len(admin.get("/v1/keys").json()["keys"]) == 1
    assert admin.get("/v1/studies/s").status_code == 200
    assert actions(admin) == []


def test_the_database_refuses_to_change_it(admin: TestClient, database: Database) -> None:
    administer(admin)
    for statement in ("UPDATE audit SET actor = 'nobody'", "DELETE FROM audit"):
        with pytest.raises(DBAPIError), database.write() as connection:
            connection.execute(text(statement))


def without_triggers(database: Database, statement: str) -> None:
    with database.write() as connection:
        if connection.dialect.name == "sqlite":
            for name in ("update", "delete"):
                connection.execute(text(f"DROP TRIGGER IF EXISTS audit_refuse_{name}"))
        else:
            connection.execute(text("ALTER TABLE audit DISABLE TRIGGER ALL"))
        connection.execute(text(statement))


@pytest.mark.parametrize("column", ["action", "actor", "details", "address", "recorded_at", "request_id", "hash"])
def test_an_altered_entry_is_named(admin: TestClient, database: Database, column: str) -> None:
    administer(admin)
    without_triggers(database, f"UPDATE audit SET {column} = 'other' WHERE seq = 4")  # noqa: S608
    assert admin.post("/v1/audit/verify").json()["broken_at"] == 4


def test_a_cut_tail_is_told_by_a_head_that_was_kept(admin: TestClient, database: Database) -> None:
    administer(admin)
    anchored = heads(admin)
    assert anchored["heads"][-1]["study"] == "~audit"
    without_triggers(database, "DELETE FROM audit WHERE seq > 5")
    assert is_sound(admin)
    found = {checked["study"]: checked["state"] for checked in check(admin, anchored)["checks"]}
    assert found == {"s": "kept", "~audit": "cut"}


def test_only_admins_read_it(admin: TestClient, new_key) -> None:
    scientist = {"Authorization": f"Bearer {new_key('scientist')}"}
    problem(admin.get("/v1/audit", headers=scientist), 403, "forbidden")
    assert "~audit" not in admin.get("/v1/heads", headers=scientist).text


def test_reads_are_recorded_if_they_are_to_be(settings: Settings, new_key) -> None:
    recording = settings.model_copy(update={"audit_reads": True})
    headers = {"Authorization": f"Bearer {new_key('admin')}"}
    with TestClient(create_app(recording), headers=headers) as client:
        client.put("/v1/studies/s", json={})
        client.get("/v1/studies/s")
        assert [entry["details"] for entry in entries(client) if entry["action"] == "read"] == [
            {"method": "GET", "path": "/v1/studies/s"},
            {"method": "GET", "path": "/v1/audit"},
        ]


def test_every_line_of_the_log_names_the_key(admin: TestClient, capsys: pytest.CaptureFixture[str]) -> None:
    admin.get("/v1/studies")
    admin.get("/healthz")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    me = admin.get("/v1/keys/me").json()["id"]
    assert [(line["path"], line.get("key_id")) for line in lines] == [("/v1/studies", me), ("/healthz", None)]


@on_sqlite
def test_the_command_shows_and_checks_it(admin: TestClient, database: Database, address: str, monkeypatch) -> None:
    administer(admin)
    monkeypatch.setenv("NEXTBATCH_DATABASE_URL", address)
    shown = CliRunner().invoke(command, ["audit", "--json"])
    assert (shown.exit_code, len(json.loads(shown.stdout))) == (0, 8)
    assert "study-exported" in CliRunner().invoke(command, ["audit", "--after", "3"], env={"COLUMNS": "200"}).stdout
    without_triggers(database, "UPDATE audit SET actor = 'other' WHERE seq = 4")
    assert CliRunner().invoke(command, ["audit"]).exit_code == 4


def test_a_refused_sign_in_is_on_record_without_its_secret(admin: TestClient) -> None:
    made = admin.post("/v1/keys", json={"name": "bench", "role": "technician"}).json()
    admin.post(f"/v1/keys/{made['id']}/revocation").raise_for_status()
    for key in (made["key"], "nb_nonsense"):
        problem(admin.post("/session", json={"key": key}, headers=OWN_PAGE), 401, "unauthenticated")
    refused = [entry for entry in entries(admin) if entry["action"] == "sign-in-refused"]
    assert [(entry["actor"], entry["details"]["key"]) for entry in refused] == [
        ("nobody", made["id"]),
        ("nobody", None),
    ]
    assert {entry["address"] for entry in refused} == {"testclient"}
    assert made["key"].rpartition("_")[2] not in admin.get("/v1/audit").text
    assert is_sound(admin)


def test_guessing_fills_no_disk_and_what_is_not_recorded_is_counted(
    admin: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    guesses = limits.BURST_SECONDS + 15
    moment = 100.0
    monkeypatch.setattr(limits, "monotonic", lambda: moment)
    for _ in range(guesses):
        admin.post("/session", json={"key": "nb_nonsense"}, headers=OWN_PAGE)
    moment += 2
    admin.post("/session", json={"key": "nb_nonsense"}, headers=OWN_PAGE)
    recorded = [entry["details"]["unrecorded"] for entry in entries(admin) if entry["action"] == "sign-in-refused"]
    assert recorded == [0] * limits.BURST_SECONDS + [15]


@pytest.mark.parametrize("file_format", ["csv", "xlsx"])
def test_exports_of_tables_are_on_record(admin: TestClient, filled: str, file_format: str) -> None:
    for table in ("candidates", "observations"):
        admin.get(f"/v1/studies/{filled}/{table}").raise_for_status()
        admin.get(f"/v1/studies/{filled}/{table}", params={"format": file_format}).raise_for_status()
    assert [entry["details"] for entry in entries(admin) if entry["action"] == "table-exported"] == [
        {"study": filled, "table": table, "format": file_format} for table in ("candidates", "results")
    ]


@pytest.mark.parametrize("table", ["candidates", "observations"])
def test_a_table_that_cannot_be_recorded_is_not_exported(
    admin: TestClient, filled: str, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_call: object) -> None:
        raise StorageFull

    monkeypatch.setattr(audit, "append", full)
    problem(admin.get(f"/v1/studies/{filled}/{table}", params={"format": "csv"}), 507, "storage-full")
    assert admin.get(f"/v1/studies/{filled}/{table}").status_code == 200


@on_sqlite
def test_a_backup_is_on_record_and_in_the_copy(admin: TestClient, address: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("NEXTBATCH_DATABASE_URL", address)
    monkeypatch.setenv("NEXTBATCH_DATA", str(tmp_path))
    made = CliRunner().invoke(command, ["backup", str(tmp_path / "copy.sqlite3")])
    assert made.exit_code == 0, made.output
    [entry] = [entry for entry in entries(admin) if entry["action"] == "database-copied"]
    assert (entry["actor"], entry["details"]) == ("server", {"file": "copy.sqlite3"})
    copied = open_database(f"sqlite:///{tmp_path / 'copy.sqlite3'}", connections=1)
    with copied.read() as connection:
        assert [found.action for found in audit.read(connection)][-1] == "database-copied"
    copied.dispose()


@on_sqlite
def test_a_database_that_cannot_be_written_is_backed_up_all_the_same(
    admin: TestClient, address: str, tmp_path: Path, monkeypatch
) -> None:
    def full(*_call: object) -> None:
        raise StorageFull

    monkeypatch.setattr(audit, "append", full)
    monkeypatch.setenv("NEXTBATCH_DATABASE_URL", address)
    monkeypatch.setenv("NEXTBATCH_DATA", str(tmp_path))
    made = CliRunner().invoke(command, ["backup", str(tmp_path / "copy.sqlite3")])
    assert made.exit_code == 0, made.output
    assert "has no entry of this copy" in made.output
    assert (tmp_path / "copy.sqlite3").exists()
