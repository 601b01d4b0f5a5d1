"""A whole study in one file: out of one server, into another, and nothing else gets in."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from app.domain.codec import canonical
from app.domain.ledger import seal
from app.main import create_app
from app.services.resources import Resources
from app.settings import Settings
from app.storage import blobs, tables
from app.storage.database import Database, open_database
from app.storage.schema import migrate
from app.storage.sweeping import sweep
from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.api.operations import archive

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
    app = create_app(settings.model_copy(update={"database_url": address}))
    with TestClient(app, headers={"Authorization": f"Bearer {new_admin(database)}"}) as client:
        yield Elsewhere(Lab(client), database, app.state.resources)
    database.dispose()


def rows(database: Database) -> dict[str, list[Any]]:
    with database.read() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in PROJECTIONS
        }


def take_in(lab: Lab, content: bytes) -> Response:
    return lab.client.post("/v1/archives", content=content, headers={"Content-Type": "application/zip"})


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
    assert rows(elsewhere.database) == rows(database)
    ours, theirs = lab.client.get(lab.path).json(), elsewhere.lab.client.get(lab.path).json()
    assert theirs == {**ours, "created_at": lab.events()[0]["recorded_at"]}
    assert elsewhere.lab.get("summary") == lab.get("summary")
    assert take_in(elsewhere.lab, content).status_code == 200
    told = [place.batch("next", max_size=4) for place in (lab, elsewhere.lab)]
    for batch in told:
        del batch["seconds"], batch["created_at"]
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


def rewritten(content: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """The archive with some of its members changed, or left out."""
    file = BytesIO()
    with ZipFile(BytesIO(content)) as old, ZipFile(file, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            member = change(name, old.read(name))
            if member is not None:
                new.writestr(name, member)
    return file.getvalue()


def resealed(content: bytes, change: Callable[[dict[str, Any]], None], name: str = "s") -> bytes:
    """The archive with changed events in a chain that is sound again."""

    def ledger(member: str, lines: bytes) -> bytes:
        if member == "manifest.json":
            return json.dumps({"format": 1, "study": name}).encode()
        if member != "ledger.jsonl":
            return lines
        events, previous = [], "0" * 64
        for line in lines.splitlines():
            event = json.loads(line)
            event["payload"] = json.loads(event["payload"])
            change(event)
            event |= {"payload": canonical(event["payload"]), "previous": previous}
            previous = event["hash"] = seal(name, event)
            events.append(canonical(event))
        return "\n".join(events).encode()

    return rewritten(content, ledger)


def without(member: str) -> Callable[[bytes], bytes]:
    return lambda content: rewritten(content, lambda name, data: None if name.startswith(member) else data)


def another_array(content: bytes) -> bytes:
    file = BytesIO()
    np.save(file, np.zeros(3))
    return rewritten(content, lambda name, data: file.getvalue() if name.startswith("arrays/") else data)


def boundless_array(content: bytes) -> bytes:
    """An array whose header promises terabytes."""
    file = BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    return rewritten(content, lambda name, data: file.getvalue() if name.startswith("arrays/") else data)


def edited(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda content: rewritten(content, lambda _name, data: data.replace(old, new))


def merged(old: Any, new: Any) -> Any:
    """The members of `new` in the place of those of `old`, at every depth."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return {**old, **{name: merged(old.get(name), value) for name, value in new.items()}}


def told(event_type: str, **changes: Any) -> Callable[[bytes], bytes]:
    """Another story, well sealed."""

    def change(event: dict[str, Any]) -> None:
        if event["type"] == event_type:
            event["payload"] = merged(event["payload"], changes)

    return lambda content: resealed(content, change)


def bomb(content: bytes) -> bytes:
    return rewritten(content, lambda name, data: b"\n" * 30_000_000 if name == "ledger.jsonl" else data)


OBSERVATION: dict[str, Any] = {"observation": 1, "candidate": 0, "values": {"value": {"value": 1.0}}}

HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "no zip": lambda content: b"PK" + content[2:100],
    "truncated": lambda content: content[: len(content) // 2],
    "members before the beginning": lambda content: content[:-6] + b"\xff\xff\xff\x7f" + content[-2:],
    "a bomb": bomb,
    "no manifest": without("manifest"),
    "no ledger": without("ledger"),
    "no arrays": without("arrays/"),
    "another format": edited(b'"format": 1', b'"format": 2'),
    "an altered event": edited(b"THF-20", b"THF-90"),
    "another array": another_array,
    "a boundless array": boundless_array,
    "a name that leads elsewhere": lambda content: resealed(content, lambda _event: None, "../../etc"),
    "a name without end": lambda content: resealed(content, lambda _event: None, "x" * 1000),
    "a configuration that is none": told("study-created", configuration={"min_batch": "many"}),
    "an algorithm that is none": told("study-created", configuration={"direction": "up"}),
    "more rows than there are": told("candidates-uploaded", block={"rows": 10**9}),
    "arrays that are none": told("candidates-uploaded", block={"arrays": {"numbers": "x"}}),
    "a path for an array": told("candidates-uploaded", block={"arrays": {"numbers": "../../etc/passwd"}}),
    "a candidate that is not there": told("observations-reported", observations=[OBSERVATION | {"candidate": 99}]),
    "text for a number": told(
        "observations-reported", observations=[OBSERVATION | {"values": {"value": {"value": "x"}}}]
    ),
    "an observation twice": told("observations-reported", observations=[OBSERVATION] * 2),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_archive_is_refused_and_nothing_of_it_is_kept(lab: Lab, elsewhere: Elsewhere, what: str) -> None:
    lab.begin()
    lab.report(candidate="THF-20", value=0.5)
    content = HOSTILE[what](lab.client.get(f"{lab.path}/archive").content)
    small = replace(
        elsewhere.resources, settings=elsewhere.resources.settings.model_copy(update={"max_body_bytes": 2**20})
    )
    elsewhere.lab.client.app.state.resources = small  # type: ignore[attr-defined]
    problem(take_in(elsewhere.lab, content), 422, "invalid-input")
    assert elsewhere.lab.client.get("/v1/studies").json()["studies"] == []
    assert {name for name, found in rows(elsewhere.database).items() if found} == set()


def test_an_archive_of_another_type_is_refused(lab: Lab) -> None:
    answer = lab.client.post("/v1/archives", content=archive("t"), headers={"Content-Type": "text/csv"})
    problem(answer, 415, "unsupported-media-type")
