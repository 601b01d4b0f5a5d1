"""What an ask may take: its own budget and time, and what is left of the study's budget."""

from collections.abc import Iterator, Sequence

import numpy as np
from sqlalchemy import Connection

from app.arrays import FloatArray
from app.domain.batches import AskRequest, DraftSuggestion
from app.domain.candidates import Expense
from app.domain.errors import Finding, Invalid, TermsUnmet
from app.domain.studies import Study
from app.modelling.allowances import Allowance
from app.modelling.ledger_state import LedgerState
from app.modelling.spending import spending_of
from app.services.resources import Resources
from app.storage.candidate_set import CandidateSet


def allowances_of(candidates: CandidateSet, ledger: LedgerState, request: AskRequest) -> tuple[Allowance, ...]:
    """The allowances of a request on the study as it was after `ledger`."""
    return tuple(_allowances(candidates, ledger, request))


def _allowances(candidates: CandidateSet, ledger: LedgerState, request: AskRequest) -> Iterator[Allowance]:
    if request.budget is not None:
        yield Allowance("budget", _amounts(candidates, "cost", "/budget"), request.budget)
    if request.time is not None:
        yield Allowance("time", _amounts(candidates, "duration", "/time"), request.time)
    if ledger.configuration.budget is not None:
        if not candidates.has_expenses("cost"):
            raise TermsUnmet("The study has a budget, and its candidates have no costs. Upload the list with `cost`.")
        yield _study_budget(candidates, ledger, own_reservations(ledger, request))


def _study_budget(candidates: CandidateSet, ledger: LedgerState, released: Sequence[int]) -> Allowance:
    """What is left of the study's budget, with what is committed to measurements that will not be made as planned."""
    costs = candidates.expenses("cost")
    left = spending_of(ledger, costs).left or 0.0
    return Allowance("study_budget", costs, left + float(costs[list(released)].sum()))


def still_pays(
    connection: Connection,
    resources: Resources,
    study: Study,
    chosen: Sequence[DraftSuggestion],
    released: Sequence[int] = (),
    request: AskRequest | None = None,
) -> bool:
    """Whether the study's budget pays for what was chosen: results that came meanwhile have spent some of it."""
    ledger = resources.ledger_states.read(connection, study.id, study.seq)
    if ledger.configuration.budget is None:
        return True
    own = () if request is None else own_reservations(ledger, request)
    candidates = CandidateSet(connection, resources.arrays, study)
    measured = [suggestion.candidate for suggestion in chosen for _ in range(suggestion.replicates)]
    left = _study_budget(candidates, ledger, (*released, *own)).left(np.array(measured, dtype=np.int64))
    return left >= 0


def own_reservations(ledger: LedgerState, request: AskRequest) -> tuple[int, ...]:
    """The included candidates that the worker had reserved: they are committed already, and become suggestions."""
    included = (inclusion.candidate for inclusion in request.include)
    return tuple(candidate for candidate in included if ledger.reserved.get(candidate) == request.worker)


def _amounts(candidates: CandidateSet, expense: Expense, pointer: str) -> FloatArray:
    if not candidates.has_expenses(expense):
        message = f"No column of the list is the {expense} of a candidate. Upload the list with `{expense}`."
        raise Invalid([Finding("no-expense", message, pointer=pointer)])
    return candidates.expenses(expense)


def refuse_unaffordable(allowances: Sequence[Allowance], included: Sequence[int]) -> None:
    """What is included must fit by itself."""
    for allowance in allowances:
        numbers = np.array(included, dtype=np.int64)
        if included and allowance.left(numbers) < 0:
            pointer = "/include" if allowance.name == "study_budget" else f"/{allowance.name}"
            taken, most = float(allowance.amounts[numbers].sum()), max(0.0, allowance.most)
            message = f"The included candidates take {taken:.6g}, and there is {most:.6g}. Raise it, or include fewer."
            raise Invalid([Finding("contradiction", message, pointer=pointer)])
