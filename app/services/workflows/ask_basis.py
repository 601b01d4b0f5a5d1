"""What a batch is computed from: the ledger up to now, the request, and the terms that follow from both."""

from dataclasses import dataclass, replace

from sqlalchemy import Connection

from app.compute.ledger_states import LedgerPrefix
from app.domain.access import Actor
from app.domain.batches import AskRequest, BatchSize, Draft
from app.domain.clock import now
from app.domain.errors import CandidatesExhausted, StudyFinished
from app.domain.studies import Configuration, Study
from app.modelling.terms import Terms
from app.services.resources import Resources
from app.services.use_cases import studies
from app.services.use_cases.ask_terms import AskForm, confirming, requested, size_of, terms_of
from app.storage import batches


@dataclass(frozen=True)
class AskBasis:
    """What a batch is computed from, as one transaction saw it."""

    prefix: LedgerPrefix
    number: int  # that the batch will have
    version: int  # of the study
    configuration: Configuration
    observations: int
    request: AskRequest
    size: BatchSize
    terms: Terms


def read_basis(connection: Connection, actor: Actor, resources: Resources, name: str, form: AskForm) -> AskBasis:
    """What the next batch of the study is computed from."""
    return basis_of(connection, resources, studies.find(connection, actor, name), form)


def read_basis_unless_open(
    connection: Connection, actor: Actor, resources: Resources, name: str, form: AskForm
) -> AskBasis | None:
    """As `read_basis`; None if the worker has an open batch."""
    study = studies.find(connection, actor, name)
    is_open = batches.open_of(connection, study, form.worker) is not None
    return None if is_open else basis_of(connection, resources, study, form)


def basis_of(connection: Connection, resources: Resources, study: Study, form: AskForm) -> AskBasis:
    study.must_be_active()
    state = resources.ledger_states.read(connection, study.id, study.seq)
    request = requested(connection, resources, study, state.configuration, form)
    if state.configuration.stop.reason(state.observations, now()) is not None:
        request = replace(request, confirm=state.configuration.confirm)
    basis = AskBasis(
        prefix=LedgerPrefix(study.id, state.seq, state.head),
        number=len(state.bases) + 1,
        version=study.version,
        configuration=state.configuration,
        observations=state.observations,
        request=request,
        size=size_of(state.configuration, request),
        terms=terms_of(connection, resources, study, state, request),
    )
    rule = _rule_met(basis)
    if rule is not None and basis.request.confirm is None:
        raise StudyFinished(rule=rule)
    return basis


def compute(resources: Resources, basis: AskBasis) -> tuple[AskBasis, Draft]:
    """The batch, and what it was computed from: if the study is finished, the best few are confirmed first.

    The bound on the regret is known only after computing.
    """
    rule = _rule_met(basis)
    if basis.request.confirm is None:
        draft = resources.compute.compute_batch(basis.prefix, basis.size, basis.terms)
        rule = _rule_met(basis, draft.record.regret_bound)
        if rule is None:
            return basis, draft
        basis = _confirming(basis, rule)
    try:
        return basis, resources.compute.compute_batch(basis.prefix, basis.size, basis.terms)
    except CandidatesExhausted:  # the best few have been measured often enough
        raise StudyFinished(rule=rule) from None


def _confirming(basis: AskBasis, rule: str) -> AskBasis:
    """What the final batch is computed from; refused if the study does not ask for one."""
    times = basis.configuration.confirm
    if times is None:
        raise StudyFinished(rule=rule)
    request = replace(basis.request, confirm=times)
    size = size_of(basis.configuration, request)
    return replace(basis, request=request, size=size, terms=confirming(basis.terms, times))


def _rule_met(basis: AskBasis, regret_bound: float | None = None) -> str | None:
    """The stop rule that is met, if any."""
    return basis.configuration.stop.reason(basis.observations, now(), regret_bound)
