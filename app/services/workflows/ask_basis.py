"""What a batch is computed from: the ledger up to now, the request, and the terms that follow from both."""

from dataclasses import dataclass

from sqlalchemy import Connection

from app.compute.ledger_states import LedgerPrefix
from app.domain.access import Actor
from app.domain.batches import AskRequest, BatchSize
from app.domain.clock import now
from app.domain.errors import StudyFinished
from app.domain.studies import Configuration, Study
from app.modelling.composing import Terms
from app.services.resources import Resources
from app.services.use_cases import studies
from app.services.use_cases.ask_terms import AskForm, requested, size_of, terms_of
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
    refuse_if_finished(basis)
    return basis


def refuse_if_finished(basis: AskBasis, regret_bound: float | None = None) -> None:
    """Stop asking when the study's stop rule is met. The bound on the regret is known only after computing."""
    rule = basis.configuration.stop.reason(basis.observations, now(), regret_bound)
    if rule is not None:
        raise StudyFinished(rule=rule)
