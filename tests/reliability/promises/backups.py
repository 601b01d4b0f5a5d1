"""Promise 19: a copy made while everybody works is whole, and a server on it goes on."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from app.storage import backup
from tests import postgres
from tests.api.lab import Lab
from tests.databases import DIALECTS, Databases
from tests.reliability import bench, fleet, lab
from tests.reliability.operations import History, Outcome
from tests.reliability.promise import Budget, Count, Promise

SERVERS, CLIENTS, BACKUPS_PER_STUDY, REPLAYED = 2, 4, 5, 3


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    count = Count(0)
    for dialect in DIALECTS:
        with (
            databases.fresh(dialect) as address,
            TemporaryDirectory() as folder,
            fleet.running(address, Path(folder), SERVERS) as servers,
        ):
            bench.begin_study(servers, "s")
            with bench.at_work(servers, "s", seed, CLIENTS) as history:
                for number in budget.divided(len(DIALECTS)):
                    count += _copy_and_restore(address, Path(folder) / f"copy-{number}", history, databases)
            count += Count(0, (*history.violations, *servers.bugs()), {"operations meanwhile": len(history.operations)})
    return count


def _copy_and_restore(address: str, copy: Path, history: History, databases: Databases) -> Count:
    acknowledged = {
        value
        for one in tuple(history.operations)
        if one.kind == "report" and one.outcome is Outcome.OK
        for value in one.values
    }
    with _restored(address, copy, databases) as there, lab.opened(there) as opened:
        return Count(1, tuple(_wrong(opened, acknowledged)), {"results in the copies": len(acknowledged)})


def _wrong(opened: Lab, acknowledged: set[float]) -> Iterator[str]:
    if opened.client.get(opened.path).status_code != 200:
        yield "the study is not in the copy"
        return
    kept = lab.every_value(opened)
    if missing := acknowledged - set(kept):
        yield f"{len(missing)} results acknowledged before the copy began are not in it"
    if len(kept) != len(set(kept)):
        yield "a result is twice in the copy"
    if not opened.is_sound():
        yield "the copy's ledger is broken"
    numbers = [batch["number"] for batch in opened.get("batches", limit=1000)["batches"]]
    for number in numbers[-REPLAYED:]:
        if not opened.replays(number):
            yield f"batch {number} replays otherwise from the copy"
    if opened.ask("newcomer", max_size=1).status_code != 201:
        yield "the copy does not go on"


@contextmanager
def _restored(address: str, copy: Path, databases: Databases) -> Iterator[str]:
    """The address of a database made from a copy that is made now, as docs/operations.md says."""
    if address.startswith("sqlite"):
        backup.copy(address, copy)
        there = f"sqlite:///{copy}.restored"
        backup.restore(copy, there)
        yield there
        return
    _run("pg_dump", "--format=custom", f"--file={copy}", address)
    with databases.fresh("postgresql") as there:
        _run("pg_restore", "--clean", "--if-exists", f"--dbname={there}", str(copy))
        yield there


def _run(program: str, *arguments: str) -> None:
    subprocess.run([postgres.binaries() / program, *arguments], check=True, env=os.environ | {"LC_ALL": "C.UTF-8"})


def _plain_copy() -> AbstractContextManager[object]:
    """The file is copied as it lies there."""
    return patch.object(backup, "_copy", lambda source, target, _tell=None: shutil.copyfile(source, target))


PROMISE = Promise(
    number=19,
    words="Backups restore",
    tested=(
        f"Copies made while {CLIENTS} clients work at {SERVERS} processes (`nextbatch backup`; pg_dump) are restored: "
        "all that was acknowledged before is in them, the ledger is sound, batches replay, and the next one can "
        "be asked for."
    ),
    unit="backups",
    full=200,
    prove=_prove,
    teeth={"a plain copy of the file": _plain_copy},
    short=3,
    share=0.8,
)
