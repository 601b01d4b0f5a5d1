"""Promise 29: the database under a server may vanish, and nothing is acknowledged into the void."""

import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing
from pathlib import Path
from random import Random
from unittest.mock import patch

from app.storage.database import Database
from app.storage.database_file import DatabaseFile
from app.storage.dialects import sqlite_driver
from tests.api.lab import Lab
from tests.databases import Databases
from tests.reliability import lab
from tests.reliability.promise import Budget, Count, Promise


def _moved(file: Path) -> Path:
    return file.rename(f"{file}.moved")


def _deleted(file: Path) -> Path:
    kept = shutil.copy(file, f"{file}.kept")
    shutil.copy(f"{file}-wal", f"{kept}-wal")
    file.unlink()
    return Path(kept)


def _replaced(file: Path) -> Path:
    kept = file.rename(f"{file}.first")
    shutil.copy(f"{file}-wal", f"{kept}-wal")
    shutil.copy(kept, file)
    return kept


def _log_deleted(file: Path) -> Path:
    kept = Path(shutil.copy(file, f"{file}.kept"))
    shutil.move(f"{file}-wal", f"{kept}-wal")
    return kept


def _overwritten(file: Path) -> Path:
    """The copy that `_backed_up` made, written into the very same file."""
    kept = Path(f"{file}.kept")
    with closing(sqlite_driver().connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copyfile(file, kept)
        shutil.copyfile(f"{file}.backup", file)
    return kept


def _backed_up(file: Path) -> None:
    with closing(sqlite_driver().connect(file)) as connection:
        connection.execute("VACUUM INTO ?", (f"{file}.backup",))


def _newer(file: Path) -> Path:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    return file


READ_ONLY = "read-only"
READY = ("its log deleted", READ_ONLY)  # the file is in place, and reads work
CHANGES: Mapping[str, Callable[[Path], Path]] = {
    "moved": _moved,
    "deleted": _deleted,
    "replaced": _replaced,
    "its log deleted": _log_deleted,
    "upgraded by a newer version": _newer,
    "a copy written over it": _overwritten,
    READ_ONLY: lambda file: file,
}


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    random, count = Random(seed), Count(0)
    for case in budget:
        how = list(CHANGES)[case % len(CHANGES)]
        with databases.fresh("sqlite") as address:
            count += _tried(address, how, random)
    return count


def _tried(address: str, how: str, random: Random) -> Count:
    """Write, take the file away between two writes, and go on writing; what was acknowledged and is nowhere."""
    file = Path(address.removeprefix("sqlite:///"))
    acknowledged, violations = [], []
    with lab.opened(address) as opened:
        for number in range(random.randint(1, 6)):
            opened.client.put(f"/v1/studies/s{number}", json={}).raise_for_status()
            acknowledged.append(f"s{number}")
            if not number:
                _backed_up(file)
        _write_once_more(opened, acknowledged)
        kept = CHANGES[how](file)
        if how == READ_ONLY:
            _refuse_writes(opened)
        for number in range(random.randint(1, 6)):
            answer = opened.client.put(f"/v1/studies/t{number}", json={})
            if answer.status_code < 300:
                acknowledged.append(f"t{number}")
            elif answer.status_code != 503 or "Retry-After" not in answer.headers:
                violations.append(f"{how}: answered {answer.status_code}")
        if how not in READY and opened.client.get("/readyz").status_code != 503:
            violations.append(f"{how}: still ready")
        found = _names(kept if how != "moved" else _back(kept, file))
    violations += [f"{how}: {name} was acknowledged and is gone" for name in acknowledged if name not in found]
    return Count(1, tuple(violations), {"writes acknowledged": len(acknowledged)})


def _write_once_more(opened: Lab, acknowledged: list[str]) -> None:
    """Something that the copy lacks."""
    opened.client.put("/v1/studies/last", json={}).raise_for_status()
    acknowledged.append("last")


def _refuse_writes(opened: Lab) -> None:
    """SQLite answers writes as it does on a disk that was mounted read-only; root may write to any file."""
    database: Database = opened.client.app.state.resources.database  # type: ignore[attr-defined]
    with closing(database.writer.raw_connection()) as connection:
        connection.cursor().execute("PRAGMA query_only = ON")


def _back(moved: Path, file: Path) -> Path:
    return moved.rename(file)


def _names(file: Path) -> set[str]:
    with closing(sqlite3.connect(file)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM studies")}


def _nobody_looks() -> AbstractContextManager[object]:
    return patch.multiple(Database, _must_be_ours=lambda *_: None, _must_be_in_place=lambda *_: None)


def _nobody_compares_heads() -> AbstractContextManager[object]:
    return patch.object(DatabaseFile, "_has_kept", lambda *_: True)


def _not_ready() -> AbstractContextManager[object]:
    return patch.object(Database, "must_be_in_place", lambda *_: None)


PROMISE = Promise(
    number=29,
    words="The database under a server may vanish",
    tested=(
        "The SQLite file of a running server is moved, deleted, replaced, overwritten in place by a backup, robbed of "
        "its log, upgraded by a newer version or made read-only, between writes: later ones get 503 with Retry-After, "
        "readiness fails (unless the file is in place), and all that was acknowledged is in the file that was there."
    ),
    unit="files",
    full=1_000,
    prove=_prove,
    teeth={
        "nobody looks when it writes": _nobody_looks,
        "nobody looks where the file is": _not_ready,
        "nobody compares heads": _nobody_compares_heads,
    },
    short=7,
    parallel=True,
    share=0.2,
)
