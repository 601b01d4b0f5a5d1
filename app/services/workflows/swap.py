"""Swap a pending suggestion for the next best candidate: the batch keeps its number, the ledger shows both."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Connection

from app.arrays import IndexArray
from app.compute.ledger_states import LedgerPrefix
from app.deadline import check_deadline
from app.domain.access import Actor
from app.domain.batches import BatchSize, Draft, Suggestion, SuggestionId, SuggestionState
from app.domain.errors import Conflict, SuggestionNotFound, SuggestionNotPending
from app.domain.events import Basis, CandidateReference, CandidatesSwitched, SuggestionSwapped
from app.domain.studies import Study
from app.modelling.allowances import Allowance
from app.modelling.terms import Terms
from app.services.resources import Resources
from app.services.transactions import Answer, WriteTransactions
from app.services.use_cases import studies
from app.services.use_cases.ask_allowances import still_pays
from app.services.use_cases.ask_terms import terms_of
from app.services.use_cases.batches import BatchDetails, details, issued_as
from app.storage import batches, ledger, observations
from app.storage.candidate_set import CandidateSet, unavailable

ATTEMPTS = 20
OUT_OF_STOCK = frozenset({"not in stock", "out of stock"})
"""Reasons for which no other batch can measure the candidate either."""
_MEMBERS = (SuggestionState.PENDING, SuggestionState.OBSERVED)
_ONE = BatchSize(1, 1)


@dataclass(frozen=True)
class SwapForm:
    """Which suggestion, why, and whether its candidate is switched off as well; None: as the reason says."""

    suggestion: SuggestionId
    reason: str
    switch_off: bool | None = None

    @property
    def switches_off(self) -> bool:
        return self.reason.strip(" .").casefold() in OUT_OF_STOCK if self.switch_off is None else self.switch_off


@dataclass(frozen=True)
class _SwapBasis:
    """What a replacement is computed from, as one transaction saw it."""

    prefix: LedgerPrefix
    version: int  # of the study
    batches: int
    old: Suggestion
    rank: int  # of the replacement
    present: tuple[int, ...]
    terms: Terms


class _Outdated(Exception):
    """A batch was issued meanwhile, or the study has changed."""


def swap(
    resources: Resources, tx: WriteTransactions, name: str, form: SwapForm, answer: Callable[[BatchDetails], Answer]
) -> Answer:
    """The batch with the next best candidate, under the terms of the batch, in place of this one."""
    stored = tx.stored_answer()
    if stored is not None:
        return stored
    for _ in range(ATTEMPTS):
        check_deadline()
        basis = tx.read(_read_basis, resources, name, form.suggestion)
        draft = resources.compute.compute_batch(basis.prefix, _ONE, basis.terms)
        try:
            return tx.write_once(_swap, resources, name, form, basis, draft, answer=answer)
        except _Outdated:
            continue
    raise Conflict("The study changes all the time. Try again.")


def terms_of_swap(terms: Terms, old: int, replicates: int, present: tuple[int, ...]) -> Terms:
    """The terms of the batch for one more member, without the old candidate."""
    excluded = () if terms.exclude is None else tuple(int(number) for number in terms.exclude)
    return replace(
        terms,
        confirm=None,
        allowances=tuple(_for_one_more(allowance, old, replicates, present) for allowance in terms.allowances),
        include=(),
        exclude=_numbers((*excluded, old, *present)),
        present=present,
        released=(old,) * replicates,
    )


def _for_one_more(allowance: Allowance, old: int, replicates: int, present: tuple[int, ...]) -> Allowance:
    """The allowance for a member that is measured `replicates` times.

    What is left of the study's budget does not include the members and the old candidate, which are committed already.
    """
    amounts, members = allowance.amounts, list(present)
    paid = [*members, *(old,) * replicates] if allowance.name == "study_budget" else []
    left = allowance.most + float(amounts[paid].sum()) - float(amounts[members].sum())
    return replace(allowance, amounts=amounts * replicates, most=left + replicates * float(amounts[members].sum()))


def _read_basis(
    connection: Connection, actor: Actor, resources: Resources, name: str, suggestion: SuggestionId
) -> _SwapBasis:
    study = studies.find(connection, actor, name)
    study.must_be_active()
    members = batches.suggestions_of(connection, study, [suggestion.batch])
    old = _pending(connection, study, members, suggestion)
    state = resources.ledger_states.read(connection, study.id, study.seq)
    issued = issued_as(connection, study, suggestion.batch)
    others = [member for member in members if member.id != suggestion]
    present = [member.candidate for member in others if member.state in _MEMBERS for _ in range(member.replicates)]
    if issued.request.budget is not None or issued.request.time is not None:  # what failed has been paid for, too
        present += [member.candidate for member in others if member.state is SuggestionState.FAILED]
    terms = terms_of(connection, resources, study, state, issued.request, is_issued=True)
    return _SwapBasis(
        prefix=LedgerPrefix(study.id, state.seq, state.head),
        version=study.version,
        batches=len(state.bases),
        old=old,
        rank=len(members) + 1,
        present=tuple(present),
        terms=terms_of_swap(terms, old.candidate, old.replicates, tuple(present)),
    )


def _swap(
    connection: Connection,
    actor: Actor,
    resources: Resources,
    name: str,
    form: SwapForm,
    basis: _SwapBasis,
    draft: Draft,
) -> BatchDetails:
    study = studies.lock(connection, actor, name)
    study.must_be_active()
    members = batches.suggestions_of(connection, study, [form.suggestion.batch])
    old = _pending(connection, study, members, form.suggestion)
    unchanged = study.version == basis.version and batches.last_number(connection, study) == basis.batches
    [drafted] = draft.suggestions
    taken = {*unavailable(connection, study), *(reservation.candidate for reservation in study.reservations)}
    if not unchanged or len(members) + 1 != basis.rank or drafted.candidate in taken:
        raise _Outdated
    swapped = [replace(drafted, replicates=old.replicates)]
    if study.seq > basis.prefix.seq and not still_pays(
        connection, resources, study, swapped, [old.candidate] * old.replicates
    ):
        raise _Outdated
    key = CandidateSet(connection, resources.arrays, study).keys([old.candidate])[0]
    event = SuggestionSwapped(
        suggestion=form.suggestion,
        candidate=old.candidate,
        key=key,
        rank=basis.rank,
        replacement=swapped[0],
        present=basis.present,
        basis=Basis(basis.prefix.seq, basis.prefix.head),
        computation=draft.computation,
    )
    study = ledger.append(connection, study, actor, event, form.reason)
    if form.switches_off:
        switched = CandidatesSwitched((CandidateReference(old.candidate, key),), available=False)
        study = ledger.append(connection, study, actor, switched, form.reason)
    return details(connection, resources, study, batches.find(connection, study, form.suggestion.batch))


def _pending(
    connection: Connection, study: Study, members: Sequence[Suggestion], suggestion: SuggestionId
) -> Suggestion:
    """The suggestion, if it can be swapped: it is pending and none of its replicates has a result."""
    found = next((member for member in members if member.id == suggestion), None)
    if found is None:
        raise SuggestionNotFound
    results = observations.of_suggestions(connection, study, [suggestion.batch])
    if found.state is not SuggestionState.PENDING or any(result.suggestion == suggestion for result in results):
        raise SuggestionNotPending
    return found


def _numbers(candidates: Iterable[int]) -> IndexArray:
    return np.array(sorted(set(candidates)), dtype=np.int64)
