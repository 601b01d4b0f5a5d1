"""Batches as they are read, and given up."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.batches import Batch, BatchState, Suggestion, SuggestionState
from app.domain.errors import BatchNotFound
from app.services import studies
from app.services.ask import Asked, asked
from app.services.candidate_set import Candidate, CandidateSet
from app.services.resources import Resources
from app.storage import batches as rows
from app.storage import ledger


@dataclass(frozen=True)
class Bench:
    """Suggestions and the candidates they speak of."""

    suggestions: tuple[Suggestion, ...]
    candidates: Mapping[int, Candidate]


def list_batches(
    connection: Connection,
    actor: Actor,
    name: str,
    after: int,
    limit: int,
    state: BatchState | None,
    worker: str | None,
) -> list[Batch]:
    return rows.page(connection, studies.find(connection, actor, name), after, limit, state, worker)


def read_batch(connection: Connection, actor: Actor, resources: Resources, name: str, number: int) -> Asked:
    study = studies.find(connection, actor, name)
    batch = rows.find(connection, study, number)
    if batch is None:
        raise BatchNotFound
    return asked(connection, resources, study, batch, rows.suggestions_of(connection, study, [number]))


def close(
    connection: Connection, actor: Actor, resources: Resources, name: str, number: int, reason: str | None
) -> Asked:
    """Give up what is still pending; a result that comes all the same is kept."""
    study = studies.lock(connection, actor, name)
    if rows.find(connection, study, number) is None:
        raise BatchNotFound
    waiting = [one for one in rows.suggestions_of(connection, study, [number]) if one.state is SuggestionState.PENDING]
    if waiting:
        lines = [{"batch": number, "rank": one.rank, "reason": reason} for one in waiting]
        payload = {"state": SuggestionState.ABANDONED, "suggestions": lines}
        ledger.append(connection, study, actor, "suggestions-resolved", payload, reason)
    return read_batch(connection, actor, resources, name, number)


def bench(
    connection: Connection, actor: Actor, resources: Resources, name: str, state: SuggestionState, worker: str | None
) -> Bench:
    """What lies on a worker's bench, or on all of them."""
    study = studies.find(connection, actor, name)
    found = rows.suggestions_in(connection, study, state)
    if worker is not None:
        mine = {batch.number for batch in rows.page(connection, study, worker=worker)}
        found = [one for one in found if one.batch in mine]
    numbers = {one.candidate for one in found} | {n["candidate"] for one in found for n in one.record["nearest"]}
    known = CandidateSet(connection, resources.arrays, study).read(sorted(numbers))
    return Bench(tuple(found), {one.number: one for one in known})
