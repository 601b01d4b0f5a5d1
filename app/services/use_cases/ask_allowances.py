"""What an ask may take: its own budget and time, and what is left of the study's budget."""

from collections.abc import Iterator, Sequence

import numpy as np

from app.arrays import FloatArray
from app.domain.batches import AskRequest
from app.domain.candidates import Expense
from app.domain.errors import Finding, Invalid, TermsUnmet
from app.modelling.allowances import Allowance
from app.modelling.ledger_state import LedgerState
from app.modelling.spending import spending_of
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
        costs = candidates.expenses("cost")
        own = list(own_reservations(ledger, request))
        left = spending_of(ledger, costs).left or 0.0
        yield Allowance("study_budget", costs, left + float(costs[own].sum()))


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
