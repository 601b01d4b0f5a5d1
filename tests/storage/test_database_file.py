"""A database file that is moved, deleted or replaced under a running server: nothing is acknowledged into the void."""

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text
from typer.testing import CliRunner

from app.cli import command
from app.cli.serving import prepare
from app.main import create_app
from app.settings import Settings
from app.storage import backup
from app.storage.database import Database, open_database
from app.storage.schema import migrate
from tests.api.conftest import problem
from tests.conftest import on_sqlite

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
