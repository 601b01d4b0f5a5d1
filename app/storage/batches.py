"""Batches and suggestions as rows."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from app.domain.batches import Batch, BatchState, Suggestion, SuggestionState
from app.domain.ledger import canonical
from app.domain.studies import Study
from app.storage.parameters import in_parts
from app.storage.tables import batches, suggestions


def add(connection: Connection, study: Study, batch: Batch, chosen: Sequence[Suggestion]) -> None:
    row = vars(batch) | {"study_id": study.id, "record": canonical(batch.record)}
    connection.execute(insert(batches).values(**row))
    connection.execute(
        insert(suggestions),
        [vars(one) | {"study_id": study.id, "record": canonical(one.record)} for one in chosen],
    )


def last_number(connection: Connection, study: Study) -> int:
    """How many batches there are: they are numbered without gaps."""
    query = select(func.max(batches.c.number)).where(batches.c.study_id == study.id)
    return connection.execute(query).scalar_one() or 0


def find(connection: Connection, study: Study, number: int) -> Batch | None:
    query = select(batches).where(batches.c.study_id == study.id, batches.c.number == number)
    row = connection.execute(query).first()
    return _batch(row) if row else None


def open_of(connection: Connection, study: Study, worker: str) -> Batch | None:
    """The worker's open batch; there is one at most."""
    where = (batches.c.study_id == study.id, batches.c.worker == worker, batches.c.state == BatchState.OPEN)
    row = connection.execute(select(batches).where(*where)).first()
    return _batch(row) if row else None


def page(
    connection: Connection,
    study: Study,
    after: int = 0,
    limit: int | None = None,
    state: BatchState | None = None,
    worker: str | None = None,
) -> list[Batch]:
    query = select(batches).where(batches.c.study_id == study.id, batches.c.number > after)
    if state is not None:
        query = query.where(batches.c.state == state)
    if worker is not None:
        query = query.where(batches.c.worker == worker)
    return [_batch(row) for row in connection.execute(query.order_by(batches.c.number).limit(limit))]


def those(connection: Connection, study: Study, numbers: Iterable[int]) -> list[Batch]:
    """The batches of some numbers."""
    query = select(batches).where(batches.c.study_id == study.id).order_by(batches.c.number)
    return [
        _batch(row)
        for part in in_parts(sorted(set(numbers)))
        for row in connection.execute(query.where(batches.c.number.in_(part)))
    ]


def based_on(connection: Connection, study: Study, seq: int) -> tuple[int, ...]:
    """The batches whose computation knew the event `seq`."""
    where = (batches.c.study_id == study.id, batches.c.basis_seq >= seq)
    return tuple(connection.execute(select(batches.c.number).where(*where).order_by(batches.c.number)).scalars())


def suggestions_of(connection: Connection, study: Study, numbers: Iterable[int]) -> list[Suggestion]:
    """The suggestions of some batches, by batch and rank."""
    query = select(suggestions).where(suggestions.c.study_id == study.id)
    ordered = query.order_by(suggestions.c.batch, suggestions.c.rank)
    return [
        _suggestion(row)
        for part in in_parts(sorted(set(numbers)))
        for row in connection.execute(ordered.where(suggestions.c.batch.in_(part)))
    ]


def suggestions_in(connection: Connection, study: Study, state: SuggestionState) -> list[Suggestion]:
    query = select(suggestions).where(suggestions.c.study_id == study.id, suggestions.c.state == state)
    return [_suggestion(row) for row in connection.execute(query.order_by(suggestions.c.batch, suggestions.c.rank))]


def resolve(connection: Connection, study: Study, places: Sequence[tuple[int, int]], state: SuggestionState) -> None:
    """Move suggestions to a state, and close every batch that waits for nothing any more."""
    for batch, rank in places:
        where = (suggestions.c.study_id == study.id, suggestions.c.batch == batch, suggestions.c.rank == rank)
        connection.execute(update(suggestions).where(*where).values(state=state))
    for number in sorted({batch for batch, _ in places}):
        waiting = (
            select(suggestions.c.rank)
            .where(suggestions.c.study_id == study.id, suggestions.c.batch == number)
            .where(suggestions.c.state == SuggestionState.PENDING)
        )
        this = (batches.c.study_id == study.id, batches.c.number == number)
        connection.execute(update(batches).where(*this, ~waiting.exists()).values(state=BatchState.CLOSED))


def _batch(row: Row[Any]) -> Batch:
    fields = dict(row._mapping)  # noqa: SLF001
    del fields["study_id"]
    return Batch(**fields | {"state": BatchState(row.state), "record": json.loads(row.record)})


def _suggestion(row: Row[Any]) -> Suggestion:
    fields = dict(row._mapping)  # noqa: SLF001
    del fields["study_id"]
    return Suggestion(**fields | {"state": SuggestionState(row.state), "record": json.loads(row.record)})
