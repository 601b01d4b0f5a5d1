"""Ask for the next batch: read, compute with no transaction open, commit if nothing has changed; else start over."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from app.compute.ledger_states import LedgerPrefix
from app.domain.access import Actor
from app.domain.batches import AskRequest, BatchSize, Draft
from app.domain.clock import now
from app.domain.errors import Conflict, Finding, Invalid, Overloaded, Refusal, StudyFinished
from app.domain.events import Basis, BatchIssued
from app.domain.studies import Configuration
from app.failpoints import reach
from app.modelling.drafting import default_size
from app.services.resources import Resources
from app.services.transactions import Answer, WriteTransactions
from app.services.use_cases import studies
from app.services.use_cases.batches import BatchDetails, details
from app.storage import batches, ledger
from app.storage.candidate_set import unavailable

ATTEMPTS = 200  # an attempt fails only when somebody else got a batch, so a crowd is served one after the other

RenderBatch = Callable[[BatchDetails], Answer]


def ask(
    resources: Resources, tx: WriteTransactions, name: str, request: AskRequest, answer: RenderBatch
) -> Future[Answer]:
    """The worker's open batch, or a new one; the computation goes on even if nobody waits for it."""
    study = tx.read_unless_answered(studies.find, name)
    if isinstance(study, Answer):
        return _completed(study)
    asked_as = (tx.actor.key.id, tx.token, tx.fingerprint) if tx.token else None
    return resources.jobs.start((study.id, request.worker, asked_as), _run, resources, tx, name, request, answer)


def _completed(answer: Answer) -> Future[Answer]:
    future: Future[Answer] = Future()
    future.set_result(answer)
    return future


def _run(resources: Resources, tx: WriteTransactions, name: str, request: AskRequest, answer: RenderBatch) -> Answer:
    for _ in range(ATTEMPTS):
        try:
            basis = tx.read(_read_basis, resources, name, request.worker)
            if basis is None:
                return tx.write_once(_read_open_batch, resources, name, request.worker, answer=answer)
            size = _size(basis.configuration, request)
            draft = resources.compute.compute_batch(basis.prefix, size)
            _refuse_if_finished(basis, draft.record.regret_bound)
            reach("computed")
            issued = tx.write_once(_issue, resources, name, _Computed(basis, request, size, draft), answer=answer)
        except _Outdated:
            continue
        _save_snapshot(resources, basis.prefix)
        return issued
    raise Conflict("Too many workers ask at the same time. Try again.")


class _Outdated(Exception):
    """Another batch was issued meanwhile, or the study has changed."""


@dataclass(frozen=True)
class _AskBasis:
    """What a batch is computed from, as one transaction saw it."""

    prefix: LedgerPrefix
    number: int  # that the batch will have
    version: int  # of the study
    configuration: Configuration
    observations: int


@dataclass(frozen=True)
class _Computed:
    """A batch on its way into the ledger."""

    basis: _AskBasis
    request: AskRequest
    size: BatchSize
    draft: Draft

    def event(self) -> BatchIssued:
        return BatchIssued(
            number=self.basis.number,
            request=self.request,
            size=self.size,
            basis=Basis(self.basis.prefix.seq, self.basis.prefix.head),
            suggestions=self.draft.suggestions,
            record=self.draft.record,
            computation=self.draft.computation,
        )


def _read_basis(connection: Connection, actor: Actor, resources: Resources, name: str, worker: str) -> _AskBasis | None:
    """What the batch will be computed from; None if the worker has an open batch."""
    study = studies.find(connection, actor, name)
    if batches.open_of(connection, study, worker) is not None:
        return None
    study.must_be_active()
    state = resources.ledger_states.read(connection, study.id, study.seq)
    basis = _AskBasis(
        prefix=LedgerPrefix(study.id, state.seq, state.head),
        number=len(state.bases) + 1,
        version=study.version,
        configuration=state.configuration,
        observations=state.observations,
    )
    _refuse_if_finished(basis)
    return basis


def _refuse_if_finished(basis: _AskBasis, regret_bound: float | None = None) -> None:
    """Stop asking when the study's stop rule is met. The bound on the regret is known only after computing."""
    rule = basis.configuration.stop.reason(basis.observations, now(), regret_bound)
    if rule is not None:
        raise StudyFinished(rule=rule)


def _size(configuration: Configuration, request: AskRequest) -> BatchSize:
    """The requested size within the study's own limits."""
    default = default_size(configuration)
    most = min(request.max_size or max(default.most, request.min_size or 1), configuration.max_batch)
    least = max(request.min_size or 1, min(configuration.min_batch, most))
    if least > most:
        message = f"`min_size` is larger than this study allows. Use at most {most}."
        raise Invalid([Finding("sizes", message, pointer="/min_size")])
    return BatchSize(least, most)


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
    switched_off = unavailable(connection, study)
    if any(suggestion.candidate in switched_off for suggestion in computed.draft.suggestions):
        raise _Outdated
    study = ledger.append(connection, study, actor, computed.event())
    return details(connection, resources, study, batches.find(connection, study, number), new=True)


def _save_snapshot(resources: Resources, prefix: LedgerPrefix) -> None:
    """Save the model for the next process, after the answer, if that would take long to compute."""
    if not resources.models.is_worth_saving(prefix.study_id):
        return
    try:
        resources.snapshots.start(prefix.study_id, _try_to_save, resources, prefix)
    except Overloaded:
        structlog.get_logger().info("snapshot postponed", study=prefix.study_id)


def _try_to_save(resources: Resources, prefix: LedgerPrefix) -> None:
    """A snapshot that cannot be saved costs time later, and nothing else."""
    try:
        resources.models.save(prefix)
    except (Refusal, SQLAlchemyError) as error:
        structlog.get_logger().warning("snapshot not saved", study=prefix.study_id, error=repr(error))
