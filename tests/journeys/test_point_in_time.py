"""PostgreSQL goes back to a moment with its own tools, as docs/operations.md says: WAL archiving and pg_basebackup."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import psycopg
import pytest

from app.domain.heads import HeadState
from app.storage import heads
from app.storage.database import open_database
from tests import postgres
from tests.databases import migrated
from tests.postgres import Cluster
from tests.reliability import lab

PROMOTION_SECONDS = 60.0
RESTORE_POINT = "before-the-accident"


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="nextbatch-pitr-", dir=postgres.memory()) as name:
        postgres.hand_over(Path(name))
        yield Path(name)


def new_folder(path: Path) -> Path:
    path.mkdir(mode=0o700)
    postgres.hand_over(path)
    return path


def configure(cluster: Cluster, *lines: str) -> None:
    with (cluster.folder / "cluster/postgresql.conf").open("a") as file:
        file.writelines(f"{line}\n" for line in lines)


def test_postgresql_goes_back_to_a_point_and_the_heads_tell_what_is_missing(folder: Path) -> None:
    archive = new_folder(folder / "archive")
    first, second = Cluster(new_folder(folder / "first")), Cluster(new_folder(folder / "second"))
    first.make()
    configure(first, "archive_mode = on", f"archive_command = 'test ! -f {archive}/%f && cp %p {archive}/%f'")
    first.start()
    try:
        address = migrated(postgres.create_database(first.address, "nextbatch"))
        with lab.opened(address) as busy:
            busy.begin()
            busy.report(candidate="DMF-20", value=1.0)
            backup = [
                "pg_basebackup",
                "-h",
                first.folder,
                "-U",
                "postgres",
                "-D",
                second.folder / "cluster",
                "-c",
                "fast",
            ]
            postgres._run(backup, postgres._unprivileged())
            busy.report(candidate="DMF-30", value=2.0)
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute("SELECT pg_create_restore_point(%s)", [RESTORE_POINT])
            busy.report(candidate="DMF-40", value=3.0)
            anchored = busy.client.get("/v1/heads").json()["heads"]
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute("SELECT pg_switch_wal()")
    finally:
        first._run("pg_ctl", "-m", "fast", "stop")  # the last segments are archived
    go_back(second, archive)
    try:
        with lab.opened(second.address.format(name="nextbatch")) as restored:
            assert [found["value"] for found in restored.observations()] == [1.0, 2.0]
            assert restored.is_sound()
            missing(second.address.format(name="nextbatch"), anchored)
            assert restored.report(candidate="DMF-50", value=4.0).status_code == 201
    finally:
        second.stop()


def go_back(cluster: Cluster, archive: Path) -> None:
    """Let a base backup replay the archive up to the restore point."""
    configure(
        cluster,
        "archive_mode = off",
        f"restore_command = 'cp {archive}/%f %p'",
        f"recovery_target_name = '{RESTORE_POINT}'",
        "recovery_target_action = promote",
    )
    signal = cluster.folder / "cluster/recovery.signal"
    signal.touch()
    postgres.hand_over(signal)
    cluster.start()
    with psycopg.connect(cluster.address.format(name="postgres"), autocommit=True) as connection:
        deadline = monotonic() + PROMOTION_SECONDS
        while connection.execute("SELECT pg_is_in_recovery()").fetchone() == (True,):
            assert monotonic() < deadline, "PostgreSQL was not promoted"
            sleep(0.1)


def missing(address: str, anchored: list[dict[str, object]]) -> None:
    database = open_database(address, connections=1)
    with database.read() as connection:
        kept = [heads.Head(**head) for head in anchored if head["study"] == "s"]  # type: ignore[arg-type]
        [check] = heads.check(connection, kept)
    database.dispose()
    assert (check.state, check.head.seq - check.ends_at) == (HeadState.CUT, 1)
