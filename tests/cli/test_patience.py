"""A server that starts while others keep the database busy waits for it, for a while."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest
from sqlalchemy import Connection, text

from app.cli import patience
from app.cli.serving import first_admin_key, prepare
from app.domain.errors import DatabaseBusy
from app.logs import configure
from app.services.transactions import forget_old_answers
from app.settings import Settings
from app.storage import schema, sqlite
from app.storage.database import open_database


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Databases and people that wait for a moment only."""
    monkeypatch.setattr(sqlite, "BUSY_MILLISECONDS", 50)
    monkeypatch.setattr(patience, "PAUSE", 0.01)
    configure("json", "warning")


@contextmanager
def writing(address: str) -> Iterator[Connection]:
    """Somebody who writes, and does not end."""
    database = open_database(address, connections=2)
    with database.writer.connect() as connection:
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({schema._MIGRATION_LOCK})")
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
    assert {line["event"] for line in lines} == {"the database is busy; the start waits"}
    assert lines[0]["seconds_left"] == patience.SECONDS


def test_after_its_time_a_start_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "SECONDS", 0.2)
    settings = Settings(data=tmp_path)
    with writing(settings.database_address), pytest.raises(DatabaseBusy):
        prepare(settings)


def test_a_restart_needs_no_turn_to_write(address: str, tmp_path: Path, new_key: Callable[..., str]) -> None:
    """Nothing is to be migrated, made or forgotten, so that it does not matter how long others write."""
    new_key("admin")
    with writing(address):
        database = prepare(Settings(data=tmp_path, database_url=address))
        assert first_admin_key(database, tmp_path / "admin.key") is None
        assert forget_old_answers(database, days=1) == 0
    database.dispose()
