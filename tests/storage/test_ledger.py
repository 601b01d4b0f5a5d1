"""The ledger in the database: a sound chain, and nothing in it can be changed."""

import re

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from app.domain.events import StudyChanged
from app.domain.ledger import first_break
from app.domain.studies import Configuration, Study, StudyState, Theory
from app.storage import ledger, studies
from app.storage.database import Database
from app.storage.tables import events
from tests.conftest import OPERATOR

OFFSETS = (0.1, -0.0, 1e300)

FORBIDDEN = {
    "an update": "UPDATE events SET reason = 'nicer' WHERE seq = 1",
    "a deletion": "DELETE FROM events WHERE seq = 2",
    "the deletion of everything": "DELETE FROM events",
}


@pytest.fixture
def study(database: Database) -> Study:
    with database.write() as connection:
        made = studies.create(connection, "s", Configuration())
        assert made is not None
        for offset in OFFSETS:
            event = StudyChanged(StudyState.ACTIVE, Configuration(theory=Theory(offset=offset)))
            made = ledger.append(connection, made, OPERATOR, event, "why ü")
        return made


@pytest.mark.parametrize("statement", FORBIDDEN.values(), ids=FORBIDDEN.keys())
def test_history_cannot_be_altered(database: Database, study: Study, statement: str) -> None:
    def alter() -> None:
        with database.write() as connection:
            connection.execute(text(statement))

    with pytest.raises(DBAPIError, match="the ledger is append-only"):
        alter()
    with database.read() as connection:
        assert first_break("s", ledger.read(connection, study.id)) is None
        assert len(list(ledger.read(connection, study.id))) == 3


def test_history_cannot_be_truncated(database: Database, study: Study) -> None:
    def truncate() -> None:
        with database.write() as connection:
            connection.execute(text("TRUNCATE events"))

    refused = "the ledger is append-only" if database.writer.dialect.name == "postgresql" else "syntax error"
    with pytest.raises(DBAPIError, match=refused):
        truncate()


def test_what_was_appended_comes_back_as_a_sound_chain(database: Database, study: Study) -> None:
    with database.read() as connection:
        found = list(ledger.read(connection, study.id))
        assert first_break("s", found) is None
        texts = [re.search(r'"offset":([^,}]+)', entry.payload) for entry in found]
        assert [text[1] for text in texts if text] == ["0.1", "-0.0", "1e+300"]
        assert [repr(entry.event()) for entry in found] == [
            repr(StudyChanged(StudyState.ACTIVE, Configuration(theory=Theory(offset=offset)))) for offset in OFFSETS
        ]
        assert (found[-1].seq, found[-1].hash) == (study.seq, study.head)
        assert studies.find(connection, "s") == study


def test_an_edit_that_went_around_the_triggers_is_found(database: Database, study: Study) -> None:
    with database.write() as connection:
        if connection.dialect.name == "sqlite":
            connection.execute(text("DROP TRIGGER events_refuse_update"))
        else:
            connection.execute(text("ALTER TABLE events DISABLE TRIGGER ALL"))
        connection.execute(text("UPDATE events SET payload = '{}' WHERE seq = 1"))
    with database.read() as connection:
        assert first_break("s", list(ledger.read(connection, study.id))) == 1


def test_events_are_read_in_pages(database: Database, study: Study) -> None:
    with database.read() as connection:
        assert [entry.seq for entry in ledger.read(connection, study.id, after=1, limit=1)] == [2]
        assert connection.execute(select(events.c.seq).order_by(events.c.seq)).scalars().all() == [1, 2, 3]
