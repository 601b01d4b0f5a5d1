"""Whether a study's model is to be trusted, and what it has learnt of each column."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from app.compute.ledger_states import LedgerPrefix
from app.domain.access import Actor
from app.domain.diagnoses import Diagnoses
from app.domain.errors import Finding, Invalid
from app.domain.quantities import unknown_names
from app.domain.studies import Configuration, Objective, Study
from app.modelling.ledger_state import LedgerState
from app.services.resources import Resources
from app.services.transactions import ReadTransactions
from app.services.use_cases import studies
from app.storage.candidate_set import CandidateSet


@dataclass(frozen=True)
class StudyDiagnoses:
    diagnoses: Diagnoses
    unit: str
    keys: Mapping[int, str]  # of the candidates named in them


def diagnose_study(resources: Resources, tx: ReadTransactions, name: str, quantity: str = "") -> StudyDiagnoses:
    """Of one quantity; by default of the first objective."""
    study, state = tx.read(_read_state, resources, name)
    shown = _quantity_named(state.configuration, quantity)
    prefix = LedgerPrefix(study.id, state.seq, state.head)
    diagnoses = resources.compute.diagnoses(prefix, shown.name) if state.blocks else Diagnoses()
    numbers = sorted({left_out.candidate for left_out in diagnoses.left_out})
    keys = tx.read(_read_keys, resources, study, numbers)
    return StudyDiagnoses(diagnoses, shown.unit, keys)


def _quantity_named(configuration: Configuration, name: str) -> Objective:
    if not name:
        return configuration.objective
    unknown = unknown_names(configuration, {name: None})
    if unknown is not None:
        raise Invalid([Finding("unknown-quantity", unknown)])
    return next(quantity for quantity in configuration.quantities if quantity.name == name)


def _read_state(connection: Connection, actor: Actor, resources: Resources, name: str) -> tuple[Study, LedgerState]:
    study = studies.find(connection, actor, name)
    return study, resources.ledger_states.read(connection, study.id, study.seq)


def _read_keys(
    connection: Connection, _actor: Actor, resources: Resources, study: Study, numbers: list[int]
) -> dict[int, str]:
    return dict(zip(numbers, CandidateSet(connection, resources.arrays, study).keys(numbers), strict=True))
