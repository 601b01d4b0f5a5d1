"""Promise 2: what was acknowledged survives a power loss (SQLite; PostgreSQL's own promise is not tried again here).

While a lab works, every write and sync of SQLite is remembered. An image is what a disk may hold after a power loss at
some moment: of each file everything up to its last sync, and of what came later any part, sector by sector.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from sqlalchemy import select

from app.services.use_cases.verification import verify
from app.storage import dialects
from app.storage.database import Database, open_database
from app.storage.tables import observations
from tests.api.lab import SOLVENTS, Lab
from tests.conftest import OPERATOR
from tests.databases import Databases
from tests.reliability import lab
from tests.reliability.disk import Disk, remembering
from tests.reliability.promise import Budget, Count, Promise

SECTOR, REPORTS, IMAGES_PER_WORK = 512, 40, 50
CHECKPOINT = 50  # pages, so that images are taken of checkpoints too

Log = Sequence[tuple[Any, ...]]
Files = dict[str, bytearray]


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    random, violations, images, torn = Random(seed), [], 0, 0
    for image in budget:
        if image % IMAGES_PER_WORK == 0:
            start, log = _work(databases, random)
        moment = random.randrange(len(log) + 1)
        files, lost = _image(start, log[:moment], random)
        acknowledged = {what[1] for what in log[:moment] if what[0] == "acknowledged"}
        violations += [f"at step {moment} of {len(log)}: {words}" for words in _broken(files, acknowledged)]
        images, torn = image + 1, torn + lost
    return Count(images, tuple(violations), {"writes lost or torn": torn})


def _work(databases: Databases, random: Random) -> tuple[Files, Log]:
    """What was on the disk before a lab worked, and everything that happened to it then."""
    with databases.fresh("sqlite") as address, remembering() as disk, _frequent_checkpoints():
        path = address.removeprefix("sqlite:///")
        with lab.opened(address) as opened:
            disk.log.clear()
            start = {name: bytearray(Path(name).read_bytes()) for name in (path, f"{path}-wal") if Path(name).exists()}
            _report(opened.begin(), disk, random)
            log = list(disk.log)
    return start, log


def _report(opened: Lab, disk: Disk, random: Random) -> None:
    for number in range(REPORTS):
        values = [number + part / 8 for part in range(random.randint(1, 5))]
        lines = [{"candidate": f"{random.choice(SOLVENTS)}-50", "value": value} for value in values]
        if opened.send({"observations": lines}).status_code == 201:
            for value in values:
                disk.note("acknowledged", value)


def _frequent_checkpoints() -> AbstractContextManager[object]:
    return _with_pragma(f"wal_autocheckpoint = {CHECKPOINT}")


def _with_pragma(pragma: str) -> AbstractContextManager[object]:
    """After the server's own."""
    prepare: Callable[[Any, Any], None] = dialects._prepare

    def prepared(connection: Any, record: Any) -> None:
        prepare(connection, record)
        connection.execute(f"PRAGMA {pragma}")

    return patch.object(dialects, "_prepare", prepared)


def _image(start: Files, log: Log, random: Random) -> tuple[Files, int]:
    """A disk after these steps and a power loss; how many writes were lost or torn."""
    files, lost = {name: bytearray(content) for name, content in start.items()}, 0
    synced = {what[1]: number for number, what in enumerate(log) if what[0] == "sync"}
    for number, (kind, *what) in enumerate(log):
        if kind not in ("write", "truncate"):
            continue
        content = files.setdefault(what[0], bytearray())
        whole = number < synced.get(what[0], -1)
        lost += not whole
        if kind == "truncate":
            if whole or random.random() < 0.5:
                del content[what[1] :]
            continue
        for first, sector in _sectors(what[1], what[2]):
            if whole or random.random() < 0.5:
                content.extend(bytes(max(0, first - len(content))))
                content[first : first + len(sector)] = sector
    return files, lost


def _sectors(offset: int, written: bytes) -> list[tuple[int, bytes]]:
    """A write in the parts that a disk writes as a whole."""
    cuts = [0, *range(SECTOR - offset % SECTOR, len(written), SECTOR), len(written)]
    return [(offset + first, written[first:last]) for first, last in pairwise(cuts)]


def _broken(files: Files, acknowledged: set[float]) -> list[str]:
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / Path(name).name).write_bytes(content)
        database = open_database(f"sqlite:///{folder}/nextbatch.sqlite3", connections=2)
        try:
            return _missing(database, acknowledged)
        except Exception as error:  # any: it cannot be read
            return [f"the database cannot be read: {error!r}"]
        finally:
            database.dispose()


def _missing(database: Database, acknowledged: set[float]) -> list[str]:
    with database.read() as connection:
        sound = connection.exec_driver_sql("PRAGMA integrity_check").scalar_one()
        texts = connection.execute(select(observations.c["values"])).scalars()
        kept = {json.loads(text)["value"]["value"] for text in texts}
        broken_at = verify(connection, OPERATOR, "s").broken_at if kept else None
    missing = sorted(acknowledged - kept)
    return [
        *([f"integrity_check says {sound}"] if sound != "ok" else []),
        *([f"acknowledged and lost: {missing}"] if missing else []),
        *([f"the ledger breaks at {broken_at}"] if broken_at else []),
    ]


PROMISE = Promise(
    number=2,
    words="… and a loss of power (SQLite)",
    tested=(
        "Images of the disk at random moments that keep what was synced, and of later writes any sectors, of the "
        "log, the database and checkpoints. Nothing acknowledged is missing; database and ledger are sound."
    ),
    unit="images",
    full=2_000,
    prove=_prove,
    teeth={f"synchronous = {mode}": partial(_with_pragma, f"synchronous = {mode}") for mode in ("OFF", "NORMAL")},
    short=60,
    share=0.6,
    parallel=True,
)
