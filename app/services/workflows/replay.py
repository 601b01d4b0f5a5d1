"""Compute an issued batch again from the ledger, and compare it bit for bit."""

from dataclasses import dataclass

from sqlalchemy import Connection

from app.compute.ledger_states import LedgerPrefix
from app.domain.access import Actor
from app.domain.codec import canonical, to_plain
from app.domain.errors import BatchNotFound, UnreadableEvent
from app.domain.events import BatchIssued
from app.modelling.composing import Terms
from app.modelling.drafting import build
from app.services.resources import Resources
from app.services.transactions import ReadTransactions
from app.services.use_cases import studies
from app.services.use_cases.ask_terms import terms_of
from app.storage import batches, ledger


@dataclass(frozen=True)
class Replay:
    number: int
    equal: bool
    recorded_build: str
    this_build: str
    differences: tuple[str, ...]


def replay(resources: Resources, tx: ReadTransactions, name: str, number: int) -> Replay:
    """Compute a batch again from the prefix of the ledger that it names."""
    prefix, issued, terms = tx.read(_read_issued, resources, name, number)
    again = resources.compute.compute_batch(prefix, issued.size, terms)
    compared = {
        "suggestions": (issued.suggestions, again.suggestions),
        "record": (issued.record, again.record),
        "shards": (issued.computation.shards, again.computation.shards),
    }
    differences = tuple(
        part for part, (then, now) in compared.items() if canonical(to_plain(then)) != canonical(to_plain(now))
    )
    return Replay(number, not differences, issued.computation.build, build(), differences)


def _read_issued(
    connection: Connection, actor: Actor, resources: Resources, name: str, number: int
) -> tuple[LedgerPrefix, BatchIssued, Terms]:
    study = studies.find(connection, actor, name)
    batch = batches.find(connection, study, number)
    if batch is None:
        raise BatchNotFound
    [entry] = ledger.read(connection, study.id, batch.seq - 1, until=batch.seq)
    event = entry.event()
    if not isinstance(event, BatchIssued):
        raise UnreadableEvent(f"Event {batch.seq} should be that of batch {number}, and is not.")
    ledger_then = resources.ledger_states.read(connection, study.id, event.basis.seq)
    terms = terms_of(connection, resources, study, ledger_then, event.request)
    return LedgerPrefix(study.id, event.basis.seq, event.basis.hash), event, terms
