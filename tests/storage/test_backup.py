"""A copy made while somebody writes is whole, and goes back only where nothing is."""

import os
import stat
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import command
from app.domain.access import Actor, Role
from app.services.use_cases.access import SERVER, create_key
from app.storage import backup, keys
from app.storage.database import Database, open_database
from app.storage.schema import is_current


@pytest.fixture
def source(tmp_path: Path, migrated_sqlite: Path) -> Path:
    path = tmp_path / "nextbatch.sqlite3"
    path.write_bytes(migrated_sqlite.read_bytes())
    return path


def make_key(database: Database) -> None:
    with database.write() as connection:
        create_key(connection, Actor(SERVER, "test"), "a key", Role.ADMIN)


def test_a_copy_is_whole_while_others_write(source: Path, tmp_path: Path) -> None:
    database, ended = open_database(f"sqlite:///{source}", connections=2), threading.Event()
    make_key(database)

    def write() -> None:
        while not ended.is_set():
            make_key(database)

    writer = threading.Thread(target=write)
    writer.start()
    told: list[tuple[int, int]] = []
    backup.copy(f"sqlite:///{source}", tmp_path / "copy.sqlite3", lambda done, total: told.append((done, total)))
    ended.set()
    writer.join()
    database.dispose()
    backup.restore(tmp_path / "copy.sqlite3", f"sqlite:///{tmp_path / 'restored' / 'nextbatch.sqlite3'}")
    restored = open_database(f"sqlite:///{tmp_path / 'restored' / 'nextbatch.sqlite3'}", connections=2)
    with restored.read() as connection:
        assert keys.exist(connection)
        assert is_current(connection)
    restored.dispose()
    assert told[-1][0] == told[-1][1]
    assert not list(tmp_path.glob(".*part*"))


def test_nothing_is_overwritten(source: Path, tmp_path: Path) -> None:
    backup.copy(f"sqlite:///{source}", tmp_path / "copy.sqlite3")
    with pytest.raises(FileExistsError):
        backup.copy(f"sqlite:///{source}", tmp_path / "copy.sqlite3")
    with pytest.raises(FileExistsError, match="is not overwritten"):
        backup.restore(tmp_path / "copy.sqlite3", f"sqlite:///{source}")


def test_a_damaged_copy_is_refused(source: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.sqlite3"
    damaged.write_bytes(source.read_bytes()[:5000])
    with pytest.raises(RuntimeError, match="not a sound SQLite database"):
        backup.restore(damaged, f"sqlite:///{tmp_path / 'new.sqlite3'}")
    assert not (tmp_path / "new.sqlite3").exists()


def test_a_database_that_is_not_there_and_postgresql_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        backup.copy(f"sqlite:///{tmp_path / 'nowhere.sqlite3'}", tmp_path / "copy")
    with pytest.raises(RuntimeError, match="pg_dump"):
        backup.copy("postgresql://localhost/nextbatch", tmp_path / "copy")


def test_copies_are_made_every_so_often_and_the_oldest_deleted(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEXTBATCH_DATABASE_URL", f"sqlite:///{source}")
    monkeypatch.setenv("NEXTBATCH_DATA", str(tmp_path / "data"))
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.copies.sleep", pause)
    CliRunner().invoke(command, ["backup", str(tmp_path / "copies"), "--every", "5", "--keep", "2"])
    assert len(pauses) == 4
    assert all(290 < seconds <= 300 for seconds in pauses)
    copies = sorted(path.name for path in (tmp_path / "copies").iterdir())
    assert [name.endswith(".heads.json") for name in copies] == [False, True, False, True]
    backup.restore(tmp_path / "copies" / copies[-2], f"sqlite:///{tmp_path / 'restored.sqlite3'}")


def test_only_its_owner_can_read_a_copy(source: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        backup.copy(f"sqlite:///{source}", tmp_path / "copy.sqlite3")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "copy.sqlite3").stat().st_mode) == 0o600


def test_the_command_copies_and_restores(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXTBATCH_DATABASE_URL", f"sqlite:///{source}")
    copied = CliRunner().invoke(command, ["backup", str(tmp_path / "copy.sqlite3")])
    assert copied.exit_code == 0, copied.output
    source.unlink()
    restored = CliRunner().invoke(command, ["restore", str(tmp_path / "copy.sqlite3")])
    assert restored.exit_code == 0, restored.output
    assert source.is_file()
