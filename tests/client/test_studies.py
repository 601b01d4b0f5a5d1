"""Studies and keys, by either client."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from nextbatch import Client, Conflict, InvalidInput, NotFound
from tests import live


def test_creating_the_same_study_again_finds_it(client: Any, study: Any) -> None:
    again = client.create_study(study.name, objective="yield", unit="%")
    assert again.details.created_at == study.details.created_at


def test_a_study_is_found_by_name_and_listed(client: Any, study: Any) -> None:
    assert client.study(study.name).details.candidates == 4
    assert study.name in [listed.name for listed in client.studies(state="active")]


def test_a_study_that_is_not_there_is_found_out_at_once(client: Any) -> None:
    with pytest.raises(NotFound) as refused:
        client.study("nowhere")
    assert refused.value.code == "study-not-found"


def test_a_study_is_paused_resumed_archived_and_deleted(client: Any, study: Any) -> None:
    assert study.pause("stocktaking").state == "paused"
    with pytest.raises(Conflict, match="The study is paused"):
        study.ask()
    assert study.resume().state == "active"
    assert study.archive("done").state == "archived"
    assert study.resume().state == "active"
    study.delete(study.name, "not needed")
    with pytest.raises(NotFound) as refused:
        client.study(study.name)
    assert refused.value.status == 410


def test_settings_change_for_who_saw_the_newest_version(client: Any, study: Any) -> None:
    other = client.study(study.name)
    assert study.change(max_batch=7, reason="one plate").configuration["max_batch"] == 7
    with pytest.raises(Conflict) as refused:
        other.change(max_batch=8)
    assert refused.value.code == "precondition-failed"
    assert other.refresh().configuration["max_batch"] == 7


def test_a_study_moves_to_another_server_in_one_file(client: Any, study: Any, other: Client, tmp_path: Path) -> None:
    study.report({"key": "A1", "value": 0.4})
    archive = study.export(tmp_path / "study.zip")
    with pytest.raises(InvalidInput) as refused:
        other.import_study(archive)
    assert refused.value.code == "unverified-archive"
    moved = other.import_study(archive, accept_unverified=True)
    assert [observation.value for observation in moved.observations()] == [0.4]
    *imported, mark = moved.history()
    assert imported[-1].hash == mark.previous == study.verify().head
    assert {event.origin for event in imported} == {moved.details.origin}
    assert client.import_study(archive).name == study.name


@pytest.fixture
def other(tmp_path: Path, migrated_sqlite: Path) -> Iterator[Client]:
    """A client of another server."""
    path = tmp_path / "other.sqlite3"
    path.write_bytes(migrated_sqlite.read_bytes())
    with live.running(f"sqlite:///{path}", tmp_path) as server, Client(server.url, server.key) as client:
        yield client


def test_a_key_is_made_granted_and_revoked(client: Any, study: Any) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    made = client.create_key("tablet", "technician", expires_at=tomorrow)
    assert made.key.startswith("nb_")
    assert made.key not in repr(made)
    study.grant(made.id)
    listed = {key.id: key for key in client.keys()}  # noqa: SIM118  (no mapping)
    assert study.name in listed[made.id].studies
    study.withdraw(made.id)
    assert client.revoke_key(made.id).revoked_at is not None
    assert client.me().role == "admin"
