"""Ask for the next batch: read, compute with no transaction open, commit if nothing has changed; else start over."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from app.compute.ledger_states import LedgerPrefix
from app.deadline import check_deadline
from app.domain.access import Actor
from app.domain.batches import Draft
from app.domain.errors import Conflict, Overloaded, Refusal
from app.domain.events import Basis, BatchIssued
from app.failpoints import reach
from app.fair_threads import Job
from app.services.resources import Resources
from app.services.transactions import Answer, WriteTransactions
from app.services.use_cases import studies
from app.services.use_cases.ask_allowances import still_pays
from app.services.use_cases.ask_terms import AskForm
from app.services.use_cases.batches import BatchDetails, details
from app.services.workflows.ask_basis import AskBasis, compute, read_basis_unless_open
from app.services.workflows.preview import must_be_as_previewed
from app.storage import batches, ledger
from app.storage.candidate_set import unavailable

ATTEMPTS = 200  # an attempt fails only when somebody else got a batch, so a crowd is served one after the other

RenderBatch = Callable[[BatchDetails], Answer]


def ask(resources: Resources, tx: WriteTransactions, name: str, form: AskForm, answer: RenderBatch) -> Job[Answer]:
    """The worker's open batch, or a new one; the computation goes on as long as somebody wants it."""
    study = tx.read_unless_answered(studies.find, name)
    if isinstance(study, Answer):
        return _completed(study)
    asked_as = (tx.actor.key.id, tx.token, tx.fingerprint) if tx.token else None
    job = (study.id, form.worker, asked_as)
    return resources.jobs.start(tx.actor.key.id, job, _run, resources, tx, name, form, answer)


def _completed(answer: Answer) -> Job[Answer]:
    future: Future[Answer] = Future()
    future.set_result(answer)
    return Job(future)


def _run(resources: Resources, tx: WriteTransactions, name: str, form: AskForm, answer: RenderBatch) -> Answer:
    for _ in range(ATTEMPTS):
        check_deadline()
        try:
            basis = tx.read(read_basis_unless_open, resources, name, form)
            if basis is None:
                return tx.write_once(_read_open_batch, resources, name, form.worker, answer=answer)
            basis, draft = compute(resources, basis)
            if form.confirm is not None:
                tx.read(must_be_as_previewed, name, form.confirm, basis, draft)
            reach("computed")
            issued = tx.write_once(_issue, resources, name, _Computed(basis, draft), answer=answer)
        except _Outdated:
            continue
        _save_snapshot(resources, basis.prefix)
        return issued
    raise Conflict("Too many workers ask at the same time. Try again.")


class _Outdated(Exception):
    """Another batch was issued meanwhile, or the study has changed."""


@dataclass(frozen=True)
class _Computed:
    """A batch on its way into the ledger."""

    basis: AskBasis
    draft: Draft

    def event(self) -> BatchIssued:
        return BatchIssued(
            number=self.basis.number,
            request=self.basis.request,
            size=self.basis.size,
            basis=Basis(self.basis.prefix.seq, self.basis.prefix.head),
            suggestions=self.draft.suggestions,
            record=self.draft.record,
            computation=self.draft.computation,
        )


def _read_open_batch(
    connection: Connection, actor: Actor, resources: Resources, name: str, worker: str
) -> BatchDetails:
    study = studies.find(connection, actor, name)
    batch = batches.open_of(connection, study, worker)
    if batch is None:
        raise _Outdated
    return details(connection, resources, study, batch)


def _issue(connection: Connection, actor: Actor, resources: Resources, name: str, computed: _Computed) -> BatchDetails:
    """Commit the batch if its number is still free and the study is still what it was computed for."""
    study = studies.lock(connection, actor, name)
    study.must_be_active()
    number = computed.basis.number
    if study.version != computed.basis.version or batches.last_number(connection, study) != number - 1:
        raise _Outdated
    switched_off, chosen = unavailable(connection, study), computed.draft.suggestions
    if any(suggestion.candidate in switched_off for suggestion in chosen):
        raise _Outdated
    others = study.reserved_by_others(computed.basis.request.worker)
    if any(suggestion.candidate in others for suggestion in chosen):
        raise _Outdated
    basis = computed.basis
    has_budget = basis.configuration.budget is not None and study.seq > basis.prefix.seq
    if has_budget and not still_pays(connection, resources, study, chosen, request=basis.request):
        raise _Outdated
    study = ledger.append(connection, study, actor, computed.event())
    return details(connection, resources, study, batches.find(connection, study, number), new=True)


def _save_snapshot(resources: Resources, prefix: LedgerPrefix) -> None:
    """Save the model for the next process, after the answer, if that would take long to compute."""
    if not resources.compute.is_worth_saving(prefix.study_id):
        return
    try:
        resources.snapshots.start(f"study {prefix.study_id}", prefix.study_id, _try_to_save, resources, prefix)
    except Overloaded:
        structlog.get_logger().info("snapshot postponed", study=prefix.study_id)


def _try_to_save(resources: Resources, prefix: LedgerPrefix) -> None:
    """A snapshot that cannot be saved costs time later, and nothing else."""
    try:
        resources.compute.save(prefix)
    except (Refusal, SQLAlchemyError) as error:
        structlog.get_logger().warning("snapshot not saved", study=prefix.study_id, error=repr(error))
