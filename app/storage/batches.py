"""Batches and suggestions as rows."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import BindParameter, Connection, Row, bindparam, func, insert, select, update

from app.domain.batches import Batch, BatchState, Suggestion, SuggestionState
from app.domain.ledger import canonical
from app.domain.studies import Study
from app.storage.parameters import in_parts
from app.storage.tables import batches, suggestions

_STUDY: BindParameter[int] = bindparam("study")
_ADD = insert(batches)
_ADD_SUGGESTIONS = insert(suggestions)
_LAST_NUMBER = select(func.max(batches.c.number)).where(batches.c.study_id == _STUDY)
_OF_STUDY = select(batches).where(batches.c.study_id == _STUDY)
_FIND = _OF_STUDY.where(batches.c.number == bindparam("number"))
_OPEN_OF = _OF_STUDY.where(batches.c.worker == bindparam("worker"), batches.c.state == BatchState.OPEN)
_SUGGESTIONS = (
    select(suggestions).where(suggestions.c.study_id == _STUDY).order_by(suggestions.c.batch, suggestions.c.rank)
)
_SUGGESTIONS_OF = _SUGGESTIONS.where(suggestions.c.batch.in_(bindparam("batches", expanding=True)))
_SUGGESTIONS_IN = _SUGGESTIONS.where(suggestions.c.state == bindparam("state"))
_MOVE = update(suggestions).where(
    suggestions.c.study_id == _STUDY,
    suggestions.c.batch == bindparam("in_batch"),
    suggestions.c.rank == bindparam("at"),
)
_WAITING = select(suggestions.c.rank).where(
    suggestions.c.study_id == batches.c.study_id,
    suggestions.c.batch == batches.c.number,
    suggestions.c.state == SuggestionState.PENDING,
)
_CLOSE = (
    update(batches)
    .where(batches.c.study_id == _STUDY, batches.c.number == bindparam("this"), ~_WAITING.exists())
    .values(state=BatchState.CLOSED)
)


def add(connection: Connection, study: Study, batch: Batch, chosen: Sequence[Suggestion]) -> None:
    row = vars(batch) | {"study_id": study.id, "record": canonical(batch.record)}
    connection.execute(_ADD, row)
    connection.execute(
        _ADD_SUGGESTIONS,
        [vars(one) | {"study_id": study.id, "record": canonical(one.record)} for one in chosen],
    )


def last_number(connection: Connection, study: Study) -> int:
    """How many batches there are: they are numbered without gaps."""
    return connection.execute(_LAST_NUMBER, {"study": study.id}).scalar_one() or 0


def find(connection: Connection, study: Study, number: int) -> Batch | None:
    row = connection.execute(_FIND, {"study": study.id, "number": number}).first()
    return _batch(row) if row else None


def open_of(connection: Connection, study: Study, worker: str) -> Batch | None:
    """The worker's open batch; there is one at most."""
    row = connection.execute(_OPEN_OF, {"study": study.id, "worker": worker}).first()
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
    return [
        _suggestion(row)
        for part in in_parts(sorted(set(numbers)))
        for row in connection.execute(_SUGGESTIONS_OF, {"study": study.id, "batches": part})
    ]


def suggestions_in(connection: Connection, study: Study, state: SuggestionState) -> list[Suggestion]:
    rows = connection.execute(_SUGGESTIONS_IN, {"study": study.id, "state": state})
    return [_suggestion(row) for row in rows]


def resolve(connection: Connection, study: Study, places: Sequence[tuple[int, int]], state: SuggestionState) -> None:
    """Move suggestions to a state, and close every batch that waits for nothing any more."""
    if not places:
        return
    moved = [{"study": study.id, "in_batch": batch, "at": rank, "state": state} for batch, rank in places]
    connection.execute(_MOVE, moved)
    numbers = sorted({batch for batch, _ in places})
    connection.execute(_CLOSE, [{"study": study.id, "this": number} for number in numbers])


def _batch(row: Row[Any]) -> Batch:
    fields = dict(row._mapping)  # noqa: SLF001
    del fields["study_id"]
    return Batch(**fields | {"state": BatchState(row.state), "record": json.loads(row.record)})


def _suggestion(row: Row[Any]) -> Suggestion:
    fields = dict(row._mapping)  # noqa: SLF001
    del fields["study_id"]
    return Suggestion(**fields | {"state": SuggestionState(row.state), "record": json.loads(row.record)})
