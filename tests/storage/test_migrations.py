"""One chain of migrations for both databases: up, down, up again, and exactly the tables the code knows."""

import shutil
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text
from typer.testing import CliRunner

from app.cli import command as cli
from app.domain.clock import now
from app.domain.events import StudyCreated
from app.domain.studies import Configuration
from app.storage import ledger, schema, studies
from app.storage.database import Database, open_database
from app.storage.schema import alembic_config, is_current, migrate
from app.storage.tables import metadata
from tests.conftest import OPERATOR, on_sqlite

KEPT = Path(__file__).parent / "kept"


def differences(database: Database) -> list[object]:
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return compare_metadata(context, metadata)


def test_the_migrated_schema_is_the_one_the_code_knows(database: Database) -> None:
    assert differences(database) == []


def test_down_to_nothing_and_up_again(database: Database) -> None:
    with database.write() as connection:
        command.downgrade(alembic_config(connection), "base")
    with database.read() as connection:
        assert inspect(connection).get_table_names() == ["alembic_version"]
        assert not is_current(connection)
    migrate(database)
    assert differences(database) == []
    with database.read() as connection:
        assert is_current(connection)


def test_the_command_goes_back_to_an_older_schema_and_keeps_the_ledger(
    database: Database, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEXTBATCH_DATABASE_URL", address)
    monkeypatch.setenv("NEXTBATCH_DATA", str(tmp_path / "data"))
    with database.write() as connection:
        made = studies.create(connection, "s", Configuration(), now())
        assert made is not None
        ledger.append(connection, made, OPERATOR, StudyCreated(Configuration()))
    for refused in ("9999", "head", "0000"):
        ended = CliRunner().invoke(cli, ["migrate", "--to", refused])
        assert "It can go back to one of: 0001" in str(ended.exception)
    assert CliRunner().invoke(cli, ["migrate", "--to", "0005"]).exit_code == 0
    with database.read() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "0005"
        assert not inspect(connection).has_table("webhooks")
    assert CliRunner().invoke(cli, ["migrate"]).exit_code == 0
    assert differences(database) == []
    with database.read() as connection:
        assert [entry.type for entry in ledger.read(connection, 1)] == ["study-created"]


@on_sqlite
def test_no_schema_changes_under_a_running_server(database: Database) -> None:
    assert database.file is not None
    database.file.share()
    with pytest.raises(RuntimeError, match="Stop it first"):
        schema.downgrade(database, "0005")
    with database.read() as connection:
        assert is_current(connection)


def test_migrating_again_changes_nothing(database: Database) -> None:
    migrate(database)
    assert differences(database) == []


def test_there_is_one_chain() -> None:
    assert len(ScriptDirectory.from_config(alembic_config()).get_heads()) == 1


def test_every_constraint_has_a_name() -> None:
    assert [c for table in metadata.tables.values() for c in table.constraints if c.name is None] == []


@pytest.mark.parametrize("kept", sorted(KEPT.glob("*.sqlite3")), ids=lambda path: path.stem)
def test_a_kept_database_file_upgrades_with_its_rows(kept: Path, tmp_path: Path) -> None:
    copy = shutil.copy(kept, tmp_path / "copy.sqlite3")
    database = open_database(f"sqlite:///{copy}")
    migrate(database)
    assert differences(database) == []
    with database.read() as connection:
        assert connection.execute(text("SELECT name FROM studies")).scalars().all() == ["kept"]
        assert connection.execute(text("SELECT count(*) FROM events")).scalar_one() >= 1
    database.dispose()


def test_a_database_file_is_kept_for_every_release() -> None:
    assert sorted(KEPT.glob("*.sqlite3")), "make one with `python -m tests.storage.keep`"


def test_the_newest_schema_is_that_of_the_last_migration() -> None:
    """The program itself reads it from the names of the files."""
    scripts = ScriptDirectory.from_config(schema.alembic_config())
    assert schema.newest() == scripts.get_current_head()
    assert schema._known() == {script.revision for script in scripts.walk_revisions()}
