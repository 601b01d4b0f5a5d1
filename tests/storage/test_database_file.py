"""A database file that is moved, deleted or replaced under a running server: nothing is acknowledged into the void."""

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text
from typer.testing import CliRunner

from app.cli import command
from app.cli.serving import prepare
from app.domain.clock import now
from app.domain.errors import DatabaseReplaced
from app.domain.events import StudyCreated
from app.domain.heads import Head
from app.domain.studies import Configuration
from app.main import create_app
from app.settings import Settings
from app.storage import backup, ledger, studies
from app.storage.database import Database, open_database
from app.storage.dialects import sqlite_driver
from app.storage.schema import migrate
from tests.api.conftest import problem
from tests.conftest import OPERATOR, on_sqlite

pytestmark = on_sqlite


@pytest.fixture
def file(address: str) -> Path:
    return Path(address.removeprefix("sqlite:///"))


@pytest.fixture
def written(admin: TestClient) -> TestClient:
    """A server that has read and written."""
    assert admin.put("/v1/studies/s", json={}).status_code == 201
    assert admin.get("/v1/studies/s").status_code == 200
    return admin


def moved(file: Path) -> None:
    file.rename(f"{file}.moved")


def replaced(file: Path) -> None:
    shutil.copy(file, f"{file}.copy")
    Path(f"{file}.copy").replace(file)


def log_deleted(file: Path) -> None:
    Path(f"{file}-wal").unlink()


CHANGES: dict[str, Callable[[Path], None]] = {
    "moved": moved,
    "deleted": lambda file: file.unlink(),
    "replaced": replaced,
    "its log deleted": log_deleted,
}


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_acknowledged_into_the_void(written: TestClient, file: Path, change: str) -> None:
    CHANGES[change](file)
    for number in range(3):
        problem(written.put(f"/v1/studies/t{number}", json={}), 503, "database-replaced")
    if change != "its log deleted":
        problem(written.get("/readyz"), 503, "database-replaced")
    assert change == "replaced" or not file.exists() or change == "its log deleted"


def overwritten(file: Path, *, keep_time: bool = False, empty_log: bool = True) -> None:
    """Restore a copy that lacks the last write into the very same file, as `cp` does."""
    with closing(sqlite_driver().connect(file)) as connection:
        if empty_log:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (shutil.copy2 if keep_time else shutil.copyfile)(f"{file}.backup", file)


@pytest.mark.parametrize("how", [{}, {"keep_time": True}, {"empty_log": False}], ids=str)
@pytest.mark.parametrize("write", ["a study", "a key"])
def test_a_copy_that_is_written_over_the_file_is_noticed(
    written: TestClient, file: Path, how: dict[str, bool], write: str
) -> None:
    backup.copy(f"sqlite:///{file}", Path(f"{file}.backup"))
    body = {"name": "k", "role": "client"}
    last = written.put("/v1/studies/last", json={}) if write == "a study" else written.post("/v1/keys", json=body)
    assert last.status_code == 201
    if "empty_log" in how:
        with closing(sqlite_driver().connect(file)) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    overwritten(file, **how)
    for number in range(3):
        refused = problem(written.put(f"/v1/studies/t{number}", json={}), 503, "database-replaced")
        assert "Restart" in refused["detail"]
    problem(written.get("/readyz"), 503, "database-replaced")
    assert written.get("/healthz").status_code == 200


def test_readiness_alone_notices_a_copy_written_over_the_file(written: TestClient, file: Path) -> None:
    backup.copy(f"sqlite:///{file}", Path(f"{file}.backup"))
    assert written.put("/v1/studies/last", json={}).status_code == 201
    overwritten(file)
    problem(written.get("/readyz"), 503, "database-replaced")


def test_a_copy_is_noticed_by_a_server_that_has_written_nothing_itself(
    address: str, written: TestClient, file: Path
) -> None:
    heads = Path(f"{file}-heads-of-the-server")
    remembering = open_database(address, heads_file=heads)
    backup.copy(address, Path(f"{file}.backup"))
    with remembering.write() as connection:
        made = studies.create(connection, "n", Configuration(), now())
        assert made is not None
        ledger.append(connection, made, OPERATOR, StudyCreated(Configuration()))
    remembering.dispose()
    other = open_database(address, heads_file=heads)
    other.must_be_in_place()
    overwritten(file)
    with pytest.raises(DatabaseReplaced):
        other.must_be_in_place()
    other.dispose()


def test_a_commit_while_the_file_is_looked_at_is_no_harm(
    written: TestClient, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = written.app.state.resources.database.file  # type: ignore[attr-defined]
    driver, connect = sqlite_driver(), sqlite_driver().connect

    def commit_and_connect(*place: str, **options: bool) -> object:
        looked_at.note_heads({99: Head("another", 1, "0" * 64)})
        return connect(*place, **options)

    looked_at.must_be_in_place()
    os.utime(file, (0, 0))
    with monkeypatch.context() as patched:
        patched.setattr(driver, "connect", commit_and_connect)
        looked_at.must_be_in_place()
    assert 99 in looked_at._heads


def test_checkpoints_of_other_programs_are_no_harm(written: TestClient, file: Path) -> None:
    for number in range(3):
        assert written.put(f"/v1/studies/t{number}", json={}).status_code == 201
        with closing(sqlite_driver().connect(file)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    os.utime(file)
    assert written.put("/v1/studies/t", json={}).status_code == 201
    assert written.get("/readyz").status_code == 200


def test_a_database_that_cannot_be_written_to_refuses_and_goes_on_when_it_can(
    written: TestClient, database: Database
) -> None:
    server: Database = written.app.state.resources.database  # type: ignore[attr-defined]
    with closing(server.writer.raw_connection()) as connection:
        connection.cursor().execute("PRAGMA query_only = ON")
    problem(written.put("/v1/studies/t", json={}), 503, "database-unavailable")
    with closing(server.writer.raw_connection()) as connection:
        connection.cursor().execute("PRAGMA query_only = OFF")
    assert written.put("/v1/studies/t", json={}).status_code == 201


def test_a_file_that_is_put_back_is_used_again(written: TestClient, file: Path) -> None:
    moved(file)
    problem(written.put("/v1/studies/t", json={}), 503, "database-replaced")
    Path(f"{file}.moved").rename(file)
    assert written.put("/v1/studies/t", json={}).status_code == 201
    assert written.get("/readyz").status_code == 200


def test_a_file_that_vanishes_during_a_write_is_noticed_before_the_answer(
    written: TestClient, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.storage.database.reach", lambda point: point == "before-commit" and moved(file))
    problem(written.put("/v1/studies/t", json={}), 503, "database-replaced")


def test_nothing_is_written_to_a_newer_schema(written: TestClient, database: Database) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    problem(written.put("/v1/studies/t", json={}), 503, "schema-changed")
    assert written.get("/v1/studies/s").status_code == 200
    problem(written.get("/readyz"), 503, "database-unavailable")
    with pytest.raises(RuntimeError, match="schema 9999, which this version of the server does not know"):
        migrate(database)


def test_no_copy_is_restored_under_a_running_server(written: TestClient, file: Path, tmp_path: Path) -> None:
    backup.copy(f"sqlite:///{file}", tmp_path / "copy.sqlite3")
    moved(file)
    log_deleted(file)
    with pytest.raises(RuntimeError, match="Stop it first"):
        backup.restore(tmp_path / "copy.sqlite3", f"sqlite:///{file}")
    assert not file.exists()


@pytest.fixture
def open_mask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_only_the_owner_reads_the_database_in_any_folder(address: str, tmp_path: Path, open_mask: None) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o777)
    file = shared / "lab.sqlite3"
    settings = Settings(data=tmp_path / "data", database_url=f"sqlite:///{file}", allowed_hosts=("testserver",))
    prepare(settings).dispose()
    with TestClient(create_app(settings)):
        database = open_database(settings.database_address)
        with database.write() as connection:
            connection.execute(text("DELETE FROM api_keys"))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in shared.iterdir()}
        database.dispose()
    assert set(modes) >= {"lab.sqlite3", "lab.sqlite3-wal", "lab.sqlite3-shm", "lab.sqlite3-heads"}
    assert set(modes.values()) == {0o600}
    file.chmod(0o644)
    prepare(settings).dispose()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_server_on_a_newer_schema_says_so_in_one_line(
    address: str, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    monkeypatch.setenv("NEXTBATCH_DATABASE_URL", address)
    monkeypatch.setenv("NEXTBATCH_DATA", str(tmp_path / "data"))
    ended = CliRunner().invoke(command, ["migrate"])
    assert isinstance(ended.exception, RuntimeError)
    assert "Start the version that made it" in str(ended.exception)
