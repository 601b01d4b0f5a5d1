"""Arrays that nothing names are swept, and nothing else; whoever stores or names one meanwhile does not notice."""

from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete, func, select

from app.cli.serving import tidy
from app.services.workflows import upload
from app.settings import Settings
from app.storage import blobs, sweeping
from app.storage.database import Database
from app.storage.tables import blob_chunks, snapshots
from app.storage.tables import blobs as headers
from tests.api.lab import Lab

ALL = "9"  # a moment after every other
CSV = {"Content-Type": "text/csv"}


@pytest.fixture
def lab(admin: TestClient) -> Lab:
    return Lab(admin, "s")


def counted(database: Database) -> tuple[int, int]:
    """Blobs and chunks."""
    with database.read() as connection:
        tables = (headers, blob_chunks)
        blobs_, chunks = (connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables)
    return blobs_, chunks


def loads(database: Database, digest: str) -> Any:
    with database.read() as connection:
        return blobs.load(connection, digest)


def refused(lab: Lab) -> None:
    """A list for a study that has batches is stored, and then refused."""
    answer = lab.client.put(f"{lab.path}/candidates", content="key,q\nx,1\ny,2\n", headers=CSV)
    assert answer.status_code == 409


def test_refused_uploads_leave_nothing(lab: Lab, database: Database) -> None:
    lab.begin().ask()
    lab.client.app.state.resources.snapshots.close()
    before = counted(database)
    refused(lab)
    assert counted(database) > before
    assert sweeping.sweep(database, ALL) > 0
    assert counted(database) == before
    assert sweeping.sweep(database, ALL) == 0


def test_what_the_ledger_or_a_snapshot_names_stays(lab: Lab, database: Database) -> None:
    """Also a list that was replaced: an archive of the study has it."""
    lab.begin("key,t\nold,1\nolder,2\n")
    other = {"content": "key,q\nx,1\ny,2\n", "headers": CSV, "params": {"replace": True}}
    assert lab.client.put(f"{lab.path}/candidates", **other).status_code == 201
    lab.ask()
    lab.report(suggestion="B1-S1", value=1)
    lab.client.app.state.resources.snapshots.close()
    before = counted(database)
    assert sweeping.sweep(database, ALL) == 0
    assert counted(database) == before
    assert lab.client.get(f"{lab.path}/archive").is_success


def test_young_blobs_stay(database: Database) -> None:
    """Their upload may not have come to its end."""
    digest = blobs.store(database, np.arange(10.0))
    assert sweeping.sweep(database, before="2000") == 0
    assert loads(database, digest).size == 10


def test_what_a_death_cut_off_goes(database: Database) -> None:
    blobs.store(database, np.arange(5_000_000.0))
    with database.write() as connection:
        connection.execute(delete(headers))
    assert sweeping.sweep(database, before="2000") == 1
    assert counted(database) == (0, 0)


def test_snapshots_of_deleted_studies_go(lab: Lab, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.compute.models.WORTH_SAVING", 0.0)
    lab.begin()
    uploaded = counted(database)
    lab.work(2)
    lab.client.app.state.resources.snapshots.close()
    assert counted(database) > uploaded
    assert lab.client.delete(f"{lab.path}?confirm=s").status_code == 204
    sweeping.sweep(database, ALL)
    assert counted(database) == uploaded
    with database.read() as connection:
        assert connection.execute(select(snapshots)).all() == []


def test_a_sweep_while_an_array_is_stored(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its chunks go before they are a blob; they are written again."""
    monkeypatch.setattr(blobs, "CHUNKS_PER_COMMIT", 1)
    monkeypatch.setattr(blobs, "reach", once(lambda: sweeping.sweep(database, ALL)))
    array = np.arange(300_000.0)
    digest = blobs.store(database, array)
    assert np.array_equal(loads(database, digest), array)


@pytest.mark.parametrize("method", ["put", "post"])
def test_a_sweep_between_an_array_and_its_name(
    lab: Lab, database: Database, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """The upload stores it again."""
    store, swept = upload._store_arrays, once(lambda: sweeping.sweep(database, ALL))
    lab.client.put(lab.path, json={})

    def stored_and_swept(*given: Any) -> Any:
        named = store(*given)
        swept()
        return named

    monkeypatch.setattr(upload, "_store_arrays", stored_and_swept)
    answer = getattr(lab.client, method)(f"{lab.path}/candidates", content="key,q\nx,1\ny,2\n", headers=CSV)
    assert answer.status_code == 201, answer.text
    assert [one["key"] for one in lab.get("candidates")["candidates"]] == ["x", "y"]


def test_a_start_sweeps_what_is_older_than_a_day(lab: Lab, database: Database) -> None:
    lab.begin().ask()
    lab.client.app.state.resources.snapshots.close()
    before = counted(database)
    refused(lab)
    young = counted(database)
    tidy(database, Settings())
    assert counted(database) == young
    with database.write() as connection:
        connection.execute(headers.update().values(created_at="2020-01-01T00:00:00.000000Z"))
    tidy(database, Settings())
    assert counted(database) == before


def once(deed: Any) -> Any:
    """Does it the first time it is called."""
    left = [deed]

    def called(*_given: object) -> None:
        if left:
            left.pop()()

    return called
