"""Promise 20: an upgrade of the schema happens as a whole or not at all, wherever its process dies."""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch
from uuid import uuid4

from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import event, inspect, text
from sqlalchemy.exc import DBAPIError

from app.storage import schema
from app.storage.database import open_database
from tests import postgres
from tests.databases import DIALECTS, Databases
from tests.reliability import lab
from tests.reliability.promise import Budget, Count, Promise
from tests.storage.keep import KEPT

ENOUGH = 25  # statements, more than some upgrades have: some deaths come too late
NEXT = '''"""A version after the newest, so that files of this one are upgraded."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "9999", "{head}"


def upgrade():
    for table in ("batches", "observations"):
        with op.batch_alter_table(table) as changing:
            changing.add_column(sa.Column("later", sa.Integer, nullable=True))
    op.create_table("laters", sa.Column("id", sa.Integer, primary_key=True))
    op.execute("UPDATE observations SET later = number")
    op.create_index("ix_observations_later", "observations", ["later"])
'''

Shape = tuple[str | None, dict[str, tuple[frozenset[str], int]]]  # the version; columns and rows of every table

_context = get_context("forkserver")
_commit_after: int | None = None


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    count, random = Count(0), Random(seed)
    with TemporaryDirectory() as folder:
        scripts = _with_a_next_version(Path(folder) / "migrations")
        for dialect in DIALECTS:
            with _kept(databases, dialect) as kept:
                for case in budget.divided(len(DIALECTS)):
                    with _copied(databases, dialect, kept if case % 2 else None) as address:
                        count += _die_and_try_again(address, scripts, random.randint(1, ENOUGH))
    return count


def _die_and_try_again(address: str, scripts: Path, statement: int) -> Count:
    before = _shape(address)
    process = _context.Process(target=_upgrade, args=(address, scripts, statement, _commit_after))
    process.start()
    process.join()
    then = _shape(address)
    try:
        _upgrade(address, scripts)
    except DBAPIError as error:
        return Count(1, (f"killed after statement {statement}, it cannot be upgraded any more: {error}",))
    after = _shape(address)
    violations = []
    if then not in (before, after):
        violations.append(f"killed after statement {statement}, the database is neither old nor new: {then}")
    if after[0] != "9999" or any(after[1].get(table, (0, 0))[1] != rows for table, (_, rows) in before[1].items()):
        violations.append(f"the upgrade after a death at statement {statement} made {after} of {before}")
    killed = process.exitcode == -signal.SIGKILL
    return Count(1, tuple(violations), {"of them in the middle": int(killed and then == before)})


def _upgrade(address: str, scripts: Path, die_after: int = 0, commit_after: int | None = None) -> None:
    """Upgrade; the process dies after so many statements, if there are as many."""
    database, done = open_database(address, connections=2), 0

    def count(connection: Any, *_: object) -> None:
        nonlocal done
        done += 1
        if done == commit_after:
            _commit_by_mistake(connection.connection.dbapi_connection)
        if done == die_after:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(database.writer, "after_cursor_execute", count)
    try:
        with patch.object(schema, "_scripts", lambda: scripts):
            schema.newest.cache_clear()
            schema.migrate(database)
    finally:
        schema.newest.cache_clear()
        database.dispose()


def _commit_by_mistake(connection: Any) -> None:
    if hasattr(connection, "pgconn"):
        connection.commit()
    else:
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")


def _shape(address: str) -> Shape:
    database = open_database(address, connections=2)
    with database.read() as connection:
        found = inspect(connection)
        tables = {
            name: (
                frozenset(column["name"] for column in found.get_columns(name)),
                connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one(),  # noqa: S608
            )
            for name in found.get_table_names()
            if name != "alembic_version"
        }
        version = MigrationContext.configure(connection).get_current_revision()
    database.dispose()
    return version, tables


def _with_a_next_version(folder: Path) -> Path:
    head = ScriptDirectory.from_config(schema.alembic_config()).get_current_head()
    shutil.copytree(schema._scripts(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions/9999_next.py").write_text(NEXT.format(head=head))
    return folder


@contextmanager
def _kept(databases: Databases, dialect: str) -> Iterator[str]:
    """A database with rows in it: the newest file that a release left, or one made like it."""
    if dialect == "sqlite":
        yield str(max(KEPT.glob("*.sqlite3")))
        return
    with databases.fresh(dialect) as address:
        with lab.opened(address) as opened:
            opened.begin().work(2, max_size=2)
        yield address.partition("?")[0].rpartition("/")[2]


@contextmanager
def _copied(databases: Databases, dialect: str, kept: str | None) -> Iterator[str]:
    """A database like that, or an empty one."""
    if dialect == "sqlite":
        path = databases.empty_folder() / "nextbatch.sqlite3"
        if kept:
            shutil.copy(kept, path)
        yield f"sqlite:///{path}"
        return
    server, name = databases.postgres_server, f"upgraded_{uuid4().hex}"
    yield postgres.create_database(server, name, kept or "template1")
    postgres.drop_database(server, name)


PROMISE = Promise(
    number=20,
    words="Upgrades are atomic",
    tested=(
        "A process dies after some statement of an upgrade, of an empty database and of a kept one with rows: the "
        "database is as before or as after, never between; the next try completes it and keeps every row."
    ),
    unit="deaths",
    full=100,
    prove=_prove,
    teeth={"a commit in the middle": partial(patch.dict, globals(), {"_commit_after": 12})},
    short=6,
    parallel=True,
    share=0.3,
)
