"""Promise 15: a key does what its role says, in the studies it was granted, while it lives; nothing else."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from itertools import product
from random import Random
from unittest.mock import patch

from sqlalchemy import text, update

from app.domain.access import Role
from app.domain.backtests import BacktestState
from app.storage import studies, tables
from app.storage.backtests import ACTIVE
from app.storage.database import Database, open_database
from tests.api.lab import Lab
from tests.api.operations import CSV, Operation, operations
from tests.api.test_access import expected
from tests.reliability import lab
from tests.reliability.promise import Budget, Count, Promise, on_each_database

ANOTHER = "another"
LIVES = ("granted", "not granted", "granted another", "withdrawn", "revoked", "expired", "wrong secret", "none")


def _prove(budget: Budget, seed: int, address: str) -> Count:
    violations, done = [], set()
    with lab.opened(address, webhook_targets=("https://hooks.example.org",)) as server:
        database = open_database(address, connections=2)
        Lab(server.client, ANOTHER).begin(CSV)  # all that is tried is tried elsewhere
        for number, cell in zip(budget, _cells(server, seed), strict=False):
            violations += _wrong(server, database, number, *cell)
            done.add(cell)
            _cancel_backtests(database)
        database.dispose()
        cells = len(operations(server.client.app)) * len(Role) * len(LIVES)
    return Count(len(done), tuple(violations), {"of so many cells": cells})


Cell = tuple[Operation, Role, str]


def _cells(server: Lab, seed: int) -> Iterator[Cell]:
    """Each once, in any order."""
    cells = list(product(operations(server.client.app), Role, LIVES))
    yield from Random(seed).sample(cells, len(cells))


def _wrong(server: Lab, database: Database, number: int, operation: Operation, role: Role, life: str) -> list[str]:
    here = Lab(server.client, f"here-{number}").begin(CSV)
    if operation.needs_results:
        here.ask()
        here.report(suggestion="B1-S1", value=1)
    other, headers = _key(here, Role.DASHBOARD, [here.study])["id"], _headers(here, database, role, life)
    operation.prepare(here.client, here.study)  # which may delete the study, and then nobody is granted it any more
    before = _events(database)
    answer = operation.send(here.client, here.study, other, headers)
    refused = _refusal(operation, role, life)
    fine = answer.is_success if refused is None else answer.status_code == refused and _events(database) == before
    wrong = f"{operation.name} by {role}, {life}: {answer.status_code}, not {refused or '2xx'}, or not without effect"
    return [] if fine else [wrong]


def _refusal(operation: Operation, role: Role, life: str) -> int | None:
    if life in ("revoked", "expired", "wrong secret", "none"):
        return 401
    return expected(operation, role, life == "granted")


def _key(here: Lab, role: Role, granted: list[str], **more: str) -> dict[str, str]:
    wanted = {"name": "x", "role": role, "studies": granted, **more}
    made = here.client.post("/v1/keys", json=wanted)
    assert made.status_code == 201, made.text
    document: dict[str, str] = made.json()
    return document


def _headers(here: Lab, database: Database, role: Role, life: str) -> dict[str, str]:
    granted = {"not granted": [], "granted another": [ANOTHER]}.get(life, [here.study])
    key = _key(here, role, granted, expires_at=(datetime.now(UTC) + timedelta(days=1)).isoformat())
    if life == "withdrawn":
        here.client.delete(f"{here.path}/grants/{key['id']}")
    if life == "revoked":
        here.client.post(f"/v1/keys/{key['id']}/revocation")
    if life == "expired":
        with database.write() as connection:
            past = "2020-01-01T00:00:00.000000Z"
            connection.execute(text("UPDATE api_keys SET expires_at = :past WHERE id = :id"), {"past": past, **key})
    spelling = {"wrong secret": key["key"][:-1] + "!", "none": ""}.get(life, key["key"])
    return {"Authorization": f"Bearer {spelling}"}


def _events(database: Database) -> int:
    with database.read() as connection:
        return int(connection.execute(text("SELECT count(*) FROM events")).scalar_one())


def _cancel_backtests(database: Database) -> None:
    """Nobody wants their results, and a server takes only so many at the same time."""
    with database.write() as connection:
        for table in (tables.backtests, tables.list_backtests):
            under_way = update(table).where(table.c.state.in_(ACTIVE))
            connection.execute(under_way.values(state=BacktestState.CANCELLED))


def _all_granted() -> AbstractContextManager[object]:
    """Grants that nobody looks at."""
    return patch.object(studies, "is_granted", lambda *_: True)


PROMISE = Promise(
    number=15,
    words="A key sees only its grants",
    tested="Every operation of the OpenAPI document × every role × a key that is granted the study, not granted, "
    "granted another, withdrawn, revoked, expired, misspelled, missing; a refusal leaves no event.",
    unit="cells",
    full=2_880,
    prove=on_each_database(_prove),
    teeth={"grants that nobody looks at": _all_granted},
    short=60,
    share=0.8,
)
