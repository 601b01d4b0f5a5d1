"""Delete asks for the name and can be undone for a while; erasing cannot, and leaves nothing but the chain."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import MetaData, select, update
from sqlalchemy.exc import DBAPIError

from app.services.maintenance import must_have_kept_heads
from app.services.workflows.purge import erase_due
from app.settings import Settings
from app.storage.database import Database
from app.storage.tables import blob_chunks, blobs, events
from tests.api.conftest import problem
from tests.api.lab import Lab

SECRETS = ("MeOH-90", "Ada Byron", "slightly yellow", "0.7372", "my reason")


def gone(lab: Lab, **params: str) -> None:
    assert lab.client.delete(lab.path, params={"confirm": lab.study, **params}).status_code == 204


def purged(lab: Lab, address: str | None = None) -> dict[str, Any]:
    address = address or lab.study
    answer = lab.client.post(f"/v1/studies/{address}/purge", json={"confirm": address})
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


def busy(lab: Lab) -> Lab:
    lab.begin().work(2, max_size=3)
    lab.report(candidate="MeOH-90", value=0.7372, note="slightly yellow", measured_by="Ada Byron")
    lab.change(state="paused", reason="my reason")
    return lab


@pytest.mark.parametrize("confirm", [None, "", "S", "another"])
def test_deleting_and_purging_ask_for_the_name(lab: Lab, confirm: str | None) -> None:
    lab.begin()
    for refused in (
        lab.client.delete(lab.path, params={} if confirm is None else {"confirm": confirm}),
        lab.client.post(f"{lab.path}/purge", json={"confirm": confirm}),
    ):
        assert problem(refused, 422, "invalid-input")["errors"][0]["pointer"] == "/confirm"
    assert lab.client.get(lab.path).status_code == 200


def test_a_deleted_study_can_be_restored_as_it_was(lab: Lab) -> None:
    busy(lab)
    before = lab.client.get(lab.path).json()
    gone(lab, reason="by mistake")
    (listed,) = lab.client.get("/v1/deleted-studies").json()["studies"]
    assert (listed["name"], listed["address"], listed["reason"]) == ("s", "s", "by mistake")
    kept = datetime.fromisoformat(listed["erased_at"]) - datetime.fromisoformat(listed["deleted_at"])
    assert kept == timedelta(days=30)
    restored = lab.client.post(f"{lab.path}/restoration", json={})
    assert restored.json() == before | {"version": before["version"] + 2}
    assert lab.client.get("/v1/deleted-studies").json() == {"studies": []}
    assert lab.client.post(f"{lab.path}/verify").json()["sound"]
    problem(lab.client.post(f"{lab.path}/restoration", json={}), 409, "study-exists")
    exported = lab.client.get(f"{lab.path}/archive").content
    params = {"accept_unverified": "true", "name": "copy"}
    headers = {"Content-Type": "application/zip"}
    assert lab.client.post("/v1/archives", content=exported, params=params, headers=headers).status_code == 201


def test_the_name_of_a_deleted_study_can_be_used_again(
    lab: Lab, database: Database, settings: Settings, admin: TestClient
) -> None:
    busy(lab)
    heads = admin.get("/v1/heads").json()
    gone(lab)
    newer = Lab(admin).begin()
    assert newer.client.get(newer.path).json()["candidates"] == 24
    problem(admin.post("/v1/studies/s/restoration", json={}), 409, "study-exists")
    (listed,) = admin.get("/v1/deleted-studies").json()["studies"]
    assert (listed["name"], listed["address"][0]) == ("s", "~")
    problem(admin.post(f"/v1/studies/{listed['address']}/restoration", json={}), 409, "study-exists")
    assert admin.post("/v1/heads/check", json=heads).json()["kept"]
    must_have_kept_heads(database, settings.heads_file, accept_loss=False)

    gone(newer)
    assert admin.post(f"/v1/studies/{listed['address']}/restoration", json={}).json()["state"] == "paused"
    assert admin.post("/v1/studies/s/verify").json()["sound"]
    assert len(admin.get("/v1/studies/s/observations").json()["observations"]) > 3
    addresses = [study["address"] for study in admin.get("/v1/deleted-studies").json()["studies"]]
    assert [address[0] for address in addresses] == ["~"]


def everything(database: Database) -> str:
    """All texts and bytes of the database."""
    found = MetaData()
    with database.read() as connection:
        found.reflect(connection)
        return "\n".join(
            str(row)
            for table in found.tables.values()
            if table.name != "audit"
            for row in connection.execute(select(table))
        )


def test_an_erased_study_leaves_its_chain_and_nothing_else(
    lab: Lab, database: Database, settings: Settings, admin: TestClient
) -> None:
    busy(lab)
    with database.read() as connection:
        chain = connection.execute(select(events.c.seq, events.c.type, events.c.hash).order_by(events.c.seq)).all()
    assert all(secret in everything(database) for secret in SECRETS)
    heads = admin.get("/v1/heads").json()
    assert purged(lab) == {"study": "s", "copies": []}
    left = everything(database)
    assert [secret for secret in SECRETS if secret in left] == []
    with database.read() as connection:
        after = connection.execute(select(events.c.seq, events.c.type, events.c.hash).order_by(events.c.seq)).all()
        assert connection.execute(select(blobs)).all() == connection.execute(select(blob_chunks)).all() == []
    assert after[: len(chain)] == chain
    assert [kind for _, kind, _ in after[len(chain) :]] == ["study-deleted", "study-erased"]
    assert admin.post("/v1/heads/check", json=heads).json()["kept"]
    must_have_kept_heads(database, settings.heads_file, accept_loss=False)
    problem(admin.get(lab.path), 410, "study-deleted")
    problem(admin.post(f"{lab.path}/restoration", json={}), 410, "study-deleted")
    problem(admin.post(f"{lab.path}/purge", json={"confirm": "s"}), 410, "study-deleted")
    actions = [entry["action"] for entry in admin.get("/v1/audit").json()["entries"]]
    assert "study-purged" in actions
    assert Lab(admin).begin().work(1)  # the name is free


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_the_file_of_sqlite_holds_nothing_of_an_erased_study(lab: Lab, database: Database, address: str) -> None:
    busy(lab)
    database.dispose()
    purged(lab)
    file = Path(address.removeprefix("sqlite:///"))
    stored = file.read_bytes() + file.with_name(f"{file.name}-wal").read_bytes()
    assert [secret for secret in SECRETS if secret.encode() in stored] == []


def test_what_other_studies_hold_is_named_and_kept(lab: Lab, admin: TestClient) -> None:
    lab.begin().work(2)
    admin.post(f"{lab.path}/fork", json={"name": "forked"}).raise_for_status()
    borrower = Lab(admin, "borrower").begin()
    admin.put(f"{borrower.path}/borrowed", json={"from": ["s"]}).raise_for_status()
    assert purged(lab)["copies"] == ["borrower", "forked"]
    for name in ("borrower", "forked"):
        assert admin.post(f"/v1/studies/{name}/verify").json()["sound"], name
    assert Lab(admin, "forked").batch()


def test_a_study_is_erased_when_its_time_has_come(lab: Lab, database: Database, admin: TestClient) -> None:
    busy(lab)
    gone(lab)
    assert erase_due(database, 30) == 0
    assert len(admin.get("/v1/deleted-studies").json()["studies"]) == 1
    assert erase_due(database, 0) == 1
    assert erase_due(database, 0) == 0
    assert admin.get("/v1/deleted-studies").json() == {"studies": []}
    assert [secret for secret in SECRETS if secret in everything(database)] == []


def test_the_ledger_of_a_study_that_is_not_erased_stays_append_only(lab: Lab, database: Database) -> None:
    busy(lab)
    gone(lab)
    for change in ({"payload": "", "reason": None}, {"payload": "{}"}, {"hash": "0" * 64}):
        with pytest.raises(DBAPIError, match="append-only"), database.writer.begin() as connection:
            connection.execute(update(events).values(**change))


def test_only_an_admin_purges_and_a_stranger_restores_nothing(lab: Lab, new_key: Any) -> None:
    lab.begin()
    owner = {"Authorization": f"Bearer {new_key('scientist', 's')}"}
    stranger = {"Authorization": f"Bearer {new_key('scientist')}"}
    problem(lab.client.post(f"{lab.path}/purge", json={"confirm": "s"}, headers=owner), 403, "forbidden")
    gone(lab)
    assert lab.client.get("/v1/deleted-studies", headers=stranger).json() == {"studies": []}
    problem(lab.client.post(f"{lab.path}/restoration", json={}, headers=stranger), 404, "study-not-found")
    assert lab.client.post(f"{lab.path}/restoration", json={}, headers=owner).status_code == 200
