"""Candidates as they are read: one, a page or all of them, filtered and sorted; and switched off and on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sqlalchemy import Connection

from app.arrays import Array
from app.deadline import check_deadline
from app.domain.access import Actor
from app.domain.candidates import Candidate, CellValue, Column
from app.domain.errors import CandidateNotFound, Finding, Invalid
from app.domain.events import CandidateReference, CandidatesSwitched
from app.domain.limits import MOST_PAGE_CELLS, MOST_PAGE_TEXT_BYTES
from app.domain.predictions import Prediction
from app.domain.studies import Study
from app.modelling.ledger_state import LedgerState
from app.modelling.predicting import Predictions
from app.services.filters import FilteredTable
from app.services.memory import PER_CELL, PER_TEXT_BYTE
from app.services.resources import Resources
from app.services.use_cases import studies
from app.storage import blobs, ledger
from app.storage.candidate_set import CandidateSet, known_blocks

ROWS_AT_ONCE = 2_000
MOST_SWITCHED = 100_000


@dataclass(frozen=True)
class CandidateQuery:
    offset: int = 0
    limit: int = 100
    sort: str = ""  # a column, with - before it for falling order; empty for the list's own order
    available: bool | None = None
    search: str = ""  # a part of the key
    posterior: bool = False  # with what the model says of each
    where: tuple[str, ...] = ()  # conditions of the filter language
    keys: tuple[str, ...] = ()  # only these candidates; all if empty
    numbers: tuple[int, ...] = ()  # only those at these places of the list; all if empty
    omitted: tuple[str, ...] = ()  # columns that a table leaves out


@dataclass(frozen=True)
class CandidatePage:
    total: int  # candidates that meet the filters
    candidates: list[Candidate]
    predictions: list[Prediction] | None  # of each, if requested


def read_one(connection: Connection, actor: Actor, resources: Resources, name: str, key: str) -> Candidate:
    return _find(connection, resources, studies.find(connection, actor, name), key)


def read_smiles(
    connection: Connection, actor: Actor, resources: Resources, name: str, key: str, column: str
) -> str | None:
    """The SMILES of a candidate in a column of molecules, by default in the first; None if the study has none."""
    study = studies.find(connection, actor, name)
    candidate = _find(connection, resources, study, key)
    molecules = [known.name for known in study.columns if known.fingerprint is not None]
    if column and column not in molecules:
        choices = f"Choose one of: {', '.join(molecules)}." if molecules else "This study has none."
        raise Invalid([Finding("no-molecules", f"This column does not hold molecules. {choices}")])
    return str(candidate.features[column or molecules[0]]) if molecules else None


def switch(
    connection: Connection, actor: Actor, resources: Resources, name: str, key: str, available: bool, reason: str | None
) -> Candidate:
    """Say whether a candidate can be measured at all (out of stock, broken, back again)."""
    study = studies.lock(connection, actor, name)
    study.must_not_be_archived()
    candidate = _find(connection, resources, study, key)
    new_reason = None if available else reason
    if (candidate.available, candidate.reason) == (available, new_reason):
        return candidate
    if not available and reason is None:
        raise Invalid([Finding("missing", "Say why the candidate cannot be measured.", pointer="/reason")])
    event = CandidatesSwitched((CandidateReference(candidate.number, key),), available)
    ledger.append(connection, study, actor, event, reason)
    return replace(candidate, available=available, reason=new_reason)


@dataclass(frozen=True)
class Switched:
    """How many candidates were switched, and how many are available now."""

    switched: int
    available: int


@dataclass(frozen=True)
class Choice:
    """Some candidates: by their keys, or by conditions."""

    keys: tuple[str, ...] | None = None
    where: tuple[str, ...] | None = None


def switch_many(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    choice: Choice,
    available: bool,
    reason: str | None,
) -> Switched:
    """As `switch`, for many candidates at once: all or none."""
    study = studies.lock(connection, actor, name)
    study.must_not_be_archived()
    if not available and reason is None:
        raise Invalid([Finding("missing", "Say why the candidates cannot be measured.", pointer="/reason")])
    candidates = CandidateSet(connection, resources.arrays, study)
    chosen = _chosen(candidates, study, choice, partial(resources.ledger_states.read, connection, study.id, study.seq))
    numbers = [number for number in chosen if (number not in candidates.unavailable) != available]
    if len(numbers) > MOST_SWITCHED:
        raise Invalid([Finding("where", f"Switch at most {MOST_SWITCHED:,} candidates at once.", pointer="/where")])
    if numbers:
        references = map(CandidateReference, numbers, candidates.keys(numbers))
        ledger.append(connection, study, actor, CandidatesSwitched(tuple(references), available), reason)
    off = len(candidates.unavailable) + (-len(numbers) if available else len(numbers))
    return Switched(len(numbers), len(candidates) - off)


def _chosen(
    candidates: CandidateSet, study: Study, choice: Choice, ledger_state: Callable[[], LedgerState]
) -> list[int]:
    if (choice.keys is None) == (choice.where is None):
        raise Invalid([Finding("missing", "Write either `keys` or `where`.", pointer="/keys")])
    if choice.where is not None:
        meets = FilteredTable(candidates, study.columns, ledger_state).meeting(choice.where, "/where")
        return [int(number) for number in np.flatnonzero(meets)]
    found = candidates.find_all(choice.keys or ())
    unknown = [position for position, key in enumerate(choice.keys or ()) if key not in found]
    if unknown:
        message = "The study has no candidate with this key. Check its spelling."
        raise Invalid([Finding("unknown-candidate", message, pointer=f"/keys/{position}") for position in unknown])
    return sorted(set(found.values()))


def read_page(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    query: CandidateQuery,
    predictions: Predictions | None,
) -> CandidatePage:
    study = studies.find(connection, actor, name)
    candidates = CandidateSet(connection, resources.arrays, study)
    state = partial(resources.ledger_states.read, connection, study.id, study.seq)
    matching = _matching(candidates, study, query, predictions, state)
    texts = _text_bytes_of_a_row(study, _stored_texts(connection, resources, study))
    end = query.offset + _rows_of_a_page(study, query.limit, texts)
    shown = _ordered(candidates, study, query.sort, matching, predictions, end)[query.offset :]
    predicted = None if predictions is None else [predictions.of(number) for number in shown.tolist()]
    return CandidatePage(len(matching), candidates.read(shown), predicted)


def page_bytes(connection: Connection, actor: Actor, resources: Resources, name: str, query: CandidateQuery) -> int:
    """About how much memory a page takes: its cells, the texts in them, and arrays that no cache keeps for others."""
    study = studies.find(connection, actor, name)
    stored = _stored_texts(connection, resources, study)
    texts = _text_bytes_of_a_row(study, stored)
    rows = min(_rows_of_a_page(study, query.limit, texts), study.candidates)
    arrays = stored if stored > resources.settings.cache_bytes else 0
    return arrays + rows * (PER_CELL * len(study.columns) + PER_TEXT_BYTE * texts)


def _stored_texts(connection: Connection, resources: Resources, study: Study) -> int:
    """The bytes of all texts in attributes."""
    attributes = [column.name for column in study.columns if (column.role, column.kind) == ("attribute", "text")]
    blocks = known_blocks(connection, resources.arrays, study) if attributes else ()
    digests = {block.arrays.attributes[name].content for block in blocks for name in attributes}
    return blobs.total_size(connection, [digest for digest in digests if digest])


def _text_bytes_of_a_row(study: Study, stored: int) -> int:
    """How long the texts of a candidate are: those of features at the most, those of attributes on average."""
    in_features = sum(max(map(len, column.levels)) for column in study.columns if column.levels)
    return in_features + stored // max(1, study.candidates)


def table_rows(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    query: CandidateQuery,
    predictions: Predictions | None,
) -> Iterator[Sequence[CellValue]]:
    """Every candidate that meets the filters as a row of cells, the header first, a few thousand at a time."""
    study = studies.find(connection, actor, name)
    shown = [column for column in study.columns if column.name not in query.omitted]
    features = [column.name for column in shown if column.role == "feature"]
    attributes = [column.name for column in shown if column.role == "attribute"]
    candidates = CandidateSet(connection, resources.arrays, study)
    state = partial(resources.ledger_states.read, connection, study.id, study.seq)
    matching = _matching(candidates, study, query, predictions, state)  # a refusal must come before the first row
    matching = _ordered(candidates, study, query.sort, matching, predictions)
    predicted = {} if predictions is None else predictions.columns()
    yield ["key", *features, *attributes, "available", "reason", *predicted]
    for start in range(0, len(matching), ROWS_AT_ONCE):
        check_deadline()
        for candidate in candidates.read(matching[start : start + ROWS_AT_ONCE]):
            cells = [candidate.features[name] for name in features]
            cells += [candidate.attributes[name] for name in attributes]
            numbers = [array[candidate.number].item() for array in predicted.values()]
            yield [candidate.key, *cells, candidate.available, candidate.reason, *numbers]


def _rows_of_a_page(study: Study, limit: int, texts: int) -> int:
    """A page is whole in memory, so with many columns, or long texts in each row, it is shorter than requested."""
    by_cells, by_texts = MOST_PAGE_CELLS // max(1, len(study.columns)), MOST_PAGE_TEXT_BYTES // max(1, texts)
    return min(limit, max(1, min(by_cells, by_texts)))


def _find(connection: Connection, resources: Resources, study: Study, key: str) -> Candidate:
    candidates = CandidateSet(connection, resources.arrays, study)
    number = candidates.find(key)
    if number is None:
        raise CandidateNotFound
    return candidates.read([number])[0]


def _matching(
    candidates: CandidateSet,
    study: Study,
    query: CandidateQuery,
    predictions: Predictions | None,
    ledger_state: Callable[[], LedgerState],
) -> Array:
    """The numbers of the candidates that meet the filters, in the order of the list."""
    meets = np.ones(len(candidates), dtype=bool)
    if predictions is not None:
        meets[len(predictions) :] = False  # added since the model was read: the next page has them
    if query.available is not None:
        off = np.zeros(len(candidates), dtype=bool)
        off[list(candidates.unavailable)] = True
        meets &= ~off if query.available else off
    predicted = {} if predictions is None else predictions.columns()
    meets &= FilteredTable(candidates, study.columns, ledger_state, predicted).meeting(query.where)
    if query.keys:
        named = np.zeros(len(candidates), dtype=bool)
        named[list(candidates.find_all(query.keys).values())] = True
        meets &= named
    if query.numbers:
        meets &= np.isin(np.arange(len(candidates)), query.numbers)
    if query.search:
        meets &= candidates.with_key_part(query.search)
    return np.flatnonzero(meets)


def _ordered(
    candidates: CandidateSet,
    study: Study,
    sort: str,
    numbers: Array,
    predictions: Predictions | None,
    most: int | None = None,
) -> Array:
    """The first `most` of the numbers, or all, in the requested order; without one, in that of the list."""
    if not sort:
        return numbers[:most]
    name, falling = sort.removeprefix("-"), sort.startswith("-")
    predicted = {} if predictions is None else predictions.columns()
    if name in predicted:
        ranks = predicted[name][numbers].astype(float)
    else:
        ranks = _ranks(candidates, _column(study, name, "sort"), numbers)
    return numbers[first_in_order(-ranks if falling else ranks, most)]


def _ranks(candidates: CandidateSet, column: Column, numbers: Array) -> Array:
    """(numbers,) what sorts the candidates by a column: its numbers, or the places of its texts in the alphabet."""
    if column.kind != "text":
        cells = candidates.column(column)
        return cells if len(numbers) == len(cells) else cells[numbers]
    if column.role == "feature":
        places = np.empty(len(column.levels))
        places[sorted(range(len(column.levels)), key=column.levels.__getitem__)] = np.arange(len(column.levels))
        return places[candidates.column(column)[numbers]]
    values = candidates.values(column, numbers)
    distinct = sorted({str(text) for text in values if text is not None})
    rank = {text: float(position) for position, text in enumerate(distinct)}
    return np.array([np.nan if text is None else rank[str(text)] for text in values])


def first_in_order(ranks: Array, most: int | None = None) -> Array:
    """The positions of the `most` lowest ranks, or of all, in rising order; equal ones stay in order, NaN comes last.

    A page of a long list sorts only what it shows.
    """
    if most is None or most >= len(ranks):
        return np.argsort(ranks, kind="stable")
    last = np.partition(ranks, most)[most]
    if np.isnan(last):
        return np.argsort(ranks, kind="stable")[:most]
    below = np.flatnonzero(ranks < last)
    level = np.flatnonzero(ranks == last)[: most - len(below)]
    chosen = np.concatenate((below, level))
    return chosen[np.argsort(ranks[chosen], kind="stable")]


def _column(study: Study, name: str, parameter: str) -> Column:
    column = next((column for column in study.columns if column.name == name and column.role != "key"), None)
    if column is None:
        raise Invalid([Finding(parameter, f"`{parameter}` names no feature or attribute of this study.")])
    return column
