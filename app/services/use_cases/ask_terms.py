"""What an ask requests, from the caller's words to numbers: candidates by key, conditions as text, columns by name.

`requested` finds the candidates of a new ask. `terms_of` makes the terms that the model works with, from the request as
the ledger keeps it, so that a replay gets the same ones.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Connection

from app.arrays import IndexArray
from app.domain.batches import AskRequest, BatchSize, Composition, Inclusion
from app.domain.candidates import Column
from app.domain.errors import Finding, Invalid
from app.domain.studies import Configuration, Study
from app.modelling.drafting import default_size
from app.modelling.ledger_state import LedgerState
from app.modelling.terms import NO_TERMS, Grouping, Terms
from app.services.filters import FilteredTable
from app.services.resources import Resources
from app.services.use_cases.ask_allowances import allowances_of, own_reservations, refuse_unaffordable
from app.storage.candidate_set import CandidateSet

MISSING = -1  # the code of a missing value


@dataclass(frozen=True)
class AskForm:
    """An ask as the caller fills it in, with candidates by their keys."""

    worker: str
    min_size: int | None = None
    max_size: int | None = None
    where: tuple[str, ...] = ()
    include: tuple[tuple[str, int], ...] = ()  # keys, and how often each is to be measured
    exclude: tuple[str, ...] = ()
    composition: Composition | None = None
    budget: float | None = None
    time: float | None = None
    confirm: str | None = None  # the id of a preview


def requested(
    connection: Connection, resources: Resources, study: Study, configuration: Configuration, form: AskForm
) -> AskRequest:
    """The request as the ledger keeps it, with the study's own conditions first.

    Refused if a candidate does not exist, or is off and must be included.
    """
    request = AskRequest(
        worker=form.worker,
        min_size=form.min_size,
        max_size=form.max_size,
        where=(*configuration.where, *form.where),
        budget=form.budget,
        time=form.time,
    )
    if not form.include and not form.exclude:
        return replace(request, composition=form.composition)
    candidates = CandidateSet(connection, resources.arrays, study)
    include = tuple(
        Inclusion(_existing(candidates, key, f"/include/{position}"), replicates)
        for position, (key, replicates) in enumerate(form.include)
    )
    exclude = tuple(_existing(candidates, key, f"/exclude/{position}") for position, key in enumerate(form.exclude))
    for position, inclusion in enumerate(include):
        _refuse_included(inclusion, include[:position], exclude, candidates, f"/include/{position}")
        if inclusion.candidate in study.reserved_by_others(form.worker):
            message = "Another worker has reserved this candidate. Release the reservation first, or leave it out."
            raise _refusal("reserved-candidate", message, f"/include/{position}")
    return replace(request, include=include, exclude=exclude, composition=form.composition)


def size_of(configuration: Configuration, request: AskRequest) -> BatchSize:
    """The requested size within the study's own limits; a plate is filled."""
    if request.confirm is not None:
        return BatchSize(1, configuration.max_batch)
    wells = request.composition.wells if request.composition else None
    if wells is not None and wells > configuration.max_batch:
        message = f"The study's `max_batch` is {configuration.max_batch}. Raise it, or use fewer wells."
        raise _refusal("sizes", message, "/composition/wells")
    fixed = sum(inclusion.replicates for inclusion in request.include)
    default = max(default_size(configuration).most, request.min_size or 1, fixed)
    most = min(request.max_size or wells or default, wells or configuration.max_batch, configuration.max_batch)
    if fixed > most:
        message = f"The included candidates need {fixed} measurements, and the batch has at most {most}."
        raise _refusal("sizes", message, "/include")
    least = max(request.min_size or wells or 1, min(configuration.min_batch, most), fixed)
    if least > most:
        raise _contradicting_sizes(configuration, request, least, most)
    return BatchSize(least, most)


def _contradicting_sizes(configuration: Configuration, request: AskRequest, least: int, most: int) -> Invalid:
    """Which two sizes contradict each other, and what would work."""
    low, pointer = ("`min_size`", "/min_size") if request.min_size else ("`wells`", "/composition/wells")
    high = "`max_size`" if request.max_size == most else f"the study's `max_batch` of {configuration.max_batch}"
    if request.min_size and high != "`max_size`" and request.composition and request.composition.wells == most:
        high = "`wells`"
    return _refusal("sizes", f"{low} ({least}) is larger than {high}. Use at most {most}.", pointer)


def terms_of(
    connection: Connection,
    resources: Resources,
    study: Study,
    ledger: LedgerState,
    request: AskRequest,
    *,
    is_issued: bool = False,
) -> Terms:
    """The terms of a request on the candidates that the study had after `ledger`.

    Once its batch is issued, what it includes is paid for, and need not fit what is left.
    """
    is_limited = not (request.budget is request.time is ledger.configuration.budget is None)
    reserved = np.array(sorted(ledger.reserved), dtype=np.int64) if ledger.reserved else None
    if request.confirm is not None:
        plain = replace(request, confirm=None)
        terms = terms_of(connection, resources, study, ledger, plain, is_issued=is_issued)
        return confirming(terms, request.confirm)
    if not (request.where or request.include or request.exclude or request.composition or is_limited):
        return NO_TERMS if reserved is None else Terms(reserved=reserved)
    known = replace(study, columns=ledger.columns)
    candidates = CandidateSet(connection, resources.arrays, known, ledger.blocks)
    table = FilteredTable(candidates, ledger.columns, lambda: ledger)
    composition = request.composition or Composition()
    terms = Terms(
        where=table.meeting(request.where, "/where") if request.where else None,
        exclude=np.array(request.exclude, dtype=np.int64) if request.exclude else None,
        reserved=reserved,
        include=request.include,
        released=own_reservations(ledger, request),
        same=_same(candidates, ledger.columns, composition.same) if composition.same else None,
        at_most=_groupings(candidates, ledger.columns, composition.at_most, "at_most"),
        per=_groupings(candidates, ledger.columns, composition.per, "per"),
        allowances=allowances_of(candidates, ledger, request) if is_limited else (),
    )
    if terms.where is not None and not terms.where.any():
        raise _refusal("where", table.why_nothing_meets(request.where), "/where")
    if not is_issued:
        _refuse_contradictions(terms)
    return terms


def confirming(terms: Terms, times: int) -> Terms:
    """The terms of a final batch: only the best few, wherever the request allows them."""
    return replace(terms, confirm=times, include=(), released=(), same=None, at_most=(), per=())


def _existing(candidates: CandidateSet, key: str, pointer: str) -> int:
    number = candidates.find(key)
    if number is None:
        raise _refusal("unknown-candidate", "The study has no candidate with this key. Check its spelling.", pointer)
    return number


def _refuse_included(
    inclusion: Inclusion, before: Sequence[Inclusion], excluded: Sequence[int], candidates: CandidateSet, pointer: str
) -> None:
    if inclusion.candidate in candidates.unavailable:
        message = "This candidate is switched off. Switch it on first, or leave it out."
        raise _refusal("unavailable-candidate", message, pointer)
    if inclusion.candidate in excluded:
        raise _refusal("contradiction", "This candidate is both included and excluded.", pointer)
    if any(inclusion.candidate == other.candidate for other in before):
        message = "This candidate is included twice. Write it once, with `replicates`."
        raise _refusal("contradiction", message, pointer)


def _refuse_contradictions(terms: Terms) -> None:
    """What is included must fit the composition by itself."""
    numbers = [inclusion.candidate for inclusion in terms.include for _ in range(inclusion.replicates)]
    if terms.same is not None and len({int(terms.same[number]) for number in numbers}) > 1:
        message = "The included candidates do not share one value. Include others, or leave the column out of `same`."
        raise _refusal("contradiction", message, "/composition/same")
    for grouping in terms.at_most:
        if len({int(grouping.codes[number]) for number in numbers}) > grouping.most:
            message = "The included candidates already have more values of this column. Allow more."
            raise _refusal("contradiction", message, "/composition/at_most", grouping.column)
    for grouping in terms.per:
        counts = Counter(int(grouping.codes[number]) for number in numbers)
        if max(counts.values(), default=0) > grouping.most:
            message = "The included candidates already have more measurements with one value. Allow more."
            raise _refusal("contradiction", message, "/composition/per", grouping.column)
    refuse_unaffordable(terms.allowances, numbers)


def _same(candidates: CandidateSet, columns: Sequence[Column], names: Sequence[str]) -> IndexArray:
    """(A,) a code for each combination of values."""
    codes = [_codes(candidates, _column(columns, name, f"/composition/same/{i}")) for i, name in enumerate(names)]
    _, combined = np.unique(np.stack(codes), axis=1, return_inverse=True)
    return np.asarray(combined, dtype=np.int64).ravel()


def _groupings(
    candidates: CandidateSet, columns: Sequence[Column], limits: Mapping[str, int], part: str
) -> tuple[Grouping, ...]:
    return tuple(
        Grouping(name, _codes(candidates, _column(columns, name, f"/composition/{part}/{name}")), most)
        for name, most in limits.items()
    )


def _codes(candidates: CandidateSet, column: Column) -> IndexArray:
    """(A,) a code for each value of a column."""
    if column.kind == "text" and column.role == "feature":
        return candidates.column(column).astype(np.int64)
    cells = candidates.values(column, np.arange(len(candidates)))
    numbers = {cell: number for number, cell in enumerate(dict.fromkeys(cell for cell in cells if cell is not None))}
    return np.array([MISSING if cell is None else numbers[cell] for cell in cells], dtype=np.int64)


def _column(columns: Sequence[Column], name: str, pointer: str) -> Column:
    for column in columns:
        if column.name == name and column.role != "key":
            return column
    raise _refusal("unknown-column", "The study has no feature or attribute of this name.", pointer)


def _refusal(code: str, message: str, pointer: str, column: str | None = None) -> Invalid:
    return Invalid([Finding(code, message, column=column, pointer=pointer)])
