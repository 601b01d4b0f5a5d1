"""Candidates as they are read: one, a page or all of them, filtered and sorted; and switched off and on."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import eq, ge, gt, le, lt

import numpy as np
from sqlalchemy import Connection

from app.arrays import Array
from app.domain.access import Actor
from app.domain.candidates import Candidate, CellValue, Column
from app.domain.errors import CandidateNotFound, Finding, Invalid
from app.domain.events import CandidateReference, CandidatesSwitched
from app.domain.predictions import Prediction
from app.domain.studies import Study
from app.modelling.predicting import Predictions
from app.services.resources import Resources
from app.services.use_cases import studies
from app.storage import ledger
from app.storage.candidate_set import CandidateSet

ROWS_AT_ONCE = 2_000
MOST_CELLS = 1_000_000  # in one page
_CONDITION = re.compile(r"(?P<column>.+?)(?P<sign>>=|<=|=|<|>)(?P<value>.*)", re.DOTALL)
_SIGNS = {"=": eq, "<": lt, ">": gt, "<=": le, ">=": ge}


@dataclass(frozen=True)
class CandidateQuery:
    offset: int = 0
    limit: int = 100
    sort: str = ""  # a column, with - before it for falling order; empty for the list's own order
    available: bool | None = None
    search: str = ""  # a part of the key
    posterior: bool = False  # with what the model says of each
    where: tuple[str, ...] = ()  # column=value, column>=number …


@dataclass(frozen=True)
class CandidatePage:
    total: int  # candidates that meet the filters
    candidates: list[Candidate]
    predictions: list[Prediction] | None  # of each, if requested


def read_one(connection: Connection, actor: Actor, resources: Resources, name: str, key: str) -> Candidate:
    return _find(connection, resources, studies.find(connection, actor, name), key)


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
    matching = _matching(candidates, study, query, predictions)
    shown = matching[query.offset : query.offset + _rows_of_a_page(study, query.limit)]
    predicted = None if predictions is None else [predictions.of(number) for number in shown.tolist()]
    return CandidatePage(len(matching), candidates.read(shown), predicted)


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
    features = [column.name for column in study.columns if column.role == "feature"]
    attributes = [column.name for column in study.columns if column.role == "attribute"]
    candidates = CandidateSet(connection, resources.arrays, study)
    matching = _matching(candidates, study, query, predictions)  # a refusal must come before the first row
    predicted = {} if predictions is None else predictions.columns()
    yield ["key", *features, *attributes, "available", "reason", *predicted]
    for start in range(0, len(matching), ROWS_AT_ONCE):
        for candidate in candidates.read(matching[start : start + ROWS_AT_ONCE]):
            cells = [*candidate.features.values(), *candidate.attributes.values()]
            numbers = [array[candidate.number].item() for array in predicted.values()]
            yield [candidate.key, *cells, candidate.available, candidate.reason, *numbers]


def _rows_of_a_page(study: Study, limit: int) -> int:
    """A page is whole in memory, about 160 bytes per cell, so with many columns it is shorter than requested."""
    return min(limit, max(1, MOST_CELLS // max(1, len(study.columns))))


def _find(connection: Connection, resources: Resources, study: Study, key: str) -> Candidate:
    candidates = CandidateSet(connection, resources.arrays, study)
    number = candidates.find(key)
    if number is None:
        raise CandidateNotFound
    return candidates.read([number])[0]


def _matching(candidates: CandidateSet, study: Study, query: CandidateQuery, predictions: Predictions | None) -> Array:
    """The numbers of the candidates that meet the filters, in the requested order."""
    meets = np.ones(len(candidates), dtype=bool)
    if predictions is not None:
        meets[len(predictions) :] = False  # added since the model was read: the next page has them
    if query.available is not None:
        off = np.zeros(len(candidates), dtype=bool)
        off[list(candidates.unavailable)] = True
        meets &= ~off if query.available else off
    for condition in query.where:
        meets &= _meets(candidates, study, condition, predictions)
    numbers = np.flatnonzero(meets)
    if query.search:
        text = query.search.casefold()
        numbers = numbers[[text in key.casefold() for key in candidates.keys(numbers)]]
    return numbers[_order(candidates, study, query.sort, numbers, predictions)] if query.sort else numbers


def _order(candidates: CandidateSet, study: Study, sort: str, numbers: Array, predictions: Predictions | None) -> Array:
    """Rising or falling; equal candidates stay in the order of the list, missing values come last."""
    name, falling = sort.removeprefix("-"), sort.startswith("-")
    predicted = {} if predictions is None else predictions.columns()
    if name in predicted:
        column_of_model = predicted[name][numbers]
        return np.argsort(-column_of_model if falling else column_of_model, kind="stable")
    column = _column(study, name, "sort")
    if column.kind == "text":
        values = candidates.values(column, numbers)
        distinct = sorted({str(text) for text in values if text is not None})
        rank = {text: float(position) for position, text in enumerate(distinct)}
        ranks = np.array([np.nan if text is None else rank[str(text)] for text in values])
    else:
        ranks = candidates.column(column)[numbers]
    return np.argsort(-ranks if falling else ranks, kind="stable")


def _meets(candidates: CandidateSet, study: Study, condition: str, predictions: Predictions | None) -> Array:
    match = _CONDITION.fullmatch(condition)
    if match is None:
        raise Invalid([Finding("where", "Write a condition such as solvent=DMF or temperature>=80.")])
    predicted = {} if predictions is None else predictions.columns()
    if match["column"] in predicted and match["column"] not in {column.name for column in study.columns}:
        met = _SIGNS[match["sign"]](predicted[match["column"]][: len(candidates)], _number(match["value"]))
        return np.pad(met, (0, len(candidates) - len(met)))  # added since the model was read: no prediction
    column, sign = _column(study, match["column"], "where"), match["sign"]
    everyone = np.arange(len(candidates))
    if column.kind == "number":
        return np.asarray(_SIGNS[sign](candidates.column(column), _number(match["value"])))
    if sign != "=":
        raise Invalid(
            [Finding("where", "Only numbers can be compared. Use = for text and booleans.", column=column.name)]
        )
    if column.kind == "boolean" and match["value"] not in ("true", "false"):
        raise Invalid([Finding("where", "Write true or false.", column=column.name)])
    target: CellValue = match["value"] == "true" if column.kind == "boolean" else match["value"]
    return np.array([value == target for value in candidates.values(column, everyone)], dtype=bool)


def _column(study: Study, name: str, parameter: str) -> Column:
    column = next((column for column in study.columns if column.name == name and column.role != "key"), None)
    if column is None:
        raise Invalid([Finding(parameter, f"`{parameter}` names no feature or attribute of this study.")])
    return column


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Invalid([Finding("where", "This column holds numbers: compare it with a number.")]) from None
