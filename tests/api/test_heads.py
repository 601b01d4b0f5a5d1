"""Heads that are kept elsewhere tell of a tail that was cut off, which nothing in the database can tell."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text
from typer.testing import CliRunner

from app.cli import command
from app.services.signing import is_signed
from app.storage.database import Database
from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.api.test_ledger import without_triggers
from tests.conftest import on_sqlite

CUT = (
    "UPDATE studies SET seq = seq - 1, head = (SELECT previous FROM events WHERE seq = :seq AND study_id = studies.id)"
)


@pytest.fixture
def busy(lab: Lab) -> Lab:
    lab.begin()
    lab.report(candidate="DMF-20", value=1.0)
    return lab


def heads(client: TestClient, **more: Any) -> dict[str, Any]:
    answer = client.get("/v1/heads", **more)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def check(client: TestClient, anchored: dict[str, Any]) -> dict[str, Any]:
    answer = client.post("/v1/heads/check", json=anchored)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def cut(database: Database) -> None:
    """Take the last event away, as somebody with the whole database can: what is left is sound in itself."""
    without_triggers(database, CUT, 3)
    without_triggers(database, "DELETE FROM observations", 0)
    without_triggers(database, "DELETE FROM events WHERE seq = :seq", 3)


def test_heads_are_kept_while_the_ledger_grows(busy: Lab) -> None:
    anchored = heads(busy.client)
    busy.report(candidate="DMF-30", value=2.0)
    checked = check(busy.client, anchored)
    assert (checked["kept"], checked["signature"]) == (True, "own")
    assert [(found["study"], found["state"], found["ends_at"]) for found in checked["checks"]] == [
        ("s", "kept", 4),
        ("~audit", "kept", 1),
    ]


def test_a_cut_tail_is_sound_in_itself_and_told_by_the_head(busy: Lab, database: Database) -> None:
    anchored = heads(busy.client)
    cut(database)
    assert busy.is_sound()
    found = check(busy.client, anchored)["checks"][0]
    assert (found["state"], found["ends_at"]) == ("cut", 2)
    busy.report(candidate="DMF-40", value=3.0)
    assert check(busy.client, anchored)["checks"][0]["state"] == "rewritten"


def test_a_deleted_study_keeps_its_head_and_a_missing_one_is_told(busy: Lab, database: Database) -> None:
    anchored = heads(busy.client)
    assert busy.client.delete(f"{busy.path}?confirm={busy.study}").status_code == 204
    assert check(busy.client, anchored)["kept"]
    with database.write() as connection:
        connection.execute(text("UPDATE studies SET name = 'renamed'"))
    assert check(busy.client, anchored)["checks"][0]["state"] == "missing"


def test_edited_heads_are_refused(busy: Lab) -> None:
    anchored = heads(busy.client)
    for edited in (
        anchored | {"heads": [anchored["heads"][0] | {"seq": 2}]},
        anchored | {"heads": []},
        anchored | {"signed_at": "2020-01-01T00:00:00.000000Z"},
        anchored | {"public_key": "00" * 32},
        anchored | {"server": "00" * 8},
    ):
        found = problem(busy.client.post("/v1/heads/check", json=edited), 422, "invalid-input")
        assert found["errors"][0]["pointer"] == "/signature"
    assert not is_signed(b"anything", anchored["public_key"], anchored["signature"])


def test_a_key_sees_the_heads_of_its_studies_only(busy: Lab, new_key) -> None:
    busy.client.put("/v1/studies/other", json={})
    reader = {"Authorization": f"Bearer {new_key('dashboard', 'other')}"}
    everything = heads(busy.client)
    assert [head["study"] for head in everything["heads"]] == ["s", "other", "~audit"]
    assert [head["study"] for head in heads(busy.client, headers=reader)["heads"]] == ["other"]
    checked = busy.client.post("/v1/heads/check", json=everything, headers=reader).json()
    assert {found["study"]: found["state"] for found in checked["checks"]} == {
        "s": "missing",
        "other": "kept",
        "~audit": "missing",
    }


@on_sqlite
def test_a_backup_anchors_its_heads(busy: Lab, address: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("NEXTBATCH_DATABASE_URL", address)
    monkeypatch.setenv("NEXTBATCH_DATA", str(tmp_path / "data"))
    copied = CliRunner().invoke(command, ["backup", str(tmp_path / "copy.sqlite3")])
    assert copied.exit_code == 0, copied.output
    anchored = json.loads((tmp_path / "copy.sqlite3.heads.json").read_text())
    assert anchored["heads"] == heads(busy.client)["heads"]
    assert f"s: event 3, {anchored['heads'][0]['hash']}" in copied.output
    assert check(busy.client, anchored) == check(busy.client, heads(busy.client))


@on_sqlite
def test_a_restored_copy_says_what_it_lacks(busy: Lab, address: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("NEXTBATCH_DATABASE_URL", address)
    monkeypatch.setenv("NEXTBATCH_DATA", str(tmp_path / "data"))
    assert CliRunner().invoke(command, ["backup", str(tmp_path / "copy.sqlite3")]).exit_code == 0
    busy.report(candidate="DMF-30", value=2.0)
    file = Path(address.removeprefix("sqlite:///"))
    for part in (file, file.with_name(f"{file.name}-wal")):
        part.rename(f"{part}.gone")
    busy.client.app.state.resources.database.file.release()  # the server has ended
    restored = CliRunner().invoke(command, ["restore", str(tmp_path / "copy.sqlite3")])
    assert restored.exit_code == 0, restored.output
    assert "s ends at event 3, but had 4: 1 lost." in " ".join(restored.output.split())
