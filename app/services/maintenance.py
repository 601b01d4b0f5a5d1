"""What a server does apart from requests: it checks whether it is ready, and tidies up when it starts.

Tidying never touches what the ledger names, and may run in several processes at the same time.
"""

import shutil
from pathlib import Path

import structlog

from app.domain.clock import ago, now
from app.domain.errors import Unavailable
from app.domain.heads import HeadCheck, HeadState
from app.storage import answers, heads, remembered_heads, sweeping
from app.storage.database import Database
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


def drop_old_answers(database: Database, days: int) -> int:
    """Drop stored answers that are older; how many there were."""
    oldest = ago(days=days)
    with database.read() as connection:
        if not answers.any_older_than(connection, oldest):
            return 0
    with database.write() as connection:
        return answers.drop_older_than(connection, oldest)


def sweep_blobs(database: Database) -> int:
    """Drop arrays that are older than a day and that nothing names; how many there were."""
    return sweeping.sweep(database, ago(days=1))
