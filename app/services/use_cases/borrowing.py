"""Borrow results of earlier studies: they are copied into the ledger, as hints for the model.

The other study is named with the last event that was known and its hash. Its results are copied, so that batches can be
computed again whatever becomes of it. A molecule that this study spells otherwise is copied in its spelling: equal
fingerprints are equal molecules for the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Connection

from app.arrays import Array
from app.domain.access import Actor
from app.domain.candidates import Column
from app.domain.errors import Finding, Invalid, NoCandidates
from app.domain.events import EarlierResults, ResultsBorrowed
from app.domain.limits import MOST_EARLIER_RESULTS
from app.domain.studies import Direction, Study
from app.modelling.borrowing import FEWEST, usable_results
from app.services.resources import Resources
from app.services.use_cases import studies
from app.storage import ledger
from app.storage.candidate_set import CandidateSet, read_fingerprints


@dataclass(frozen=True)
class Borrowed:
    """Results that a study has borrowed, and how much they decide in its model, if that is known."""

    earlier: EarlierResults
    missing: tuple[str, ...]  # features of the study that the earlier one does not have
    usable: int  # results whose molecules this study has, too
    importance: float | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.earlier.numbers, *self.earlier.texts)

    @property
    def words(self) -> str:
        """How much is borrowed, for people, and what is left out."""
        return " ".join(sentence for sentence in (self._counted, self._left_out) if sentence)

    @property
    def _counted(self) -> str:
        results, name = _count(self.usable), self.earlier.study
        if self.usable < FEWEST:
            return f"{results} of {name} can be used here; that is too few to learn from."
        if self.importance is None:
            return f"{results} of {name} are hints; how much they count is learnt from the first results here."
        share = min(1.0, self.importance)
        how = "decide most of" if share > 0.5 else "decide a part of" if share > 0.05 else "have next to no effect on"
        return f"{results} of {name} {how} what is expected here ({share:.0%})."

    @property
    def _left_out(self) -> str:
        dropped = len(self.earlier.values) - self.usable
        return f"{_count(dropped)} with molecules that are not in this list are left out." if dropped else ""


def _count(results: int) -> str:
    return "1 result" if results == 1 else f"{results or 'No'} results"


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
    return Borrowed(results, tuple(missing), usable_results(results, study.columns), importance)


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
    return _respelt(connection, resources, study, other, _results(connection, resources, other, shared))


def _respelt(
    connection: Connection, resources: Resources, study: Study, other: Study, results: EarlierResults
) -> EarlierResults:
    """The results with each molecule as this study spells it, where it has the molecule at all."""
    ours = read_fingerprints(connection, resources.arrays, study)
    theirs = read_fingerprints(connection, resources.arrays, other)
    texts = dict(results.texts)
    for name in ours.keys() & theirs.keys() & texts.keys():
        spelling = _spelling(_levels(study, name), ours[name], _levels(other, name), theirs[name])
        texts[name] = tuple(spelling[cell] for cell in texts[name])
    return replace(results, texts=texts)


def _levels(study: Study, name: str) -> tuple[str, ...]:
    return next(column.levels for column in study.columns if column.name == name)


def _spelling(levels: Sequence[str], counts: Array, others: Sequence[str], other_counts: Array) -> dict[str, str]:
    """Each of the other levels → the level of the same molecule here, or itself if there is none."""
    known: dict[bytes, str] = {}
    for level, row in zip(levels, counts, strict=True):
        known.setdefault(row.tobytes(), level)
    alike = {level: known.get(row.tobytes(), level) for level, row in zip(others, other_counts, strict=True)}
    return alike | {level: level for level in set(others) & set(levels)}


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
