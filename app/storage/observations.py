"""Observations as rows: one per version; the newest version of each number is `current`."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from operator import itemgetter
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, bindparam, func, literal_column, or_, select, update

from app.domain.batches import SuggestionId
from app.domain.codec import from_plain, read_json
from app.domain.ledger import LedgerEntry
from app.domain.observations import (
    Measured,
    Observation,
    ObservationKind,
    Outcome,
    PlainObservations,
    ReportedObservation,
)
from app.domain.report_text import outcome_text, outcome_texts, plain_beginning
from app.domain.studies import Study
from app.storage.batches import searches
from app.storage.dialects import IN_LIMIT, in_parts
from app.storage.prepared import Prepared, Row, RowInsert
from app.storage.tables import observations, suggestions
from app.storage.waiting_rows import insert_rows

_ADD = RowInsert(observations)
_OF_STUDY = observations.c.study_id == bindparam("study")
_LAST_NUMBER = select(func.max(observations.c.number)).where(_OF_STUDY)
_CURRENT = select(observations).where(_OF_STUDY, observations.c.current)
# Without statistics both databases take every index that begins with the study for equally good, and may read all
# results of a study for each report. So these ask by the columns of an index, and are sorted afterwards. Partial
# indexes hold the first versions, and the current ones are read by number in a second statement: in one, PostgreSQL
# read all results for each of all results. A plan for any parameters uses a partial index only if its condition is
# written out.
_FIRST = select(observations.c.number).where(_OF_STUDY, observations.c.version == literal_column("1"))
_OF_BATCHES = Prepared(
    _FIRST.where(observations.c.replicate.is_not(None), observations.c.batch.in_(bindparam("batches", expanding=True))),
    listed=("batches",),
)
_ANSWERING = Prepared(
    _FIRST.where(
        observations.c.replicate.is_not(None),
        observations.c.batch.in_(bindparam("batches", expanding=True)),
        observations.c.rank.in_(bindparam("ranks", expanding=True)),
    ),
    listed=("batches", "ranks"),
)
_WITH_REFS = Prepared(
    _FIRST.where(observations.c.ref.is_not(None), observations.c.ref.in_(bindparam("refs", expanding=True))),
    listed=("refs",),
)
_NUMBERED = Prepared(
    _CURRENT.where(observations.c.number.in_(bindparam("numbers", expanding=True))), listed=("numbers",)
)
_MEASURED = (
    select(func.count())
    .select_from(observations)
    .where(
        observations.c.study_id == suggestions.c.study_id,
        observations.c.candidate == suggestions.c.candidate,
        observations.c.batch == suggestions.c.batch,
        observations.c.rank == suggestions.c.rank,
        observations.c.current,
    )
    .correlate(suggestions)
    .scalar_subquery()
)
_COMPLETED = Prepared(
    select(suggestions.c.batch, suggestions.c.rank)
    .where(suggestions.c.study_id == bindparam("study"), suggestions.c.batch.in_(bindparam("batches", expanding=True)))
    .where(suggestions.c.rank.in_(bindparam("ranks", expanding=True)), suggestions.c.replicates <= _MEASURED)
    .order_by(suggestions.c.batch, suggestions.c.rank),
    listed=("batches", "ranks"),
)
_RECORDED_OF = Prepared(
    _CURRENT.where(
        observations.c.kind == ObservationKind.RECORDED,
        observations.c.candidate.in_(bindparam("candidates", expanding=True)),
    ),
    listed=("candidates",),
)
_VALUES = select(observations.c.candidate, observations.c["values"]).where(
    _OF_STUDY,
    observations.c.current,
    observations.c.kind == ObservationKind.RECORDED,
    observations.c.candidate.in_(bindparam("candidates", expanding=True)),
)
_VALUES_OF = Prepared(_VALUES, listed=("candidates",))
_EQUAL_VALUES = Prepared(  # and whatever is no single value, which the database cannot compare
    _VALUES.where(
        or_(
            observations.c["values"].in_(bindparam("texts", expanding=True)),
            func.substr(observations.c["values"], 1, bindparam("length")) != bindparam("beginning"),
        )
    ),
    listed=("candidates", "texts"),
)
_LATEST = Prepared(
    select(observations.c.number, observations.c["values"])
    .where(_OF_STUDY, observations.c.current)
    .order_by(observations.c.number.desc())
    .limit(bindparam("limit"))
)

_NO_SUGGESTION = (None, None)


def add(connection: Connection, study: Study, new: Sequence[Observation]) -> None:
    insert_rows(connection, _ADD, [_row(study, observation) for observation in new])


def add_reported(
    connection: Connection, study: Study, entry: LedgerEntry, reported: Sequence[ReportedObservation]
) -> None:
    """The first version of each; straight into rows, because a call may report a hundred thousand."""
    before, after = (1, True, ObservationKind.RECORDED.value), (entry.actor, None, entry.recorded_at, entry.seq)
    if isinstance(reported, PlainObservations):
        insert_rows(connection, _ADD, _plain_rows(study, reported, before, after))
        return
    rows = [
        (
            study.id,
            report.observation,
            *before,
            report.candidate,
            *(report.suggestion or _NO_SUGGESTION),
            report.replicate,
            outcome_text(report.values),
            report.ref,
            report.measured_at,
            report.measured_by,
            report.note,
            *after,
        )
        for report in reported
    ]
    insert_rows(connection, _ADD, rows)


def _plain_rows(study: Study, reported: PlainObservations, before: Row, after: Row) -> list[Row]:
    nothing = (None,) * 4
    cells = zip(reported.candidates, outcome_texts(reported), strict=True)
    return [
        (study.id, number, *before, candidate, None, None, None, text, *nothing, *after)
        for number, (candidate, text) in enumerate(cells, start=reported.first)
    ]


def supersede(connection: Connection, study: Study, version: Observation) -> None:
    """Make this the current version; the one before it stays as a row."""
    connection.execute(update(observations).where(_is(study, version.number)).values(current=False))
    add(connection, study, [version])


def last_number(connection: Connection, study: Study) -> int:
    return connection.execute(_LAST_NUMBER, {"study": study.id}).scalar_one() or 0


def versions(connection: Connection, study: Study, number: int) -> list[Observation]:
    """Every version, oldest first."""
    query = select(observations).where(_is(study, number)).order_by(observations.c.version)
    return [_observation(row) for row in connection.execute(query).mappings()]


def page(
    connection: Connection,
    study: Study,
    after: int,
    limit: int | None,
    *,
    every_version: bool,
    candidate: int | None = None,
) -> list[Observation]:
    """The observations after number `after`, at most `limit` of them, each in its current or in every version."""
    where = [observations.c.study_id == study.id, observations.c.number > after, observations.c.current]
    if candidate is not None:
        where.append(observations.c.candidate == candidate)
    query = select(observations).where(*where).order_by(observations.c.number).limit(limit)
    if every_version:
        shown = query.with_only_columns(observations.c.number).scalar_subquery()
        these = (observations.c.study_id == study.id, observations.c.number.in_(shown))
        query = select(observations).where(*these).order_by(observations.c.number, observations.c.version)
    return [_observation(row) for row in connection.execute(query).mappings()]


def recorded_of(connection: Connection, study: Study, candidates: Iterable[int]) -> list[Observation]:
    """The observations of some candidates that count, oldest first."""
    rows = (
        row
        for part in in_parts(sorted(set(candidates)))
        for row in _RECORDED_OF.rows(connection, {"study": study.id, "candidates": part})
    )
    return [_observation(row) for row in sorted(rows, key=itemgetter("number"))]


def stored_among(
    connection: Connection, study: Study, quantity: str, results: Collection[tuple[int, float]]
) -> set[tuple[int, float]]:
    """Those of some values of one quantity, each after its candidate, that are stored and count.

    A candidate may have been measured ten thousand times, so of a few values the database itself looks for the text.
    """
    if not results:
        return set()
    candidates = sorted({candidate for candidate, _ in results})
    if len(results) > IN_LIMIT:
        parts = [
            _VALUES_OF.tuples(connection, {"study": study.id, "candidates": part}) for part in in_parts(candidates)
        ]
    else:
        search = _search(quantity, candidates, {value for _, value in results})
        parts = [_EQUAL_VALUES.tuples(connection, {"study": study.id, **search})]
    stored = ((candidate, orjson.loads(text).get(quantity)) for part in parts for candidate, text in part)
    return {(candidate, measured["value"]) for candidate, measured in stored if measured is not None} & set(results)


def _search(quantity: str, candidates: Sequence[int], values: Set[float]) -> dict[str, Any]:
    """What `_EQUAL_VALUES` is asked for."""
    beginning = plain_beginning(quantity)
    numbers = {repr(value) for value in values} | ({"0.0", "-0.0"} if 0 in values else set())
    texts = [f"{beginning}{number}}}}}" for number in sorted(numbers)]
    return {"candidates": candidates, "texts": texts, "beginning": beginning, "length": len(beginning)}


def latest(connection: Connection, study: Study, limit: int) -> list[tuple[int, Outcome]]:
    """Number and current values of the newest observations, newest first."""
    rows = _LATEST.tuples(connection, {"study": study.id, "limit": limit})
    return [(number, _values(text)) for number, text in rows]


def of_suggestions(connection: Connection, study: Study, batches: Iterable[int]) -> list[Observation]:
    """The current observations that answer suggestions of some batches, oldest first."""
    parts = ({"batches": part} for part in in_parts(sorted(set(batches))))
    return _current(connection, study, _OF_BATCHES, parts)


def answering(connection: Connection, study: Study, ids: Collection[SuggestionId]) -> list[Observation]:
    """The current observations that answer some suggestions, oldest first."""
    found = _current(connection, study, _ANSWERING, searches(ids))
    return [observation for observation in found if observation.suggestion in ids]


def completed(connection: Connection, study: Study, ids: Collection[SuggestionId]) -> list[SuggestionId]:
    """Those of some suggestions that have all requested replicates."""
    rows = (
        SuggestionId(batch, rank)
        for search in searches(ids)
        for batch, rank in _COMPLETED.tuples(connection, {"study": study.id, **search})
    )
    return [suggestion for suggestion in rows if suggestion in ids]


def with_refs(connection: Connection, study: Study, refs: Iterable[str]) -> dict[str, Observation]:
    """The current observations under some references."""
    parts = ({"refs": part} for part in in_parts(sorted(set(refs))))
    found = _current(connection, study, _WITH_REFS, parts)
    return {observation.ref: observation for observation in found if observation.ref is not None}


def _current(
    connection: Connection, study: Study, first: Prepared, searches: Iterable[Mapping[str, Sequence[Any]]]
) -> list[Observation]:
    """The current versions of the observations whose first versions a statement finds, oldest first."""
    parts = (first.tuples(connection, {"study": study.id, **search}) for search in searches)
    numbers = sorted(number for part in parts for (number,) in part)
    rows = (
        row for part in in_parts(numbers) for row in _NUMBERED.rows(connection, {"study": study.id, "numbers": part})
    )
    return [_observation(row) for row in sorted(rows, key=itemgetter("number"))]


def _is(study: Study, number: int) -> ColumnElement[bool]:
    return (observations.c.study_id == study.id) & (observations.c.number == number)


def _row(study: Study, observation: Observation) -> Row:
    columns = vars(observation) | {"study_id": study.id, "values": outcome_text(observation.values)}
    columns["batch"], columns["rank"] = observation.suggestion or _NO_SUGGESTION
    columns["kind"] = observation.kind.value
    return tuple(columns[column.name] for column in observations.columns)


def _observation(row: Mapping[Any, Any]) -> Observation:
    columns = dict(row)
    del columns["study_id"]
    batch, rank = columns.pop("batch"), columns.pop("rank")
    columns["suggestion"] = None if batch is None else SuggestionId(batch, rank)
    columns["kind"] = ObservationKind(columns["kind"])
    columns["current"] = bool(columns["current"])
    return Observation(**columns | {"values": _values(columns["values"])})


@lru_cache(maxsize=4096)  # every report reads the latest values of its study
def _values(text: str) -> Mapping[str, Measured]:
    return {name: from_plain(Measured, plain) for name, plain in read_json(text).items()}
