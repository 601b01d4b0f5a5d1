"""Requests that are small to send and large to expand. Each is sent once, and gives the answer's status."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import httpx
import numpy as np

from app.domain.access import Scope
from app.domain.candidates import BlockArrays, CandidateBlock, Column
from app.domain.codec import canonical
from app.domain.events import CandidatesUploaded, StudyCreated
from app.domain.ledger import GENESIS, encode, seal
from app.domain.studies import Configuration
from tests.reliability.attacks import spreadsheets
from tests.reliability.attacks.watching import CSV

JSON = {"Content-Type": "application/json"}
Attack = Callable[[httpx.Client], httpx.Response]


def _report(client: httpx.Client, content: bytes, headers: dict[str, str]) -> httpx.Response:
    return client.post("/studies/honest/observations", params={"dry_run": True}, content=content, headers=headers)


def space_of_100_axes(client: httpx.Client) -> httpx.Response:
    """A few kilobytes that describe a hundred million cells."""
    parameters = {f"p{number}": {"low": 0, "high": 1} for number in range(100)}
    return client.post("/candidates/check", json={"parameters": parameters, "sample": 500_000})


def space_within_the_limits(client: httpx.Client) -> httpx.Response:
    parameters = {f"p{number}": {"low": 0, "high": 1} for number in range(100)}
    return client.post("/candidates/check", json={"parameters": parameters, "sample": 150_000})


def sheet_of_line_feeds(client: httpx.Client) -> httpx.Response:
    return _report(client, b"key,value\n" + b"\n" * 20_000_000, CSV)


def sheet_of_one_header(client: httpx.Client) -> httpx.Response:
    """A header of a million columns of one name."""
    return _report(client, b"key," * 1_000_000 + b"value\n", CSV)


def json_of_objects(client: httpx.Client) -> httpx.Response:
    return _report(client, b'{"observations":[' + b"{}," * 11_000_000 + b"{}]}", JSON)


def json_within_the_limits(client: httpx.Client) -> httpx.Response:
    """As many small objects as are read at all, each of which is a mistake."""
    return _report(client, b'{"observations":[' + b"{}," * 199_000 + b"{}]}", JSON)


def members_without_end(client: httpx.Client) -> httpx.Response:
    """An object whose every member is unknown, and is compared with all that are known."""
    return client.put("/studies/other", content=_members(), headers=JSON)


@cache
def _members() -> bytes:
    return json.dumps({f"m{number}": 0 for number in range(400_000)}).encode()


def body_of_a_stranger(client: httpx.Client) -> httpx.Response:
    """400 MB that are no JSON, without a key, where a study is created."""
    return client.put("/studies/other", content=_pieces(400), headers=CSV | {"Authorization": ""})


def body_of_another_type(client: httpx.Client) -> httpx.Response:
    return client.put("/studies/other", content=_pieces(400), headers=CSV)


def _pieces(megabytes: int) -> Iterator[bytes]:
    return (b" " * 2**20 for _ in range(megabytes))


def json_of_one_text(client: httpx.Client) -> httpx.Response:
    """A text that takes four bytes for each of its characters once it is read, because of the last one."""
    return client.put("/studies/other", content=b'{"x":"' + b"x" * 31_000_000 + "😀".encode() + b'"}', headers=JSON)


def spreadsheet_of_styles(client: httpx.Client) -> httpx.Response:
    """A small .xlsx file that unpacks to ninety megabytes of elements."""
    return _report(client, spreadsheets.large_styles(), spreadsheets.HEADERS)


def manifest_of_gigabytes(client: httpx.Client) -> httpx.Response:
    """A small zip file with a manifest of 1.5 GB."""
    return client.post("/archives", content=_bomb("manifest.json", 1500), headers={"Content-Type": "application/zip"})


def ledger_of_gigabytes(client: httpx.Client) -> httpx.Response:
    """As many events as a manifest announces, in a small zip file."""
    return client.post("/archives", content=_bomb("ledger.jsonl", 1500), headers={"Content-Type": "application/zip"})


def large_arrays_in_a_small_archive(client: httpx.Client) -> httpx.Response:
    """A sound chain of events about one candidate, whose array has 800 MB, in a small zip file."""
    params = {"accept_unverified": True}
    return client.post("/archives", params=params, content=_array_bomb(), headers={"Content-Type": "application/zip"})


@cache
def _array_bomb() -> bytes:
    digest = "0" * 64
    block = CandidateBlock(0, 1, BlockArrays(digest, digest))
    told = (StudyCreated(Configuration()), CandidatesUploaded(block, (Column("t", "number", "feature"),)))
    entries: list[dict[str, Any]] = []
    for seq, event in enumerate(told, start=1):
        entry = {"seq": seq, "type": event.type, "format": 1, "payload": encode(event), "actor": "a", "reason": None}
        entry |= {"recorded_at": "2026-01-01T00:00:00.000000Z", "request_id": "r"}
        entry["previous"] = entries[-1]["hash"] if entries else GENESIS
        entries.append(entry | {"hash": seal("bomb", entry)})
    manifest = {"format": 1, "study": "bomb", "events": len(entries), "head": entries[-1]["hash"]}
    with zipfile.ZipFile(file := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("ledger.jsonl", "\n".join(map(canonical, entries)))
        with archive.open(f"arrays/{digest}.npy", "w", force_zip64=True) as member:
            header = {"descr": "<f8", "fortran_order": False, "shape": (800 * 2**17, 1)}
            np.lib.format.write_array_header_1_0(member, header)  # type: ignore[arg-type]
            for _ in range(800):
                member.write(bytes(2**20))
    return file.getvalue()


@cache
def _bomb(name: str, megabytes: int) -> bytes:
    file = io.BytesIO()
    manifest = {"format": 1, "study": "bomb", "events": 10**9, "head": "0" * 64}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        if name != "manifest.json":
            archive.writestr("manifest.json", json.dumps(manifest))
        with archive.open(name, "w", force_zip64=True) as member:
            for _ in range(megabytes):
                member.write(b" " * 2**20)
    return file.getvalue()


def page_of_10000_wide_candidates(client: httpx.Client) -> httpx.Response:
    """2,000 columns, all that there are."""
    return client.get("/studies/wide/candidates", params={"limit": 10_000})


@cache
def _wide() -> bytes:
    columns, rows = 2_000, 1_000
    lines = (f"K{row}," + ",".join([str(row % 7)] * columns) for row in range(rows))
    return "\n".join([",".join(["key", *(f"c{n}" for n in range(columns))]), *lines, ""]).encode()


def ask_with_10000_levels(client: httpx.Client) -> httpx.Response:
    """A text of 10,000 levels in 100,000 candidates."""
    return client.post("/studies/levels/batches", json={"worker": "w", "max_size": 2, "wait": 300})


@cache
def _levels() -> bytes:
    rows = "".join(f"K{number},L{number % 10_000},{number % 97}\n" for number in range(100_000))
    return f"key,catalyst,x\n{rows}".encode()


def prepare(attack: Attack, admin: httpx.Client) -> None:
    """Upload the list that an attack is about; the memory that this takes counts as well."""
    study, content = {page_of_10000_wide_candidates: ("wide", _wide), ask_with_10000_levels: ("levels", _levels)}.get(
        attack, ("", bytes)
    )
    if study:
        admin.put(f"/studies/{study}/candidates", content=content(), headers=CSV).raise_for_status()


# In MiB of the whole process, which has 170 at rest; and what a key must be allowed to do to get so far.
LIMITS: Mapping[Attack, tuple[int, Scope]] = {
    space_of_100_axes: (512, Scope.MANAGE),
    sheet_of_line_feeds: (512, Scope.REPORT),
    json_of_objects: (512, Scope.REPORT),
    large_arrays_in_a_small_archive: (512, Scope.MANAGE),
    manifest_of_gigabytes: (512, Scope.MANAGE),
    ledger_of_gigabytes: (512, Scope.MANAGE),
    sheet_of_one_header: (512, Scope.REPORT),
    json_within_the_limits: (512, Scope.REPORT),
    members_without_end: (512, Scope.MANAGE),
    space_within_the_limits: (1024, Scope.MANAGE),
    page_of_10000_wide_candidates: (1024, Scope.READ),
    ask_with_10000_levels: (1024, Scope.ASK),
    spreadsheet_of_styles: (1024, Scope.REPORT),
    body_of_a_stranger: (512, Scope.READ),  # all roles send it, and none of them is asked
    body_of_another_type: (512, Scope.MANAGE),
    json_of_one_text: (768, Scope.MANAGE),
}
AT_ONCE = 8
MOST_TOGETHER = 1536  # MiB, when several are sent at the same time
