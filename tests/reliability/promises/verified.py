"""Promise 28: `verify` means verified: edited tables, cut tails and flipped bits are named."""

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from sqlalchemy import Connection, Table, select
from sqlalchemy.exc import DBAPIError

from app.domain.errors import Refusal
from app.domain.heads import Head, HeadState
from app.services.use_cases import verification
from app.services.use_cases.audit import verify_audit
from app.services.use_cases.verification import verify
from app.storage import derived, heads, remembered_heads
from app.storage.database import Database, open_database
from app.storage.derived import DERIVED
from app.storage.tables import audit, blob_chunks, blobs, events, studies
from tests.conftest import OPERATOR
from tests.databases import Databases
from tests.reliability import lab
from tests.reliability.promise import Budget, Count, Promise, on_each_database
from tests.reliability.promises.history import _fill, _without_triggers

COVERED = (studies, events, *DERIVED, audit, blobs, blob_chunks)
HEXADECIMAL = re.compile(r"[0-9a-f]{64}")
NOT_DERIVED = {"id", "name", "study_id", "seq", "head", "created_at"}  # of studies: other damages look at these


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    parts = budget.divided(2)
    return on_each_database(_edits)(parts, seed, databases) + _flips(parts, seed, databases)


def _edits(budget: Budget, seed: int, address: str) -> Count:
    """Rows of derived tables edited or deleted, and tails of the ledger cut off."""
    random, count = Random(seed), Count(0)
    with lab.opened(address) as busy:
        _fill(busy)
        busy.switch_off("THF-30")
    database = open_database(address, connections=2)
    for case in budget:
        what, damage = KINDS[case % len(KINDS)]
        count += Count(1, tuple(_unnamed(database, damage, random)), {what: 1})
    database.dispose()
    return count


def _unnamed(database: Database, damage: Any, random: Random) -> Iterator[str]:
    with database.writer.connect() as connection:
        connection.begin()
        try:
            yield from damage(connection, random)
        finally:
            connection.rollback()


def _cut(connection: Connection, random: Random) -> Iterator[str]:
    """The last events are gone and all else fits them; only the head that was kept tells."""
    anchored = heads.every(connection)
    study = next(head for head in anchored if head.study == "s")
    seq = random.randint(1, study.seq - 1)
    _without_triggers(connection)
    last = connection.execute(select(events.c.hash).where(events.c.seq == seq)).scalar_one()
    connection.execute(events.delete().where(events.c.seq > seq))
    connection.execute(studies.update().values(seq=seq, head=last))
    states = {check.head.study: check.state for check in heads.check(connection, anchored)}
    if states.get("s") is not HeadState.CUT:
        yield f"cut after {seq}: {states}"


def _edited(connection: Connection, random: Random) -> Iterator[str]:
    table = random.choice((studies, *DERIVED))
    rows = [dict(row._mapping) for row in connection.execute(select(table))]
    row = random.choice(rows)
    this = [column == row[column.name] for column in table.primary_key.columns]
    column = random.choice([name for name in row if name not in NOT_DERIVED and name not in table.primary_key.columns])
    try:
        if random.random() < 0.2:
            connection.execute(table.delete().where(*this))
        else:
            connection.execute(table.update().where(*this).values({column: _other(row[column], table, column)}))
    except DBAPIError:
        return  # the database itself refuses it
    verdict = _verdict(connection)
    if verdict is None:
        yield f"{column} of {table.name} {row}, or the whole row: verify finds nothing"


def _spoiled(connection: Connection, random: Random) -> Iterator[str]:
    """One bit of an array of the candidates is another."""
    named = [
        digest for row in connection.execute(select(DERIVED[0].c.arrays)) for digest in HEXADECIMAL.findall(row[0])
    ]
    digest = random.choice(named)
    content = bytearray(
        connection.execute(select(blob_chunks.c.content).where(blob_chunks.c.digest == digest)).scalar_one()
    )
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    connection.execute(blob_chunks.update().where(blob_chunks.c.digest == digest).values(content=bytes(content)))
    if _verdict(connection) is None:
        yield f"array {digest}: verify finds nothing"


KINDS = (("cut tails", _cut), ("spoiled arrays", _spoiled), *[("edited rows", _edited)] * 3)


def _other(old: Any, table: Table, column: str) -> Any:
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return old + 1
    if column == "state":
        return "paused" if table is studies else "abandoned"
    return f"{old or ''}x" if old is None or not old.startswith(("{", "[")) else f"{old} "


def _verdict(connection: Connection) -> str | None:
    """What is named; None if all is well."""
    try:
        verified, recorded = verify(connection, OPERATOR, "s"), verify_audit(connection, OPERATOR)
    except Refusal as refusal:
        return refusal.code
    return None if verified.sound and recorded.sound else "not sound"


def _flips(budget: Budget, seed: int, databases: Databases) -> Count:
    """One bit of the database or of its log is another, when the server starts."""
    random, count = Random(seed), Count(0)
    with databases.fresh("sqlite") as address, TemporaryDirectory() as folder:
        source = Path(address.removeprefix("sqlite:///"))
        with lab.opened(address) as busy:
            _fill(busy)
            remembered = remembered_heads.read(Path(f"{source}-heads"))
            for part in ("", "-wal"):
                shutil.copy(f"{source}{part}", Path(folder) / f"whole{part}")
        before = _contents(_copy(Path(folder)))
        for _ in budget:
            count += _flipped(_copy(Path(folder)), random, remembered, before)
    return count


def _copy(folder: Path) -> Path:
    for part in ("", "-wal"):
        shutil.copy(folder / f"whole{part}", folder / f"damaged{part}")
    (folder / "damaged-shm").unlink(missing_ok=True)
    return folder / "damaged"


def _flipped(file: Path, random: Random, remembered: list[Head], before: Any) -> Count:
    part = Path(f"{file}{random.choice(('', '-wal'))}")
    content = bytearray(part.read_bytes())
    place = random.randrange(len(content))
    content[place] ^= 1 << random.randrange(8)
    part.write_bytes(content)
    named = _named(file, remembered)
    if named is not None:
        return Count(1, (), {"flipped bits named": 1})
    if _contents(file) == before:
        return Count(1, (), {"flipped bits that changed no row": 1})
    return Count(1, (f"a bit of byte {place} of {part.name}: rows differ, and nothing is named",))


def _named(file: Path, remembered: list[Head]) -> str | None:
    database = open_database(f"sqlite:///{file}", connections=1)
    try:
        with database.read() as connection:
            lost = [check for check in heads.check(connection, remembered) if check.state is not HeadState.KEPT]
            return str(lost[0]) if lost else _verdict(connection)
    except Refusal as refusal:
        return refusal.code
    finally:
        database.dispose()


def _contents(file: Path) -> Any:
    """Every row that `verify` answers for."""
    with closing(sqlite3.connect(file)) as connection:
        try:
            return {table.name: connection.execute(f"SELECT * FROM {table.name}").fetchall() for table in COVERED}  # noqa: S608
        except sqlite3.DatabaseError as error:
            return str(error)


def _nobody_compares() -> AbstractContextManager[object]:
    return patch.object(derived.Recomputed, "differences", lambda *_: [])


def _arrays_unread() -> AbstractContextManager[object]:
    return patch.object(verification, "_damaged_arrays", lambda *_: [])


def _heads_believed() -> AbstractContextManager[object]:
    return patch.object(heads, "check", lambda *_: [])


PROMISE = Promise(
    number=28,
    words="Verify means verified",
    tested=(
        "Cells and rows of derived tables are edited or deleted, arrays spoiled, tails of the ledger cut off, and "
        "single bits of the database file and its log flipped: each is named by verify, by the heads that were "
        "remembered, or as damage; or the bit changed no row."
    ),
    unit="damages",
    full=10_000,
    prove=_prove,
    teeth={
        "tables that nobody compares": _nobody_compares,
        "arrays that nobody reads": _arrays_unread,
        "heads that nobody compares": _heads_believed,
    },
    short=60,
    parallel=True,
    share=0.5,
)
