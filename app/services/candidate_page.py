"""Which candidates, in which order: filters, sort and page over all of a study's candidates."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.candidates import Column
from app.domain.errors import Invalid
from app.domain.findings import Finding
from app.domain.studies import Study
from app.services import studies
from app.services.candidate_set import Candidate, CandidateSet, Value
from app.services.resources import Resources
from app.services.summary import head, view_of
from app.services.transactions import Reading

ROWS_AT_ONCE = 2_000
_CONDITION = re.compile(r"(?P<column>.+?)(?P<sign>>=|<=|=|<|>)(?P<value>.*)", re.DOTALL)
_SIGNS = {"=": eq, "<": lt, ">": gt, "<=": le, ">=": ge}

POSTERIOR = ("mean", "std", "lower", "upper", "counts", "pending")

Array = NDArray[Any]
Belief = Mapping[str, Array]


@dataclass(frozen=True)
class Query:
    offset: int = 0
    limit: int = 100
    sort: str = ""  # a column, with - before it for falling order; empty for the list's own order
    available: bool | None = None
    search: str = ""  # a part of the key
    posterior: bool = False  # with what the model believes of each
    where: tuple[str, ...] = ()  # column=value, column>=number …


@dataclass(frozen=True)
class Page:
    total: int  # that meet the filters
    candidates: list[Candidate]
    posterior: list[dict[str, float | int]] | None  # of each, if wanted


def belief(resources: Resources, read: Reading, name: str, query: Query) -> Belief:
    """What the model believes of every candidate, an array a column; empty if not wanted, or if there is nothing."""
    if not query.posterior:
        return {}
    study, tally = read(head, resources, name, None)
    view = view_of(resources, study, tally)
    return {} if view is None else {column: getattr(view, column) for column in POSTERIOR}


def read_page(
    connection: Connection, actor: Actor, resources: Resources, name: str, query: Query, believed: Belief
) -> Page:
    study = studies.find(connection, actor, name)
    candidates = CandidateSet(connection, resources.arrays, study)
    chosen = _chosen(candidates, study, query, believed)
    shown = chosen[query.offset : query.offset + query.limit]
    posterior = [_believed_of(i, believed) for i in shown.tolist()] if believed else None
    return Page(len(chosen), candidates.read(shown), posterior)


def table_rows(
    connection: Connection, actor: Actor, resources: Resources, name: str, query: Query, believed: Belief
) -> Iterator[Sequence[Value]]:
    """Every candidate that meets the filters as a row of cells, the header first, a few thousand at a time."""
    study = studies.find(connection, actor, name)
    features = [column.name for column in study.columns if column.role == "feature"]
    attributes = [column.name for column in study.columns if column.role == "attribute"]
    candidates = CandidateSet(connection, resources.arrays, study)
    chosen = _chosen(candidates, study, query, believed)  # whatever is refused is refused before the first row
    yield ["key", *features, *attributes, "available", "reason", *believed]
    for start in range(0, len(chosen), ROWS_AT_ONCE):
        for one in candidates.read(chosen[start : start + ROWS_AT_ONCE]):
            cells = [one.key, *one.features.values(), *one.attributes.values(), one.available, one.reason]
            yield [*cells, *_believed_of(one.number, believed).values()]


def _believed_of(number: int, believed: Belief) -> dict[str, float | int]:
    return {column: array[number].item() for column, array in believed.items()}


def _chosen(candidates: CandidateSet, study: Study, query: Query, believed: Belief) -> Array:
    """The numbers of the candidates that meet the filters, in the wanted order."""
    chosen = np.ones(len(candidates), dtype=bool)
    for array in believed.values():
        chosen[len(array) :] = False  # added since the model was read: on the next page they are there
    if query.available is not None:
        switched_off = np.fromiter(candidates.unavailable, dtype=np.intp, count=len(candidates.unavailable))
        off = np.zeros(len(candidates), dtype=bool)
        off[switched_off] = True
        chosen &= ~off if query.available else off
    for condition in query.where:
        chosen &= _meets(candidates, study, condition)
    numbers = np.flatnonzero(chosen)
    if query.search:
        wanted = query.search.casefold()
        keys = candidates.keys(numbers)
        numbers = numbers[[wanted in key.casefold() for key in keys]]
    return numbers[_order(candidates, study, query.sort, numbers, believed)] if query.sort else numbers


def _order(candidates: CandidateSet, study: Study, sort: str, numbers: Array, believed: Belief) -> Array:
    """Rising or falling; equal ones stay in the list's order, missing ones come last."""
    name, falling = sort.removeprefix("-"), sort.startswith("-")
    if name in believed:
        known = believed[name][numbers]
        return np.argsort(-known if falling else known, kind="stable")
    column = _column(study, name, "sort")
    if column.kind == "text":
        values = candidates.values(column, numbers)
        rank = {
            text: float(place) for place, text in enumerate(sorted({str(text) for text in values if text is not None}))
        }
        ranks = np.array([np.nan if text is None else rank[str(text)] for text in values])
    else:
        ranks = candidates.column(column)[numbers]
    return np.argsort(-ranks if falling else ranks, kind="stable")


def _meets(candidates: CandidateSet, study: Study, condition: str) -> Array:
    match = _CONDITION.fullmatch(condition)
    if match is None:
        raise Invalid([Finding("where", "Write column=value, or column>=number and the like.")])
    column, sign = _column(study, match["column"], "where"), match["sign"]
    everyone = np.arange(len(candidates))
    if column.kind == "number":
        return np.asarray(_SIGNS[sign](candidates.column(column), _number(match["value"])))
    if sign != "=":
        raise Invalid([Finding("where", "Only numbers can be compared; text and booleans take =.", column=column.name)])
    if column.kind == "boolean" and match["value"] not in ("true", "false"):
        raise Invalid([Finding("where", "A boolean is true or false.", column=column.name)])
    wanted: Value = match["value"] == "true" if column.kind == "boolean" else match["value"]
    return np.array([value == wanted for value in candidates.values(column, everyone)], dtype=bool)


def _column(study: Study, name: str, parameter: str) -> Column:
    found = next((column for column in study.columns if column.name == name and column.role != "key"), None)
    if found is None:
        raise Invalid([Finding(parameter, f"{parameter} names no feature or attribute of this study.")])
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Invalid([Finding("where", "The value to compare with must be a number.")]) from None
