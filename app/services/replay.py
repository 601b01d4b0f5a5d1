"""Check what is kept: the chain of events, and any batch computed again, bit for bit."""

import json
from dataclasses import dataclass

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.errors import BatchNotFound
from app.domain.ledger import Event, canonical, first_break
from app.domain.studies import Study
from app.services import studies
from app.services.bridge.build import build
from app.services.bridge.drafting import Wanted, draft
from app.services.resources import Resources
from app.services.tally import Tally
from app.services.transactions import Reading
from app.storage import batches as batch_rows
from app.storage import ledger


@dataclass(frozen=True)
class Verified:
    events: int
    broken_at: int | None
    head: str


@dataclass(frozen=True)
class Replayed:
    number: int
    equal: bool
    recorded_build: str
    this_build: str
    differences: tuple[str, ...]


def verify(connection: Connection, actor: Actor, name: str) -> Verified:
    """Walk the whole chain: every hash is computed again."""
    study = studies.find(connection, actor, name)
    broken = first_break(study.name, ledger.read(connection, study))
    last = ledger.last_seq(connection, study)
    if broken is None and last != study.seq:  # some are missing at the end, or there is one too many
        broken = min(last, study.seq) + 1
    if broken is None and ledger.hash_of(connection, study, last) != study.head:
        broken = last
    return Verified(study.seq, broken, study.head)


def replay(resources: Resources, read: Reading, name: str, number: int) -> Replayed:
    """Compute a batch again from the ledger up to its basis, and compare."""
    study, event, basis = read(_issued, resources, name, number)
    issued = json.loads(event.payload)
    wanted = Wanted(number, issued["min_size"], issued["max_size"])
    again = draft(resources.models.at(study, basis), wanted)
    now = {"suggestions": list(again.suggestions), "record": again.record}
    differences = tuple(part for part in ("suggestions", "record") if canonical(now[part]) != canonical(issued[part]))
    return Replayed(number, not differences, issued["record"]["build"], build(), differences)


def _issued(
    connection: Connection, actor: Actor, resources: Resources, name: str, number: int
) -> tuple[Study, Event, Tally]:
    study = studies.find(connection, actor, name)
    batch = batch_rows.find(connection, study, number)
    if batch is None:
        raise BatchNotFound
    [event] = ledger.read(connection, study, batch.seq - 1, until=batch.seq)
    return study, event, resources.models.tally(connection, study, batch.basis_seq)
