"""A server that starts while others keep the database busy waits for a while."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest
from sqlalchemy import Connection, text

from app.cli import serving
from app.cli.serving import first_admin_key, prepare
from app.domain.clock import ago
from app.domain.errors import DatabaseBusy
from app.logs import configure
from app.services.maintenance import drop_old_answers
from app.settings import Settings
from app.storage import dialects, schema
from app.storage.database import open_database
from app.storage.dialects import Lock, hold


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the database nor the start waits long."""
    monkeypatch.setattr(dialects, "BUSY_MILLISECONDS", 50)
    monkeypatch.setattr(serving, "BUSY_PAUSE", 0.01)
    configure("json", "warning")


@contextmanager
def writing(address: str) -> Iterator[Connection]:
    """Another process that writes and does not finish."""
    database = open_database(address, connections=2)
    with database.writer.connect() as connection:
        if connection.dialect.name == "postgresql":
            hold(connection, Lock.MIGRATION)
        else:
            connection.execute(text("SELECT 1"))  # it begins IMMEDIATE
        yield connection
    database.dispose()


def test_a_start_waits_for_a_busy_database_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(data=tmp_path)
    with writing(settings.database_address) as busy:
        Timer(1.0, busy.rollback).start()
        database = prepare(settings)
    with database.read() as connection:
        assert schema.is_current(connection)
    database.dispose()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["event"] for line in lines} == {"the database is busy; waiting"}
    assert lines[0]["seconds_left"] == serving.BUSY_SECONDS


def test_after_its_time_a_start_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "BUSY_SECONDS", 0.2)
    settings = Settings(data=tmp_path)
    with writing(settings.database_address), pytest.raises(DatabaseBusy):
        prepare(settings)


def test_a_restart_needs_no_turn_to_write(address: str, tmp_path: Path, new_key: Callable[..., str]) -> None:
    """Nothing is to be migrated, made or forgotten, so that it does not matter how long others write."""
    new_key("admin")
    with writing(address):
        database = prepare(Settings(data=tmp_path, database_url=address))
        assert first_admin_key(database, tmp_path / "admin.key") is None
        assert drop_old_answers(database, ago(days=1)) == 0
    database.dispose()
