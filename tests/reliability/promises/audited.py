"""Promise 27: every act of administration is on record, and whatever is done to the record is named."""

import json
from contextlib import AbstractContextManager
from random import Random
from typing import Any
from unittest.mock import patch

from fastapi.testclient import TestClient
from sqlalchemy import Connection, func, select, text

from app.domain import audit as domain
from app.domain.access import Actor
from app.domain.audit import AuditAction, AuditEntry
from app.services.use_cases.audit import verify_audit
from app.storage import audit as storage
from app.storage.database import Database, open_database
from app.storage.tables import audit
from tests.conftest import OPERATOR
from tests.reliability import lab
from tests.reliability.promise import Budget, Count, Promise, on_each_database
from tests.reliability.promises.history import _altered

COLUMNS = ("action", "actor", "details", "address", "recorded_at", "request_id", "previous", "hash")
OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}


def _prove(budget: Budget, seed: int, address: str) -> Count:
    random, count = Random(seed), Count(0)
    database = open_database(address, connections=2)
    with lab.opened(address) as opened:
        for case in budget:
            count += Count(1, tuple(_administer(opened.client, random, case)), {"acts": 7})
            count += Count(0, tuple(_unnoticed(database, random)), {"tamperings": 1})
    database.dispose()
    return count


def _administer(client: TestClient, random: Random, case: int) -> list[str]:
    """The life of a key and a study in a random order of grants; what is not on record."""
    before = _entries(client)
    study, role = f"s{case}", random.choice(("technician", "client", "dashboard", "scientist"))
    made = client.post("/v1/keys", json={"name": f"key {case}", "role": role}).json()
    client.put(f"/v1/studies/{study}", json={}).raise_for_status()
    client.put(f"/v1/studies/{study}/grants/{made['id']}").raise_for_status()
    expected = [("key-created", made["id"]), ("access-given", study)]
    deeds = ["signed-in", "study-exported", "access-taken"]
    random.shuffle(deeds)
    for deed in deeds:
        if deed == "signed-in":
            client.post("/session", json={"key": made["key"]}, headers=OWN_PAGE).raise_for_status()
            client.cookies.clear()
            expected.append((deed, made["id"]))
        elif deed == "study-exported":
            client.get(f"/v1/studies/{study}/archive").raise_for_status()
            expected.append((deed, study))
        else:
            client.delete(f"/v1/studies/{study}/grants/{made['id']}").raise_for_status()
            expected.append((deed, study))
    client.post(f"/v1/keys/{made['id']}/revocation").raise_for_status()
    client.delete(f"/v1/studies/{study}?confirm={study}").raise_for_status()
    expected += [("key-revoked", made["id"]), ("study-removed", study)]
    found = [(entry["action"], _about(entry)) for entry in _entries(client)[len(before) :]]
    return [] if found == expected else [f"on record is {found}, not {expected}"]


def _about(entry: dict[str, Any]) -> str:
    details = json.loads(entry["details"])
    return str(details.get("study") or details.get("key") or entry["actor"])


def _entries(client: TestClient) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = client.get("/v1/audit", params={"after": after, "limit": 1000}).json()
        entries, after = entries + page["entries"], page["next"]
    return entries


def _unnoticed(database: Database, random: Random) -> list[str]:
    """Tamper without the triggers, verify, take it back."""
    with database.writer.connect() as connection:
        _without_triggers(connection)
        seq = random.randint(1, int(connection.execute(select(func.max(audit.c.seq))).scalar_one()))
        how = random.choice((*COLUMNS, "deletion"))
        if how == "deletion":
            connection.execute(audit.delete().where(audit.c.seq == seq))
            connection.execute(audit.update().where(audit.c.seq == seq + 1).values(request_id="other"))
        else:
            old = connection.execute(select(audit.c[how]).where(audit.c.seq == seq)).scalar_one()
            connection.execute(audit.update().where(audit.c.seq == seq).values({how: _altered(old, random)}))
        found = verify_audit(connection, OPERATOR)
        last = found.entries < seq  # a tail that is gone is told by its head, which promise 28 looks at
        connection.rollback()
    return [] if found.broken_at == seq or last else [f"{how} of entry {seq}: verify says {found.broken_at}"]


def _without_triggers(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        for name in ("update", "delete"):
            connection.execute(text(f"DROP TRIGGER audit_refuse_{name}"))
    else:
        connection.execute(text("ALTER TABLE audit DISABLE TRIGGER ALL"))


def _addresses_unsealed() -> AbstractContextManager[object]:
    seal = domain.seal
    return patch.object(domain, "seal", lambda fields: seal({**fields, "address": None}))


def _revocations_unrecorded() -> AbstractContextManager[object]:
    append = storage.append

    def forgetful(connection: Connection, actor: Actor, action: AuditAction, details: Any) -> AuditEntry | None:
        return None if action is AuditAction.KEY_REVOKED else append(connection, actor, action, details)

    return patch.object(storage, "append", forgetful)


PROMISE = Promise(
    number=27,
    words="Every act of administration is on record",
    tested=(
        "Keys are made and revoked, access is given and taken, browsers sign in, studies are exported and deleted: "
        "each has its entry, in order. Any edit or deletion of an entry, with the triggers gone, is named."
    ),
    unit="lives of a key",
    full=10_000,
    prove=on_each_database(_prove),
    teeth={
        "a seal that leaves out the address": _addresses_unsealed,
        "revocations without an entry": _revocations_unrecorded,
    },
    short=8,
    bite=40,
    parallel=True,
    share=0.3,
)
