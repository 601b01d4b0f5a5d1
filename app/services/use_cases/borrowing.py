"""Borrow results of earlier studies: they are copied into the ledger, as hints for the model.

The other study is named with the last event that was known and its hash. Its results are copied, so that batches can be
computed again whatever becomes of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.candidates import Column
from app.domain.errors import Finding, Invalid, NoCandidates
from app.domain.events import EarlierResults, ResultsBorrowed
from app.domain.limits import MOST_EARLIER_RESULTS
from app.domain.studies import Direction, Study
from app.services.resources import Resources
from app.services.use_cases import studies
from app.storage import ledger
from app.storage.candidate_set import CandidateSet


@dataclass(frozen=True)
class Borrowed:
    """Results that a study has borrowed, and how much they decide in its model, if that is known."""

    earlier: EarlierResults
    missing: tuple[str, ...]  # features of the study that the earlier one does not have
    importance: float | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.earlier.numbers, *self.earlier.texts)

    @property
    def words(self) -> str:
        """How much is borrowed, for people."""
        results, name = len(self.earlier.values), self.earlier.study
        if self.importance is None:
            return f"{results} results of {name} are hints; how much they count is learnt from the first results here."
        share = min(1.0, self.importance)
        how = "decide most of" if share > 0.5 else "decide a part of" if share > 0.05 else "have next to no effect on"
        return f"{results} results of {name} {how} what is expected here ({share:.0%})."


def borrow(
    connection: Connection, actor: Actor, resources: Resources, name: str, sources: Sequence[str], reason: str | None
) -> tuple[Borrowed, ...]:
    """Use the results of these studies, as they are now, instead of any borrowed before."""
    study = studies.lock(connection, actor, name)
    study.must_not_be_archived()
    earlier = tuple(_copy(connection, actor, resources, study, source) for source in dict.fromkeys(sources))
    state = resources.ledger_states.read(connection, study.id, study.seq)
    if earlier != state.borrowed:
        ledger.append(connection, study, actor, ResultsBorrowed(earlier), reason)
    return tuple(described(study, results) for results in earlier)


def described(study: Study, results: EarlierResults, importance: float | None = None) -> Borrowed:
    known = {*results.numbers, *results.texts}
    missing = [column.name for column in _features(study.columns) if column.name not in known]
    return Borrowed(results, tuple(missing), importance)


def _copy(connection: Connection, actor: Actor, resources: Resources, study: Study, source: str) -> EarlierResults:
    """The results of one study, in the columns that both have; refused with what to do if there is nothing to copy."""
    if not study.columns:
        raise NoCandidates("Upload the candidates first: results are matched by their columns.")
    if not study.configuration.is_plain or study.configuration.theory is not None:
        raise _refusal("Only a study of one objective, without constraints and without a theory, can borrow results.")
    other = studies.find(connection, actor, source)
    if other.id == study.id:
        raise _refusal("A study cannot borrow from itself.")
    if other.configuration.objective.direction is Direction.TARGET:
        raise _refusal(f"The first objective of {source} has a target, so it does not say what is better.")
    shared = _shared(study, other)
    if not shared:
        raise _refusal(f"{source} has no feature of the same name and kind, so nothing can be matched.")
    return _results(connection, resources, other, shared)


def _results(connection: Connection, resources: Resources, other: Study, shared: Sequence[Column]) -> EarlierResults:
    """The mean of each measured candidate; an even subset of them if there are very many."""
    state = resources.ledger_states.read(connection, other.id, other.seq).of_first()
    measured, positions = np.unique(state.candidates[state.counted], return_inverse=True)
    if not len(measured):
        raise _refusal(f"{other.name} has no results yet.")
    means = np.bincount(positions, weights=state.values[state.counted]) / np.bincount(positions)
    chosen = np.unique(np.linspace(0, len(measured) - 1, min(len(measured), MOST_EARLIER_RESULTS)).astype(int))
    candidates = CandidateSet(connection, resources.arrays, other)
    cells = {column.name: candidates.values(column, measured[chosen]) for column in shared}
    texts = {column.name for column in shared if column.kind == "text"}
    return EarlierResults(
        study=other.name,
        seq=other.seq,
        head=other.head,
        direction=other.configuration.objective.direction,
        values=tuple(means[chosen].tolist()),
        numbers={
            name: tuple(float(cell or 0) for cell in values) for name, values in cells.items() if name not in texts
        },
        texts={name: tuple(str(cell) for cell in values) for name, values in cells.items() if name in texts},
    )


def _shared(study: Study, other: Study) -> list[Column]:
    """The features of the other study that this one has, too: texts for texts, numbers or booleans for either."""
    kinds = {column.name: column.kind == "text" for column in _features(study.columns)}
    return [column for column in _features(other.columns) if kinds.get(column.name) == (column.kind == "text")]


def _features(columns: Sequence[Column]) -> list[Column]:
    return [column for column in columns if column.role == "feature"]


def _refusal(message: str) -> Invalid:
    return Invalid([Finding("borrowing", message, pointer="/from")])
