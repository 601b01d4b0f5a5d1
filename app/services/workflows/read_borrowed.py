"""What a study has borrowed, and how much of it counts.

The model says so: what an earlier study expects is one of its columns, with an importance like the others.
"""

from sqlalchemy import Connection

from app.compute.ledger_states import LedgerPrefix
from app.domain.access import Actor
from app.domain.studies import Study
from app.modelling.diagnosing import earlier_name
from app.modelling.ledger_state import LedgerState
from app.services.resources import Resources
from app.services.transactions import ReadTransactions
from app.services.use_cases import studies
from app.services.use_cases.borrowing import Borrowed, described


def read_borrowed(resources: Resources, tx: ReadTransactions, name: str) -> tuple[Borrowed, ...]:
    """Each earlier study, and its importance once there are results."""
    study, state = tx.read(_read_state, resources, name)
    if not state.borrowed:
        return ()
    diagnoses = resources.compute.diagnoses(LedgerPrefix(study.id, state.seq, state.head))
    importance = {effect.name: effect.importance for effect in diagnoses.columns}
    return tuple(described(study, results, importance.get(earlier_name(results.study))) for results in state.borrowed)


def _read_state(connection: Connection, actor: Actor, resources: Resources, name: str) -> tuple[Study, LedgerState]:
    study = studies.find(connection, actor, name)
    return study, resources.ledger_states.read(connection, study.id, study.seq)
