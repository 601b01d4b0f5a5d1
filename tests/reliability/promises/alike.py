"""Promise 13: the same steps on SQLite and on PostgreSQL get the same answers, to the last bit of every batch."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from unittest.mock import patch

from sqlalchemy import Connection

from app.domain.ledger import LedgerEntry
from app.domain.observations import Measured, ReportedObservation
from app.domain.studies import Study
from app.storage import observations
from tests.databases import DIALECTS, Databases
from tests.reliability import lab
from tests.reliability.promise import Budget, Count, Promise
from tests.reliability.story.telling import tell


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    with ExitStack() as stack:
        addresses = [stack.enter_context(databases.fresh(dialect)) for dialect in DIALECTS]
        return tell(budget, seed, [[stack.enter_context(lab.opened(address))] for address in addresses])


def _inexact() -> AbstractContextManager[object]:
    """Values stored as SQLite stores a REAL: it has no −0.0."""
    add = observations.add_reported

    def rounded(
        connection: Connection, study: Study, entry: LedgerEntry, reported: Sequence[ReportedObservation]
    ) -> None:
        if connection.dialect.name == "sqlite":
            reported = [replace(one, values=_as_real(one.values)) for one in reported]
        add(connection, study, entry, reported)

    return patch.object(observations, "add_reported", rounded)


def _as_real(values: Mapping[str, Measured]) -> dict[str, Measured]:
    return {name: Measured(measured.value + 0.0) for name, measured in values.items()}


PROMISE = Promise(
    number=13,
    words="SQLite and PostgreSQL behave alike",
    tested="The stories of promise 5, each told to a server on either database; all answers are compared.",
    unit="stories",
    full=20_000,
    prove=_prove,
    teeth={"values read from a REAL column": _inexact},
    short=1,
    parallel=True,
    share=3,
)
