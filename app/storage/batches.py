"""Batches and suggestions as rows."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import BindParameter, Connection, Row, bindparam, func, insert, select, update

from app.domain.batches import (
    Batch,
    BatchRecord,
    BatchState,
    Computation,
    Explanation,
    Suggestion,
    SuggestionId,
    SuggestionState,
)
from app.domain.codec import canonical, from_plain, read_json, to_plain
from app.domain.studies import Study
from app.storage.dialects import in_parts
from app.storage.prepared import Prepared
from app.storage.tables import batches, suggestions

_STUDY: BindParameter[int] = bindparam("study")
_ADD = insert(batches)
_ADD_SUGGESTIONS = insert(suggestions)
_LAST_NUMBER = select(func.max(batches.c.number)).where(batches.c.study_id == _STUDY)
_OF_STUDY = select(batches).where(batches.c.study_id == _STUDY)
_FIND = _OF_STUDY.where(batches.c.number == bindparam("number"))
_OPEN_OF = _OF_STUDY.where(batches.c.worker == bindparam("worker"), batches.c.state == BatchState.OPEN)
# They are sorted by this program: for the order, SQLite would read every suggestion of the study.
_SUGGESTIONS = select(suggestions).where(suggestions.c.study_id == _STUDY)
_SUGGESTIONS_OF = Prepared(
    _SUGGESTIONS.where(suggestions.c.batch.in_(bindparam("batches", expanding=True))), listed=("batches",)
)
_SUGGESTIONS_WITH = Prepared(
    _SUGGESTIONS.where(
        suggestions.c.batch.in_(bindparam("batches", expanding=True)),
        suggestions.c.rank.in_(bindparam("ranks", expanding=True)),
    ),
    listed=("batches", "ranks"),
)
_SUGGESTIONS_FOR = Prepared(
    _SUGGESTIONS.where(suggestions.c.candidate.in_(bindparam("candidates", expanding=True))), listed=("candidates",)
)
_SUGGESTIONS_IN = Prepared(_SUGGESTIONS.where(suggestions.c.state == bindparam("state")))
_MOVE = Prepared(
    update(suggestions).where(
        suggestions.c.study_id == _STUDY,
        suggestions.c.batch == bindparam("in_batch"),
        suggestions.c.rank == bindparam("at"),
    ),
    columns=("state",),
)
_WAITING = select(suggestions.c.rank).where(
    suggestions.c.study_id == batches.c.study_id,
    suggestions.c.batch == batches.c.number,
    suggestions.c.state == SuggestionState.PENDING,
)
_CLOSE = Prepared(
    update(batches)
    .where(batches.c.study_id == _STUDY, batches.c.number == bindparam("this"), ~_WAITING.exists())
    .values(state=BatchState.CLOSED)
)


def add(connection: Connection, study: Study, batch: Batch, chosen: Sequence[Suggestion]) -> None:
    texts = {"record": canonical(to_plain(batch.record)), "computation": canonical(to_plain(batch.computation))}
    connection.execute(_ADD, vars(batch) | {"study_id": study.id, **texts})
    connection.execute(_ADD_SUGGESTIONS, [_suggestion_row(study, suggestion) for suggestion in chosen])


def add_suggestion(connection: Connection, study: Study, suggestion: Suggestion) -> None:
    """Add a suggestion to a batch that was issued before."""
    connection.execute(_ADD_SUGGESTIONS, [_suggestion_row(study, suggestion)])


def last_number(connection: Connection, study: Study) -> int:
    """The number of the newest batch, 0 if there is none. Batches are numbered without gaps."""
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


def with_numbers(connection: Connection, study: Study, numbers: Iterable[int]) -> list[Batch]:
    query = select(batches).where(batches.c.study_id == study.id).order_by(batches.c.number)
    return [
        _batch(row)
        for part in in_parts(sorted(set(numbers)))
        for row in connection.execute(query.where(batches.c.number.in_(part)))
    ]


def based_on(connection: Connection, study: Study, seq: int) -> tuple[int, ...]:
    """The numbers of the batches whose computation knew the event `seq`."""
    where = (batches.c.study_id == study.id, batches.c.basis_seq >= seq)
    return tuple(connection.execute(select(batches.c.number).where(*where).order_by(batches.c.number)).scalars())


def suggestions_of(connection: Connection, study: Study, numbers: Iterable[int]) -> list[Suggestion]:
    """The suggestions of some batches, by batch and rank."""
    return _in_order(
        row
        for part in in_parts(sorted(set(numbers)))
        for row in _SUGGESTIONS_OF.rows(connection, {"study": study.id, "batches": part})
    )


def suggestions_with(connection: Connection, study: Study, ids: Collection[SuggestionId]) -> list[Suggestion]:
    """The suggestions with some ids, where they exist, by batch and rank."""
    rows = (
        row for search in searches(ids) for row in _SUGGESTIONS_WITH.rows(connection, {"study": study.id, **search})
    )
    return _in_order(row for row in rows if (row["batch"], row["rank"]) in ids)


def searches(ids: Iterable[SuggestionId]) -> Iterator[dict[str, list[int]]]:
    """Lists of batches and ranks in which all these suggestions are found, and perhaps some others."""
    for part in in_parts(sorted(set(ids))):
        yield {"batches": sorted({batch for batch, _ in part}), "ranks": sorted({rank for _, rank in part})}


def suggestions_for(connection: Connection, study: Study, candidates: Iterable[int]) -> list[Suggestion]:
    """The suggestions of some candidates in any state, oldest first."""
    return _in_order(
        row
        for part in in_parts(sorted(set(candidates)))
        for row in _SUGGESTIONS_FOR.rows(connection, {"study": study.id, "candidates": part})
    )


def suggestions_in(connection: Connection, study: Study, state: SuggestionState) -> list[Suggestion]:
    return _in_order(_SUGGESTIONS_IN.rows(connection, {"study": study.id, "state": state}))


def count_in(connection: Connection, study: Study, state: SuggestionState) -> int:
    """How many suggestions are in a state."""
    chosen = (suggestions.c.study_id == study.id) & (suggestions.c.state == state)
    return connection.execute(select(func.count()).select_from(suggestions).where(chosen)).scalar_one()


def resolve(connection: Connection, study: Study, ids: Sequence[SuggestionId], state: SuggestionState) -> None:
    """Move suggestions to a state, and close every batch that has none pending any more."""
    if not ids:
        return
    moved = [{"study": study.id, "in_batch": batch, "at": rank, "state": state} for batch, rank in ids]
    _MOVE.run_many(connection, moved)
    numbers = sorted({batch for batch, _ in ids})
    _CLOSE.run_many(connection, [{"study": study.id, "this": number} for number in numbers])


def _suggestion_row(study: Study, suggestion: Suggestion) -> dict[str, Any]:
    return {
        "study_id": study.id,
        "batch": suggestion.id.batch,
        "rank": suggestion.id.rank,
        "candidate": suggestion.candidate,
        "replicates": suggestion.replicates,
        "state": suggestion.state,
        "why": canonical(to_plain(suggestion.why)),
    }


def _batch(row: Row[Any]) -> Batch:
    return Batch(
        number=row.number,
        worker=row.worker,
        state=BatchState(row.state),
        size=row.size,
        basis_seq=row.basis_seq,
        seq=row.seq,
        record=_record(row.record),
        computation=from_plain(Computation, read_json(row.computation)),
        created_at=row.created_at,
    )


def _in_order(rows: Iterable[Mapping[str, Any]]) -> list[Suggestion]:
    return [_suggestion(row) for row in sorted(rows, key=itemgetter("batch", "rank"))]


def _suggestion(row: Mapping[str, Any]) -> Suggestion:
    return Suggestion(
        id=SuggestionId(row["batch"], row["rank"]),
        candidate=row["candidate"],
        replicates=row["replicates"],
        state=SuggestionState(row["state"]),
        why=_explanation(row["why"]),
    )


@lru_cache(maxsize=256)  # every request of a study reads the same texts
def _record(text: str) -> BatchRecord:
    return from_plain(BatchRecord, read_json(text))


@lru_cache(maxsize=1024)
def _explanation(text: str) -> Explanation:
    return from_plain(Explanation, read_json(text))
