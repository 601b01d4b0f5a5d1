"""Promise 7: a full disk, or one that fails, is told cleanly; reads work, and writes resume when it is well again."""

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch
from uuid import uuid4

from httpx2 import Response

from app.storage import database as storage
from tests import postgres
from tests.api.lab import Lab
from tests.databases import Databases
from tests.reliability import disk, lab
from tests.reliability.promise import Budget, Count, Promise

TRIES, LINES = 60, 20


@dataclass
class Venue:
    """A lab on a disk that can be spoilt and mended; `codes` are what a refused write may say meanwhile."""

    lab: Lab
    spoil: Callable[[], object]
    mend: Callable[[], object]
    codes: frozenset[str]
    sheets: bool = False  # what is written needs a temporary file, which JSON does not
    acknowledged: set[float] = field(default_factory=set)
    numbers: Iterator[int] = field(default_factory=count)


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    total = Count(0)
    venues = _venues()
    for opened in venues:
        total += _at(opened, budget.divided(len(venues)), seed, databases)
    return total


def _at(opened: Callable[..., AbstractContextManager[Venue]], budget: Budget, seed: int, databases: Databases) -> Count:
    violations, cycles = [], 0
    with opened(databases, Random(seed)) as venue:
        venue.lab.begin()
        for cycle in budget:
            violations += [f"{opened.__name__}: {words}" for words in _cycle(venue)]
            cycles = cycle + 1
        violations += _lost(venue)
    return Count(cycles, tuple(violations), {f"of them {opened.__doc__}": cycles})


def _cycle(venue: Venue) -> Iterator[str]:
    """Write until the disk refuses, read, mend it, write the same again."""
    venue.spoil()
    refused = None
    for _ in range(TRIES):
        body, token = _body(venue), uuid4().hex
        answer = _send(venue, body, token)
        yield from _unclean(venue, answer, body)
        if answer.status_code >= 500:
            refused = (body, token)
            break
    if venue.lab.client.get(f"{venue.lab.path}/observations", params={"limit": 1}).status_code != 200:
        yield "nothing can be read while the disk is spoilt"
    venue.mend()
    if refused is None:
        yield f"{TRIES} writes were taken by a spoilt disk"
        return
    body, token = refused
    again = _send(venue, body, token)
    if again.status_code != 201:
        yield f"the disk is well, and a write is answered {again.status_code} {again.text}"
    yield from _unclean(venue, again, body)


def _send(venue: Venue, body: dict[str, Any], token: str) -> Response:
    if not venue.sheets:
        return venue.lab.send(body, {"Idempotency-Key": token})
    lines = "".join(f"{line['candidate']},{line['value']},{line['note']}\n" for line in body["observations"])
    headers = {"Idempotency-Key": token, "Content-Type": "text/csv"}
    return venue.lab.client.post(f"{venue.lab.path}/observations", content=f"key,value,note\n{lines}", headers=headers)


def _unclean(venue: Venue, answer: Response, body: dict[str, Any]) -> Iterator[str]:
    if answer.status_code == 201:
        venue.acknowledged |= {line["value"] for line in body["observations"]}
    elif answer.json()["code"] not in venue.codes or "Retry-After" not in answer.headers:
        yield f"a write on a spoilt disk is answered {answer.status_code} {answer.text}"


def _body(venue: Venue) -> dict[str, Any]:
    lines = [{"candidate": "DMF-20", "value": float(next(venue.numbers)), "note": "x" * 200} for _ in range(LINES)]
    return {"observations": lines}


def _lost(venue: Venue) -> list[str]:
    kept = lab.every_value(venue.lab)
    if sorted(kept) != sorted(venue.acknowledged):
        return [f"{len(kept)} values are kept, {len(venue.acknowledged)} were acknowledged"]
    return [] if venue.lab.is_sound() else ["the ledger is broken"]


@contextmanager
def _failing(databases: Databases, random: Random) -> Iterator[Venue]:
    """with injected errors: full, write and fsync"""
    with databases.fresh("sqlite") as address, disk.remembering() as watched, lab.opened(address) as opened:

        def spoil() -> None:
            operation, code = random.choice(
                (("write", disk.FULL), ("write", disk.IO_ERROR_WRITE), ("sync", disk.IO_ERROR_FSYNC))
            )
            watched.refusal = lambda happening: code if happening == operation else disk.OK
            watched.log.clear()

        def mend() -> None:
            watched.refusal = lambda _happening: disk.OK

        codes = frozenset({"storage-full", "database-unavailable", "outcome-unknown"})
        yield Venue(opened, spoil, mend, codes)


@contextmanager
def _small_sqlite(databases: Databases, _random: Random) -> Iterator[Venue]:
    """with SQLite on a full tmpfs"""
    with _small_disk(8) as folder, databases.fresh("sqlite") as address:
        path = folder / "nextbatch.sqlite3"
        path.write_bytes(Path(address.removeprefix("sqlite:///")).read_bytes())
        with lab.opened(f"sqlite:///{path}") as opened:
            yield _filled(opened, folder)


@contextmanager
def _small_temporary(databases: Databases, _random: Random) -> Iterator[Venue]:
    """with temporary files on a full tmpfs"""
    with (
        _small_disk(8) as folder,
        databases.fresh("postgresql") as address,
        lab.opened(address) as opened,
        patch.object(tempfile, "tempdir", str(folder)),
    ):
        yield replace(_filled(opened, folder), sheets=True)


@contextmanager
def _small_postgres(databases: Databases, _random: Random) -> Iterator[Venue]:
    """with PostgreSQL's tables on a full tmpfs"""
    server, name = databases.postgres_server, f"small_{uuid4().hex}"
    with _small_disk(64) as folder:
        postgres.hand_over(folder)
        postgres.administer(server, f"CREATE TABLESPACE {name} LOCATION '{folder}'")
        postgres.administer(server, f"CREATE DATABASE {name} TEMPLATE template_migrated TABLESPACE {name}")
        try:
            with lab.opened(server.format(name=name)) as opened:
                yield _filled(opened, folder)
        finally:
            _free(folder)
            postgres.drop_database(server, name)
            postgres.administer(server, f"DROP TABLESPACE {name}")


def _filled(opened: Lab, folder: Path) -> Venue:
    return Venue(opened, lambda: _fill(folder), lambda: _free(folder), frozenset({"storage-full"}))


@contextmanager
def _small_disk(megabytes: int) -> Iterator[Path]:
    """In a folder of its own, which PostgreSQL's user can reach."""
    with tempfile.TemporaryDirectory(prefix="nextbatch-disk-") as folder:
        Path(folder).chmod(0o755)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def _fill(folder: Path) -> None:
    """To the last page."""
    with suppress(OSError), (folder / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(4096))


def _free(folder: Path) -> None:
    (folder / "filler").unlink(missing_ok=True)


def _venues() -> list[Callable[..., AbstractContextManager[Venue]]]:
    """A tmpfs can be mounted by root alone, and not in every container; errors can be injected anywhere."""
    with tempfile.TemporaryDirectory() as folder:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=False, capture_output=True)
        if mounted.returncode:
            return [_failing]
        subprocess.run(["umount", folder], check=True)
    return [_failing, _small_sqlite, _small_temporary, _small_postgres]


def _untranslated() -> AbstractContextManager[object]:
    """The driver's own words reach the route."""
    return patch.object(storage, "_meaning", lambda error, **_when: error)


PROMISE = Promise(
    number=7,
    words="A full disk is told cleanly, and forgotten when there is room",
    tested=(
        "A disk is filled, or made to fail, while reports come in, and then mended: 507 (or 503 when it fails) with "
        "Retry-After, reads work, the refused write succeeds once under its key, without a restart."
    ),
    unit="cycles",
    full=200,
    prove=_prove,
    teeth={"errors that are not translated": _untranslated},
    short=3,
    share=0.3,
)
