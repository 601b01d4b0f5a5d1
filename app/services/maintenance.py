"""What a server does apart from requests: it checks whether it is ready, and tidies up.

Tidying never touches what the ledger names, and may run in several processes at the same time.
"""

import shutil
from datetime import timedelta
from pathlib import Path
from time import monotonic

import structlog

from app.domain import backtests as domain
from app.domain.clock import ago, now, read_clock, stamp
from app.domain.errors import Unavailable
from app.domain.heads import HeadCheck, HeadState
from app.storage import answers, backtests, blobs, heads, remembered_heads, sweeping
from app.storage.database import Database
from app.storage.mapped_arrays import MappedArrays
from app.storage.schema import is_current

SHOWN = 5  # losses in a message; the log has them all


def must_be_ready(database: Database) -> None:
    """Raise unless the database answers and has the schema of this build."""
    database.must_be_in_place()
    with database.read() as connection:
        if not is_current(connection):
            raise Unavailable("The schema of the database is not the one of this build. Run `nextbatch migrate`.")


def must_have_kept_heads(database: Database, heads_file: Path, *, accept_loss: bool) -> None:
    """Raise if the database lacks events that were acknowledged, unless that is accepted; say so either way."""
    remembered = remembered_heads.read(heads_file)
    if not remembered:
        return
    if database.file is not None and not database.file.file.exists():  # connecting would make an empty one
        lost = [HeadCheck(head, HeadState.MISSING, 0) for head in remembered]
        evidence = _keep_evidence(database, heads_file, moved=accept_loss)
    else:
        with database.read() as connection:
            lost = [check for check in heads.check(connection, remembered) if check.state is not HeadState.KEPT]
            if not lost:
                return
            evidence = _keep_evidence(database, heads_file, moved=accept_loss)  # while the connection keeps the log
    structlog.get_logger().error("acknowledged events are missing", lost=[str(check) for check in lost])
    if not accept_loss:
        words = " ".join(str(check) for check in lost[:SHOWN]) + (" …" if len(lost) > SHOWN else "")
        raise RuntimeError(
            f"The database lacks events that were acknowledged: {words} Restore a newer copy, or start with "
            f"--accept-loss to go on without them. Evidence is kept in {evidence}."
        )


def _keep_evidence(database: Database, heads_file: Path, *, moved: bool) -> Path:
    """Copy what tells of the loss. SQLite's log may still hold the lost events, and vanishes when it is closed."""
    folder = heads_file.with_name(f"{heads_file.name}.lost-{now().replace(':', '')}")
    folder.mkdir(mode=0o700)
    file = database.writer.url.database
    log = Path(f"{file}-wal")
    if database.writer.dialect.name == "sqlite" and log.exists():
        shutil.copy2(log, folder)
    shutil.copy2(heads_file, folder)
    if moved:
        heads_file.unlink()
    return folder


def drop_old_answers(database: Database, oldest: str) -> int:
    """Drop stored answers from before `oldest`; how many there were."""
    with database.read() as connection:
        if not answers.any_older_than(connection, oldest):
            return 0
    with database.write() as connection:
        return answers.drop_older_than(connection, oldest)


def drop_old_backtests(database: Database) -> int:
    """Drop the backtests of lists that have been kept long enough; how many there were."""
    with database.write() as connection:
        return backtests.drop_older_than(connection, ago(days=domain.LIST_DAYS))


class AnswerExpiry:
    """Drops stored answers while a server runs, by the earlier of two times: the clock's, and that since the start.

    A clock that is set a month ahead does not forget the Idempotency-Keys of requests that are being retried; nor does
    one that was a month ahead at the start and has been set right since.
    """

    def __init__(self, database: Database, days: int) -> None:
        self._database = database
        self._days = days
        self._started = read_clock() - timedelta(seconds=monotonic())

    def run(self) -> int:
        """Drop what is too old; how many there were."""
        moment = min(read_clock(), self._started + timedelta(seconds=monotonic()))
        return drop_old_answers(self._database, stamp(moment - timedelta(days=self._days)))


def sweep_array_files(database: Database, folder: Path) -> int:
    """Delete the files of arrays that the database no longer has; how many there were."""
    with database.read() as connection:
        return MappedArrays(folder).keep_only(blobs.all_digests(connection))


def sweep_blobs(database: Database) -> int:
    """Drop arrays that are older than a day and that nothing names; how many there were."""
    return sweeping.sweep(database, ago(days=1))
