"""`verify` means verified: the derived tables and the arrays are what the ledger says; and rows can be made anew."""

import shutil
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from typer.testing import CliRunner

from app.cli import command
from app.services.use_cases.verification import rebuild, verify
from app.storage.database import Database, open_database
from app.storage.derived import Recomputed
from app.storage.schema import migrate
from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.api.test_ledger import without_triggers
from tests.conftest import OPERATOR, on_sqlite

EDITS = {
    "a value": (
        'UPDATE observations SET "values" = (SELECT other."values" FROM observations other WHERE other.number = 1 '
        "AND other.version = 2) WHERE number = 3",
        "observations",
    ),
    "which version counts": ("UPDATE observations SET current = (version = 1) WHERE number = 1", "observations"),
    "a note": ("UPDATE observations SET note = 'nicer' WHERE number = 3", "observations"),
    "a result less": ("DELETE FROM observations WHERE number = 3", "observations"),
    "a suggestion's state": ("UPDATE suggestions SET state = 'failed' WHERE rank = 1", "suggestions"),
    "a suggestion's candidate": ("UPDATE suggestions SET candidate = candidate + 1 WHERE rank = 1", "suggestions"),
    "a batch's worker": ("UPDATE batches SET worker = 'somebody'", "batches"),
    "a candidate switched on": ("DELETE FROM unavailable_candidates", "unavailable_candidates"),
    "a candidate switched off": (
        "INSERT INTO unavailable_candidates SELECT id, 5, 'secretly', 1 FROM studies",
        "unavailable_candidates",
    ),
    "the list": ('UPDATE candidate_blocks SET "rows" = "rows" - 1', "candidate_blocks"),
    "the goal": ("UPDATE studies SET configuration = replace(configuration, 'maximize', 'minimize')", "studies"),
    "the state": ("UPDATE studies SET state = 'paused'", "studies"),
    "the version": ("UPDATE studies SET version = version + 1", "studies"),
    "the origin": (r"""UPDATE studies SET imports = '[{"seq"\:3,"server"\:"elsewhere"}]'""", "studies"),
    "the date": ("UPDATE studies SET created_at = '2020-01-01T00:00:00.000000Z'", "studies"),
}


@pytest.fixture
def busy(lab: Lab) -> Lab:
    """A lab with something of everything."""
    lab.begin(direction="maximize").work(1, min_size=3, max_size=3)
    lab.correct(1, 2.0)
    lab.retract(2)
    lab.switch_off("DMF-20")
    lab.client.put("/v1/studies/other", json={})
    return lab


def test_a_study_that_nobody_touched_is_sound(busy: Lab) -> None:
    verified = busy.client.post(f"{busy.path}/verify").json()
    assert (verified["sound"], verified["broken_at"], verified["differences"]) == (True, None, [])


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_table_is_named_and_made_anew(busy: Lab, database: Database, edit: str) -> None:
    statement, table = EDITS[edit]
    before = (busy.get("summary"), busy.observations(versions="all"), busy.get("batches"), busy.get("candidates"))
    with database.write() as connection:
        connection.execute(text(statement))
    verified = busy.client.post(f"{busy.path}/verify").json()
    assert not verified["sound"]
    assert {difference["table"] for difference in verified["differences"]} == {table}
    with database.write() as connection:
        assert rebuild(connection, OPERATOR, "s")
    assert busy.is_sound()
    assert (
        busy.get("summary"),
        busy.observations(versions="all"),
        busy.get("batches"),
        busy.get("candidates"),
    ) == before


def test_a_damaged_array_is_named(busy: Lab, database: Database) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE blob_chunks SET content = substr(content, 1, 8)"))
    verified = busy.client.post(f"{busy.path}/verify").json()
    assert not verified["sound"]
    assert {(found["table"], found["what"]) for found in verified["differences"]} == {("blobs", "damaged")}


def test_grants_survive_a_rebuild(busy: Lab, database: Database, new_key) -> None:
    reader = {"Authorization": f"Bearer {new_key('dashboard', 's')}"}
    with database.write() as connection:
        rebuild(connection, OPERATOR, "s")
    assert busy.client.get(busy.path, headers=reader).status_code == 200


def test_work_goes_on_after_a_rebuild(busy: Lab, database: Database) -> None:
    with database.write() as connection:
        rebuild(connection, OPERATOR, "s")
    busy.work(1, max_size=2)
    assert busy.is_sound()


def test_nothing_is_made_from_a_broken_ledger(busy: Lab, database: Database) -> None:
    last = busy.get("summary")["seq"]
    without_triggers(database, "DELETE FROM events WHERE seq = :seq", last)
    with pytest.raises(RuntimeError, match=f"event {last}"), database.write() as connection:
        rebuild(connection, OPERATOR, "s")


def interrupted(_tables: Recomputed, connection: Connection) -> None:
    connection.execute(text("DELETE FROM observations"))
    raise KeyboardInterrupt


def test_an_interrupted_rebuild_changes_nothing(busy: Lab, database: Database, monkeypatch) -> None:
    with database.write() as connection:
        connection.execute(text(EDITS["a note"][0]))
    monkeypatch.setattr(Recomputed, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), database.write() as connection:
        rebuild(connection, OPERATOR, "s")
    monkeypatch.undo()
    assert not busy.is_sound()
    assert len(busy.observations()) == 3


def test_a_row_that_cannot_be_read_is_told_and_made_anew(busy: Lab, database: Database) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE studies SET configuration = '{' WHERE name = 's'"))
    problem(busy.client.get(busy.path), 409, "damaged-study")
    problem(busy.client.post(f"{busy.path}/verify"), 409, "damaged-study")
    with database.write() as connection:
        assert [found.columns for found in rebuild(connection, OPERATOR, "s")] == [("configuration",)]
    assert busy.is_sound()


def test_the_tables_of_a_kept_database_are_those_of_its_ledger(tmp_path: Path) -> None:
    for kept in sorted((Path(__file__).parents[1] / "storage/kept").glob("*.sqlite3")):
        database = open_database(f"sqlite:///{shutil.copy(kept, tmp_path / kept.name)}")
        migrate(database)
        with database.read() as connection:
            assert verify(connection, OPERATOR, "kept").sound
        database.dispose()


@on_sqlite
def test_a_database_that_cannot_be_read_is_told(busy: Lab, database: Database) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE blob_chunks SET content = CAST(x'ff' AS TEXT)"))
    assert problem(busy.client.post(f"{busy.path}/verify"), 503, "database-damaged")["detail"]


@on_sqlite
def test_the_command_makes_one_study_or_all_anew(busy: Lab, database: Database, address: str, monkeypatch) -> None:
    monkeypatch.setenv("NEXTBATCH_DATABASE_URL", address)
    with database.write() as connection:
        connection.execute(text(EDITS["a note"][0]))
    one = CliRunner().invoke(command, ["rebuild", "other"])
    assert one.output == "other: made anew; 0 rows differed.\n"
    assert not busy.is_sound()
    every = CliRunner().invoke(command, ["rebuild"])
    assert every.output == "s: made anew; 1 row differed.\nother: made anew; 0 rows differed.\n"
    assert busy.is_sound()
    assert CliRunner().invoke(command, ["rebuild", "nowhere"]).exit_code == 1
