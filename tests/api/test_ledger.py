"""The ledger over HTTP: read by the page, checked, and nothing done to it goes unnoticed."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from app.main import create_app
from app.services.resources import Resources
from app.settings import Settings
from app.storage.database import Database
from tests.api.lab import THEORY, Lab

TAMPERINGS = {
    "payload": "UPDATE events SET payload = '{}' WHERE seq = :seq",
    "actor": "UPDATE events SET actor = 'nobody' WHERE seq = :seq",
    "reason": "UPDATE events SET reason = 'nicer' WHERE seq = :seq",
    "recorded_at": "UPDATE events SET recorded_at = '2020' WHERE seq = :seq",
    "hash": "UPDATE events SET hash = previous WHERE seq = :seq",
    "deletion": "DELETE FROM events WHERE seq = :seq",
}
FORGERY = (
    "INSERT INTO events (study_id, seq, type, format, payload, actor, recorded_at, request_id, previous, hash) "
    "SELECT study_id, seq + 1, type, format, payload, actor, recorded_at, request_id, hash, hash FROM events "
    "WHERE seq = :seq"
)


@pytest.fixture
def busy(lab: Lab) -> Lab:
    """A lab whose ledger has something of everything."""
    lab.begin().work(1, max_size=3)
    lab.correct(1, 2.0)
    lab.retract(2)
    lab.switch_off("DMF-20")
    return lab


@pytest.fixture
def elsewhere(admin: TestClient, settings: Settings) -> Iterator[Lab]:
    """The same study, seen through another process."""
    with TestClient(create_app(settings), headers=admin.headers) as client:
        yield Lab(client)


def without_triggers(database: Database, statement: str, seq: int, **values: object) -> None:
    with database.write() as connection:
        if connection.dialect.name == "sqlite":
            for name in ("update", "delete"):
                connection.execute(text(f"DROP TRIGGER IF EXISTS events_refuse_{name}"))
        else:
            connection.execute(text("ALTER TABLE events DISABLE TRIGGER ALL"))
        connection.execute(text(statement), {"seq": seq, **values})


def test_events_are_read_by_the_page(busy: Lab) -> None:
    seqs, after = [], 0
    while True:
        page = busy.get("events", after=after, limit=3)
        seqs += [event["seq"] for event in page["events"]]
        if page["next"] is None:
            break
        after = page["next"]
    assert seqs == list(range(1, busy.get("summary")["seq"] + 1))


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_any_tampering_with_any_event_is_found(busy: Lab, database: Database, tampering: str) -> None:
    assert busy.is_sound()
    last = busy.get("summary")["seq"]
    for seq in range(last, 0, -1):
        without_triggers(database, TAMPERINGS[tampering], seq)
        found = busy.client.post(f"{busy.path}/verify").json()
        assert (found["sound"], found["broken_at"]) == (False, seq)


def test_an_event_forged_after_the_last_is_found(busy: Lab, database: Database) -> None:
    last = busy.get("summary")["seq"]
    without_triggers(database, FORGERY, last)
    assert busy.client.post(f"{busy.path}/verify").json()["broken_at"] == last + 1


@pytest.mark.parametrize("mode", ["auto", "theory"])
def test_every_batch_is_replayed_bit_for_bit_from_nothing_and_elsewhere(
    lab: Lab, elsewhere: Lab, resources: Resources, mode: str
) -> None:
    lab.begin(theory=THEORY if mode == "theory" else None, repeats=2).work(3, max_size=4)
    lab.correct(2, 0.9)
    lab.batch("a", max_size=3)
    lab.retract(3)
    lab.change(max_batch=5)
    lab.switch_off("THF-20")
    lab.batch("b", max_size=3)
    numbers = range(1, 6)
    assert all(lab.replays(number) for number in numbers)
    assert all(elsewhere.replays(number) for number in reversed(numbers))
    resources.models.clear()
    resources.ledger_states.clear()
    assert all(lab.replays(number) for number in numbers)
