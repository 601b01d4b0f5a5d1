"""A whole study in one file: out of one server, into another, and nothing else gets in."""

import json
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from app.domain.access import Role
from app.main import create_app
from app.services.memory import MemoryBudget
from app.services.resources import Resources
from app.services.use_cases.access import create_key
from app.settings import Settings
from app.storage import blobs, tables
from app.storage.database import Database, open_database
from app.storage.schema import migrate
from app.storage.sweeping import sweep
from tests.api import test_several_objectives as several_objectives
from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.api.operations import archive
from tests.conftest import OPERATOR
from tests.reliability.hostile.archives import DAMAGED, FORGED, Forge, other_cells, resealed, rewritten
from tests.reliability.hostile.stories import everything

PROJECTIONS = (
    tables.events,
    tables.candidate_blocks,
    tables.unavailable_candidates,
    tables.batches,
    tables.suggestions,
    tables.observations,
)


@dataclass(frozen=True)
class Elsewhere:
    """Another server, on an empty SQLite database of its own."""

    lab: Lab
    database: Database
    resources: Resources


@pytest.fixture
def elsewhere(tmp_path: Path, settings: Settings, new_admin: Callable[[Database], str]) -> Iterator[Elsewhere]:
    address = f"sqlite:///{tmp_path / 'elsewhere.sqlite3'}"
    database = open_database(address)
    migrate(database)
    app = create_app(settings.model_copy(update={"database_url": address, "data": tmp_path / "elsewhere"}))
    with TestClient(app, headers={"Authorization": f"Bearer {new_admin(database)}"}) as client:
        yield Elsewhere(Lab(client), database, app.state.resources)
    database.dispose()


def rows(database: Database) -> dict[str, list[Any]]:
    with database.read() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in PROJECTIONS
        }


def take_in(lab: Lab, content: bytes, *, accept_unverified: bool = True) -> Response:
    params = {"accept_unverified": accept_unverified}
    return lab.client.post("/v1/archives", content=content, params=params, headers={"Content-Type": "application/zip"})


def test_an_imported_study_is_the_same_in_every_row_and_gives_the_same_next_batch(
    lab: Lab, database: Database, elsewhere: Elsewhere
) -> None:
    replaced = lab.begin("key,t\nA,1\nB,2\n").client.put(
        f"{lab.path}/candidates",
        content="key,t,s\nA,1,x\nB,2,y\nC,3,x\nD,4,y\n",
        params={"replace": True},
        headers={"Content-Type": "text/csv"},
    )
    assert replaced.status_code == 201
    added = {"content": "key,t,s\nE,5,z\nF,6,x\n", "headers": {"Content-Type": "text/csv"}}
    assert lab.client.post(f"{lab.path}/candidates", **added).status_code == 201
    lab.change(repeats="allowed", description="ü")
    lab.work(2, min_size=3, max_size=3)
    lab.correct(1, -0.0)
    lab.retract(2)
    lab.switch_off("B")
    lab.batch("a", min_size=4, max_size=4)
    lab.report(suggestion="B3-S1", failed={"reason": "broke", "retry": False})
    lab.report(suggestion="B3-S2", abandoned={"reason": "no time"})
    content = lab.client.get(f"{lab.path}/archive").content
    assert take_in(elsewhere.lab, content).status_code == 201
    ours, theirs = rows(database), rows(elsewhere.database)
    assert theirs["events"].pop()[2] == "study-imported"
    assert theirs == ours
    server = lab.client.get("/v1/server").json()["server"]
    shown = elsewhere.lab.client.get(lab.path).json()
    same = {"created_at": lab.events()[0]["recorded_at"], "origin": server, "version": shown["version"]}
    assert shown == {**lab.client.get(lab.path).json(), **same}
    later = {"seq", "head", "version"}
    kept, made = ({k: v for k, v in place.get("summary").items() if k not in later} for place in (lab, elsewhere.lab))
    assert kept == made
    assert take_in(elsewhere.lab, content).status_code == 200
    told = [place.batch("next", max_size=4) for place in (lab, elsewhere.lab)]
    for batch in told:
        del batch["seconds"], batch["created_at"], batch["basis_seq"]  # the import is an event, too
    assert told[0] == told[1]
    assert all(elsewhere.lab.replays(number) for number in range(1, 5))
    assert elsewhere.lab.is_sound()
    problem(take_in(elsewhere.lab, content), 409, "study-exists")


def test_a_sweep_between_its_arrays_and_its_events_does_not_matter(
    lab: Lab, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = lab.begin().client.get(f"{lab.path}/archive").content
    store, sweeps = blobs.store, [elsewhere.database]

    def stored_and_swept(*given: Any) -> str:
        digest = store(*given)
        if sweeps:
            sweep(sweeps.pop(), before="9")
        return digest

    monkeypatch.setattr(blobs, "store", stored_and_swept)
    assert take_in(elsewhere.lab, content).status_code == 201
    assert elsewhere.lab.get("candidates") == lab.get("candidates")


@pytest.mark.parametrize("what", DAMAGED | FORGED)
def test_what_is_no_archive_is_refused_and_nothing_of_it_is_kept(lab: Lab, elsewhere: Elsewhere, what: str) -> None:
    everything(lab)
    content = (DAMAGED | FORGED)[what](lab.client.get(f"{lab.path}/archive").content)
    small = replace(
        elsewhere.resources, settings=elsewhere.resources.settings.model_copy(update={"max_body_bytes": 2**20})
    )
    elsewhere.lab.client.app.state.resources = small  # type: ignore[attr-defined]
    problem(take_in(elsewhere.lab, content), 422, "invalid-input")
    assert elsewhere.lab.client.get("/v1/studies").json()["studies"] == []
    assert {name for name, found in rows(elsewhere.database).items() if found} == set()


BLOATED: dict[str, Forge] = {
    **{what: DAMAGED[what] for what in ("a million files", "a header that lies", "a bomb")},
    "features": other_cells("numbers", lambda _array: np.zeros((8_000_000, 1))),
    "keys": other_cells("keys content", lambda _array: np.zeros(60_000_000, np.uint8)),
    "a file of 60 MB that is no array": lambda content: rewritten(
        content, lambda name, member: bytes(60_000_000) if name.startswith("arrays/") else member
    ),
}


@pytest.mark.parametrize("what", BLOATED)
def test_what_an_archive_unpacks_to_is_known_before_it_is_unpacked(lab: Lab, elsewhere: Elsewhere, what: str) -> None:
    content = BLOATED[what](lab.begin().client.get(f"{lab.path}/archive").content)
    small = {"max_body_bytes": 60 * 2**20}  # so that the texts of a block may take 15 MB
    settings = elsewhere.resources.settings.model_copy(update=small)
    elsewhere.lab.client.app.state.resources = replace(elsewhere.resources, settings=settings)  # type: ignore[attr-defined]
    tracemalloc.start()
    try:
        problem(take_in(elsewhere.lab, content), 422, "invalid-input")
        assert tracemalloc.get_traced_memory()[1] < 3 * len(content) + 20_000_000
    finally:
        tracemalloc.stop()


def test_an_archive_that_nobody_vouches_for_is_not_even_read_without_the_flag(lab: Lab, elsewhere: Elsewhere) -> None:
    content = DAMAGED["an altered event"](lab.begin().client.get(f"{lab.path}/archive").content)
    unsigned = rewritten(content, lambda name, member: None if name == "signature.json" else _nameless(name, member))
    problem(take_in(elsewhere.lab, unsigned, accept_unverified=False), 422, "unverified-archive")
    problem(take_in(elsewhere.lab, unsigned), 422, "invalid-input")


def _nameless(name: str, member: bytes) -> bytes:
    """The manifest without the server that signed it."""
    return json.dumps(json.loads(member) | {"server": None}).encode() if name == "manifest.json" else member


def test_the_memory_for_an_archive_is_reserved_by_what_it_unpacks_to(lab: Lab, elsewhere: Elsewhere) -> None:
    content = DAMAGED["a bomb"](lab.begin().client.get(f"{lab.path}/archive").content)
    memory = MemoryBudget(100_000_000)
    elsewhere.lab.client.app.state.resources = replace(elsewhere.resources, memory=memory)  # type: ignore[attr-defined]
    with memory.reserve(1):
        problem(take_in(elsewhere.lab, content), 503, "overloaded")
    problem(take_in(elsewhere.lab, content), 422, "invalid-input")
    assert memory.reserved == 0


def test_a_study_with_something_of_everything_is_imported_as_it_was(lab: Lab, elsewhere: Elsewhere) -> None:
    """The forgeries above start from this archive, so it must be fine itself."""
    everything(lab)
    content = resealed(lab.client.get(f"{lab.path}/archive").content, lambda _event: None)
    assert take_in(elsewhere.lab, content).status_code == 201
    assert elsewhere.lab.observations() == [{**observation, "origin": "unknown"} for observation in lab.observations()]


def test_an_archive_of_another_type_is_refused(lab: Lab) -> None:
    answer = lab.client.post("/v1/archives", content=archive("t"), headers={"Content-Type": "text/csv"})
    problem(answer, 415, "unsupported-media-type")


def test_an_archive_says_who_signed_it_and_the_import_says_so_for_ever(lab: Lab, elsewhere: Elsewhere) -> None:
    lab.begin().work(1, max_size=2)
    content = lab.client.get(f"{lab.path}/archive").content
    problem(take_in(elsewhere.lab, content, accept_unverified=False), 422, "unverified-archive")
    unsigned = resealed(content, lambda _event: None)
    problem(take_in(elsewhere.lab, unsigned, accept_unverified=False), 422, "unverified-archive")
    assert take_in(elsewhere.lab, content).status_code == 201
    server = lab.client.get("/v1/server").json()["server"]
    *imported, mark = elsewhere.lab.events()
    assert (mark["type"], mark["origin"], mark["previous"]) == ("study-imported", None, lab.events()[-1]["hash"])
    written = json.loads(mark["payload"])
    assert (written["head"], written["signature"], written["server"]) == (mark["previous"], "foreign", server)
    assert {event["origin"] for event in imported} == {server}
    assert {row["origin"] for row in elsewhere.lab.observations()} == {server}
    elsewhere.lab.work(1, max_size=1)
    assert [batch["origin"] for batch in elsewhere.lab.get("batches")["batches"]] == [server, None]
    assert elsewhere.lab.observations()[-1]["origin"] is None
    assert elsewhere.lab.is_sound()


def test_an_archive_of_this_server_or_of_a_trusted_one_needs_no_flag(lab: Lab, elsewhere: Elsewhere) -> None:
    content = lab.begin().client.get(f"{lab.path}/archive").content
    trusted = (lab.client.get("/v1/server").json()["public_key"],)
    settings = elsewhere.resources.settings.model_copy(update={"trusted_servers": trusted})
    elsewhere.lab.client.app.state.resources = replace(elsewhere.resources, settings=settings)  # type: ignore[attr-defined]
    assert take_in(elsewhere.lab, content, accept_unverified=False).status_code == 201
    assert json.loads(elsewhere.lab.events()[-1]["payload"])["signature"] == "trusted"
    assert take_in(lab, content, accept_unverified=False).status_code == 200


@pytest.mark.parametrize("part", ["head", "server", "exported_at", "study"])
def test_a_signature_of_something_else_is_refused_whatever_flag_is_set(
    lab: Lab, elsewhere: Elsewhere, part: str
) -> None:
    other = {"head": "0" * 64, "server": "f" * 16, "exported_at": "2026-01-01T00:00:00.000000Z", "study": "other"}

    def change(name: str, data: bytes) -> bytes:
        return json.dumps({**json.loads(data), part: other[part]}).encode() if name == "manifest.json" else data

    content = rewritten(lab.begin().client.get(f"{lab.path}/archive").content, change)
    problem(take_in(elsewhere.lab, content), 422, "invalid-input")


def test_what_came_in_an_archive_is_nobodys_own_result(lab: Lab, elsewhere: Elsewhere) -> None:
    """A forged archive names a technician's key as the reporter. The technician still may not correct it."""
    lab.begin()
    lab.report(candidate="THF-20", value=0.5)
    with elsewhere.database.write() as connection:
        key, plaintext_key = create_key(connection, OPERATOR, "a technician", Role.TECHNICIAN)
    forged = resealed(lab.client.get(f"{lab.path}/archive").content, lambda event: event.update(actor=key.id))
    assert take_in(elsewhere.lab, forged).status_code == 201
    assert elsewhere.lab.client.put(f"{lab.path}/grants/{key.id}").is_success
    elsewhere.lab.client.headers["Authorization"] = f"Bearer {plaintext_key}"
    problem(elsewhere.lab.correct(1, 0.7), 403, "forbidden")


def test_whom_another_server_let_in_is_not_let_in_here(lab: Lab, elsewhere: Elsewhere) -> None:
    with elsewhere.database.write() as connection:
        key, plaintext_key = create_key(connection, OPERATOR, "a client", Role.CLIENT)
    lab.begin().switch_off("DMF-20")

    def grant(event: dict[str, Any]) -> None:
        if event["type"] == "candidates-switched":
            event.update(type="access-granted", payload={"key_id": key.id})

    forged = resealed(lab.client.get(f"{lab.path}/archive").content, grant)
    assert take_in(elsewhere.lab, forged).status_code == 201
    elsewhere.lab.client.headers["Authorization"] = f"Bearer {plaintext_key}"
    problem(elsewhere.lab.client.get(lab.path), 404, "study-not-found")


def test_an_archive_of_several_quantities_comes_back_the_same(lab: Lab, elsewhere: Elsewhere) -> None:
    several_objectives.begin(lab)
    several_objectives.work(lab, 2)
    lab.report(candidate="DMF-20", values={"yield": 0.1})
    lab.report(candidate="DMF-20", values={"cost": 0.3})
    content = lab.client.get(f"{lab.path}/archive").content
    assert take_in(elsewhere.lab, content).status_code == 201
    assert elsewhere.lab.get("front") == lab.get("front")
    assert elsewhere.lab.replays(2)
