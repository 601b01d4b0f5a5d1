"""Studies, keys and grants as rows."""

from dataclasses import replace

import pytest

from app.domain.access import Key, Role
from app.domain.candidates import Column
from app.domain.studies import Configuration, Direction, Objective, Study, StudyState
from app.storage import keys, studies
from app.storage.database import Database

CONFIGURATION = Configuration(
    objectives=(Objective("yield", "%", Direction.MINIMIZE),), description="what ü", seed=2**63 - 1
)


@pytest.fixture
def study(database: Database) -> Study:
    with database.write() as connection:
        made = studies.create(connection, "s", CONFIGURATION)
        keys.add(connection, Key("a", "Ada", Role.CLIENT, "2026"), "hash")
    assert made is not None
    return made


def test_a_study_comes_back_as_it_was_saved(database: Database, study: Study) -> None:
    columns = (Column("t", "number", "feature"), Column("s", "text", "feature", ("DMF", "水")))
    changed = replace(study, state=StudyState.PAUSED, columns=columns, candidates=7, version=2)
    with database.write() as connection:
        studies.save(connection, changed)
    with database.read() as connection:
        assert studies.find(connection, "s") == changed
        assert studies.find(connection, "t") is None


def test_a_name_is_given_once(database: Database, study: Study) -> None:
    with database.write() as connection:
        assert studies.create(connection, "s", Configuration()) is None


def test_a_study_remembers_the_request_that_made_it(database: Database, study: Study) -> None:
    with database.write() as connection:
        studies.save(connection, replace(study, configuration=Configuration()))
        assert studies.was_requested_as(connection, study, CONFIGURATION)
        assert not studies.was_requested_as(connection, study, Configuration())


def test_a_grant_is_given_once_and_taken_back(database: Database, study: Study) -> None:
    with database.write() as connection:
        assert not studies.is_granted(connection, "a", study)
        studies.grant(connection, "a", study)
        studies.grant(connection, "a", study)
        assert studies.is_granted(connection, "a", study)
        found = keys.find(connection, "a")
        assert found == (Key("a", "Ada", Role.CLIENT, "2026", studies=("s",)), "hash")
        studies.withdraw(connection, "a", study)
        assert not studies.is_granted(connection, "a", study)


def test_a_page_of_studies_is_filtered_by_grant_and_state_and_never_has_the_deleted(
    database: Database, study: Study
) -> None:
    with database.write() as connection:
        for name, state in (("t", StudyState.PAUSED), ("u", StudyState.DELETED), ("v", StudyState.ACTIVE)):
            made = studies.create(connection, name, Configuration())
            assert made is not None
            studies.save(connection, replace(made, state=state))
            studies.grant(connection, "a", made)

        def names(*arguments: object) -> list[str]:
            return [found.name for found in studies.page(connection, *arguments)]

        assert names(None, None, 0, 10) == ["s", "t", "v"]
        assert names("a", None, 0, 10) == ["t", "v"]
        assert names("a", StudyState.PAUSED, 0, 10) == ["t"]
        assert names(None, None, study.id, 1) == ["t"]


def test_a_revoked_key_stays_revoked_since_the_first_time(database: Database, study: Study) -> None:
    with database.write() as connection:
        assert keys.exist(connection)
        keys.revoke(connection, "a", "2027")
        keys.revoke(connection, "a", "2028")
        found = keys.find(connection, "a")
        assert found is not None
        assert found[0].revoked_at == "2027"
        assert keys.every(connection) == (found[0],)
        assert keys.find(connection, "b") is None


@pytest.mark.usefixtures("study")
def test_a_use_is_noted_for_its_key_alone_and_never_goes_back(database: Database) -> None:
    with database.write() as connection:
        keys.add(connection, Key("b", "Bob", Role.CLIENT, "2026"), "hash")
        keys.note_uses(connection, {"a": "2026-05-04"})
        keys.note_uses(connection, {"a": "2026-05-03"})
        used = [found[0].last_used_at for found in (keys.find(connection, "a"), keys.find(connection, "b")) if found]
    assert used == ["2026-05-04", None]


@pytest.mark.usefixtures("study")
def test_a_ticket_counts_once_for_its_study_and_until_it_expires(database: Database) -> None:
    with database.write() as connection:
        keys.add_ticket(connection, "ticket", "a", "s", "9999")
        assert keys.take_ticket(connection, "ticket", "t") is None
        assert keys.take_ticket(connection, "other", "s") is None
        assert keys.take_ticket(connection, "ticket", "s") == "a"
        assert keys.take_ticket(connection, "ticket", "s") is None
        keys.add_ticket(connection, "late", "a", "s", "2000")
        assert keys.take_ticket(connection, "late", "s") is None
