"""Promise 10: whatever is done to the ledger behind the server's back, `verify` names the event."""

from contextlib import AbstractContextManager
from random import Random
from unittest.mock import patch

from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import DBAPIError

from app.domain import ledger
from app.services.use_cases.verification import verify
from app.storage.database import Database, open_database
from app.storage.tables import events
from tests.api.lab import Lab
from tests.conftest import OPERATOR
from tests.reliability import lab
from tests.reliability.promise import Budget, Count, Promise, on_each_database

TEXTS = ("type", "payload", "actor", "reason", "recorded_at", "request_id", "previous", "hash")
FORGED = (
    "INSERT INTO events SELECT study_id, seq + 1, type, format, payload, actor, reason, recorded_at, request_id, "
    "hash, hash FROM events WHERE seq = :seq"
)


def _prove(budget: Budget, seed: int, address: str) -> Count:
    random, violations, cases = Random(seed), [], 0
    with lab.opened(address) as busy:
        _fill(busy)
    database = open_database(address, connections=2)
    for case in budget:
        cases = case + 1
        violations += _edits_that_pass(database, random)
        violations += _unnoticed(database, random)
    database.dispose()
    return Count(cases, tuple(violations))


def _fill(busy: Lab) -> None:
    """Something of everything."""
    busy.begin().work(4, max_size=3)
    for number in range(1, 6):
        busy.correct(number, number / 7)
    busy.retract(2)
    busy.switch_off("DMF-20")
    busy.change(max_batch=5)


def _edits_that_pass(database: Database, random: Random) -> list[str]:
    """The triggers must refuse any UPDATE and any DELETE."""
    edit = random.choice(("UPDATE events SET reason = 'nicer' WHERE seq = :seq", "DELETE FROM events WHERE seq = :seq"))
    with database.writer.connect() as connection:
        try:
            connection.execute(text(edit), {"seq": random.randint(1, _length(connection))})
        except DBAPIError:
            return []
        finally:
            connection.rollback()
    return [f"the triggers let pass: {edit}"]


def _unnoticed(database: Database, random: Random) -> list[str]:
    """Tamper without the triggers, verify, take it back."""
    with database.writer.connect() as connection:
        length = _length(connection)
        _without_triggers(connection)
        seq = random.randint(1, length)
        done, broken_at = _tamper(connection, random, seq, length)
        found = verify(connection, OPERATOR, "s").broken_at
        connection.rollback()
    return [] if found == broken_at else [f"{done} of event {seq}: verify says {found}, not {broken_at}"]


def _tamper(connection: Connection, random: Random, seq: int, length: int) -> tuple[str, int]:
    """One dishonest change; what was done and where the chain breaks."""
    how = random.choice((*TEXTS, *TEXTS, "deletion", "forgery", "exchange"))
    if how == "deletion":
        connection.execute(text("DELETE FROM events WHERE seq = :seq"), {"seq": seq})
    elif how == "forgery":
        connection.execute(text(FORGED), {"seq": length})
        return how, length + 1
    elif how == "exchange" and seq < length:
        for before, after in ((seq, -1), (seq + 1, seq), (-1, seq + 1)):
            connection.execute(events.update().where(events.c.seq == before).values(seq=after))
    else:
        column = events.c[how if how in TEXTS else "payload"]
        old = connection.execute(select(column).where(events.c.seq == seq)).scalar_one()
        connection.execute(events.update().where(events.c.seq == seq).values({column: _altered(old, random)}))
    return how, seq


def _altered(old: str | None, random: Random) -> str:
    """One character of it is another, or the last is gone, or it is there at all."""
    if not old:
        return "nicer"
    place = random.randrange(len(old))
    if random.random() < 0.3:
        return old[:-1]
    other = random.choice([letter for letter in "0123456789abcdef-" if letter != old[place]])
    return old[:place] + other + old[place + 1 :]


def _length(connection: Connection) -> int:
    return int(connection.execute(select(func.max(events.c.seq))).scalar_one())


def _without_triggers(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        for name in ("update", "delete"):
            connection.execute(text(f"DROP TRIGGER events_refuse_{name}"))
    else:
        connection.execute(text("ALTER TABLE events DISABLE TRIGGER ALL"))


def _reason_unsealed() -> AbstractContextManager[object]:
    """A chain that does not cover the reasons people gave."""
    seal = ledger.seal
    return patch.object(ledger, "seal", lambda study, fields: seal(study, {**fields, "reason": None}))


PROMISE = Promise(
    number=10,
    words="History is never altered unnoticed",
    tested="Triggers refuse edits; with the triggers gone, any edit, deletion, exchange or forgery is named by verify.",
    unit="tamperings",
    full=10_000,
    prove=on_each_database(_prove),
    teeth={"a seal that leaves out the reasons": _reason_unsealed},
    short=60,
    parallel=True,
    share=0.2,
)
