"""Numbers of all candidates at once, as packed arrays: what a map or a notebook reads of a long list."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from app.arrays import Array
from app.domain.access import Actor
from app.domain.candidates import Column
from app.domain.errors import Finding, Invalid
from app.domain.studies import Study
from app.modelling.predicting import Predictions
from app.modelling.similarity import Feature, similarity_map
from app.services.resources import Resources
from app.services.use_cases import studies
from app.storage.candidate_set import CandidateSet

BYTES = 4  # of a number
PER_NUMBER = 5 * BYTES  # while it is read, converted and sent


@dataclass(frozen=True)
class ArrayQuery:
    columns: tuple[str, ...] = ()  # of the list
    posterior: tuple[str, ...] = ()  # of what the model says, such as mean, std and counts
    similarity: bool = False  # two more: where each candidate lies on the map of similarity
    limit: int = 100_000  # candidates, from the beginning of the list

    @property
    def arrays(self) -> int:
        return len(self.columns) + len(self.posterior) + 2 * self.similarity + 1


def packed_arrays(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    query: ArrayQuery,
    predictions: Predictions | None,
) -> bytes:
    """One array after the other, each of one float32 per candidate, and last whether the candidate is available."""
    study = studies.find(connection, actor, name)
    candidates = CandidateSet(connection, resources.arrays, study)
    rows = min(len(candidates), query.limit, len(candidates) if predictions is None else len(predictions))
    arrays = [_cells(candidates, _column(study, column))[:rows] for column in query.columns]
    arrays += [array[:rows] for array in _predicted(predictions, query.posterior, rows)]
    if query.similarity:
        arrays += list(similarity_map(_features(candidates, study, rows), rows))
    available = np.ones(rows)
    available[[number for number in candidates.unavailable if number < rows]] = 0
    with np.errstate(over="ignore"):  # beyond the largest float32 lies infinity
        return b"".join(np.asarray(array, dtype="<f4").tobytes() for array in (*arrays, available))


def array_bytes(connection: Connection, actor: Actor, name: str, query: ArrayQuery) -> int:
    """How much memory the arrays take while they are made."""
    return PER_NUMBER * query.arrays * min(studies.find(connection, actor, name).candidates, query.limit)


def _cells(candidates: CandidateSet, column: Column) -> Array:
    return candidates.column(column) if len(candidates) else np.zeros(0)


def _features(candidates: CandidateSet, study: Study, rows: int) -> list[Feature]:
    features = [column for column in study.columns if column.role == "feature"]
    return [
        Feature(_cells(candidates, column)[:rows], len(column.levels) if column.kind == "text" else None)
        for column in features
    ]


def _column(study: Study, name: str) -> Column:
    column = next((column for column in study.columns if column.name == name and column.role != "key"), None)
    if column is None or (column.role == "attribute" and column.kind == "text"):
        message = "`column` names no feature and no attribute with numbers of this study."
        raise Invalid([Finding("column", message)])
    return column


def _predicted(predictions: Predictions | None, names: tuple[str, ...], rows: int) -> list[Array]:
    known: Mapping[str, Array] = {} if predictions is None else predictions.columns()
    unknown = [name for name in names if known and name not in known]
    if unknown:
        raise Invalid([Finding("posterior", f"`posterior` must be one of: {', '.join(known)}.")])
    return [known.get(name, np.full(rows, np.nan)) for name in names]
