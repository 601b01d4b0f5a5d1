"""Observations as rows: one per version; the newest of each number is `current`."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, func, insert, select, update

from app.domain.observations import Kind, Observation
from app.domain.studies import Study
from app.storage.parameters import in_parts
from app.storage.tables import observations, suggestions

_ADD = insert(observations)
_OF_STUDY = observations.c.study_id == bindparam("study")
_LAST_NUMBER = select(func.max(observations.c.number)).where(_OF_STUDY)
_CURRENT = select(observations).where(_OF_STUDY, observations.c.current)
_OF_BATCHES = _CURRENT.where(observations.c.batch.in_(bindparam("batches", expanding=True)))
_WITH_REFS = _CURRENT.where(observations.c.ref.in_(bindparam("refs", expanding=True)))
_COMPLETED = (
    select(suggestions.c.batch, suggestions.c.rank)
    .join_from(
        suggestions,
        observations,
        (observations.c.study_id == suggestions.c.study_id)
        & (observations.c.candidate == suggestions.c.candidate)  # there is an index of it
        & (observations.c.batch == suggestions.c.batch)
        & (observations.c.rank == suggestions.c.rank)
        & observations.c.current,
    )
    .where(suggestions.c.study_id == bindparam("study"), suggestions.c.batch.in_(bindparam("batches", expanding=True)))
    .group_by(suggestions.c.batch, suggestions.c.rank, suggestions.c.replicates)
    .having(func.count() >= suggestions.c.replicates)
    .order_by(suggestions.c.batch, suggestions.c.rank)
)
_VALUES_OF = select(observations.c.candidate, observations.c.exact).where(
    _OF_STUDY,
    observations.c.current,
    observations.c.kind == Kind.RECORDED,
    observations.c.candidate.in_(bindparam("candidates", expanding=True)),
)


def add(connection: Connection, study: Study, new: Sequence[Observation]) -> None:
    connection.execute(_ADD, [_row(study, one) for one in new])


def supersede(connection: Connection, study: Study, version: Observation) -> None:
    """Put a new version in the place of the current one, which is kept."""
    connection.execute(update(observations).where(_is(study, version.number)).values(current=False))
    add(connection, study, [version])


def last_number(connection: Connection, study: Study) -> int:
    return connection.execute(_LAST_NUMBER, {"study": study.id}).scalar_one() or 0


def count(connection: Connection, study: Study) -> int:
    """How many stand: neither superseded nor retracted."""
    where = (observations.c.study_id == study.id, observations.c.current, observations.c.kind == Kind.RECORDED)
    return int(connection.execute(select(func.count()).where(*where)).scalar_one())


def versions(connection: Connection, study: Study, number: int) -> list[Observation]:
    """Every version, oldest first."""
    query = select(observations).where(_is(study, number)).order_by(observations.c.version)
    return [_observation(row) for row in connection.execute(query)]


def page(
    connection: Connection,
    study: Study,
    after: int,
    limit: int | None,
    *,
    every_version: bool,
    candidate: int | None = None,
) -> list[Observation]:
    """The observations after number `after`, at most `limit` of them, each as it stands or with all its versions."""
    where = [observations.c.study_id == study.id, observations.c.number > after, observations.c.current]
    if candidate is not None:
        where.append(observations.c.candidate == candidate)
    query = select(observations).where(*where).order_by(observations.c.number).limit(limit)
    if every_version:
        shown = query.with_only_columns(observations.c.number).scalar_subquery()
        these = (observations.c.study_id == study.id, observations.c.number.in_(shown))
        query = select(observations).where(*these).order_by(observations.c.number, observations.c.version)
    return [_observation(row) for row in connection.execute(query)]


def values_of(connection: Connection, study: Study, candidates: Iterable[int]) -> Iterator[tuple[int, float]]:
    """Candidate and value of every observation of some candidates that stands."""
    for part in in_parts(sorted(set(candidates))):
        for candidate, exact in connection.execute(_VALUES_OF, {"study": study.id, "candidates": part}):
            yield candidate, float(exact)


def of_suggestions(connection: Connection, study: Study, batches: Iterable[int]) -> list[Observation]:
    """The current observations that answer suggestions of some batches."""
    return [
        _observation(row)
        for part in in_parts(sorted(set(batches)))
        for row in connection.execute(_OF_BATCHES, {"study": study.id, "batches": part})
    ]


def completed(connection: Connection, study: Study, places: Collection[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those of some suggestions for which all wanted replicates are there."""
    numbers = sorted({batch for batch, _ in places})
    return [
        (batch, rank)
        for part in in_parts(numbers)
        for batch, rank in connection.execute(_COMPLETED, {"study": study.id, "batches": part})
        if (batch, rank) in places
    ]


def with_refs(connection: Connection, study: Study, refs: Iterable[str]) -> dict[str, Observation]:
    """The current observations under some references."""
    return {
        row.ref: _observation(row)
        for part in in_parts(sorted(set(refs)))
        for row in connection.execute(_WITH_REFS, {"study": study.id, "refs": part})
    }


def _is(study: Study, number: int) -> ColumnElement[bool]:
    return (observations.c.study_id == study.id) & (observations.c.number == number)


def _row(study: Study, one: Observation) -> dict[str, Any]:
    return vars(one) | {"study_id": study.id, "exact": repr(one.value)}


def _observation(row: Row[Any]) -> Observation:
    fields = dict(row._mapping)  # noqa: SLF001
    del fields["study_id"]
    value = float(fields.pop("exact"))  # SQLite's REAL would turn −0.0 into 0.0
    return Observation(**fields | {"value": value, "kind": Kind(row.kind)})
