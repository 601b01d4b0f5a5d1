"""Versions of the schema: bring a database to the newest one, or tell that it is not."""

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

import app
from app.storage.database import Database
from app.storage.dialects import Lock, hold


def alembic_config(connection: Connection | None = None) -> Config:
    """Alembic as this project uses it; `connection` is handed to migrations/env.py."""
    config = Config()
    config.set_main_option("script_location", str(_scripts()))
    config.attributes["connection"] = connection
    return config


def migrate(database: Database) -> None:
    """Upgrade to the newest schema in one transaction; processes that start together take turns.

    A current database is only read, so a restart need not wait for its turn to write.
    """
    with database.read() as connection:
        if is_current(connection):
            return
        _refuse_newer(connection)
    with database.write() as connection:
        hold(connection, Lock.MIGRATION)
        command.upgrade(alembic_config(connection), "head")


def is_current(connection: Connection) -> bool:
    return MigrationContext.configure(connection).get_current_revision() == newest()


@cache
def newest() -> str | None:
    """The schema of this build."""
    return ScriptDirectory.from_config(alembic_config()).get_current_head()


def _refuse_newer(connection: Connection) -> None:
    found = MigrationContext.configure(connection).get_current_revision()
    known = {script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()}
    if found is not None and found not in known:
        raise RuntimeError(
            f"The database has schema {found}, which this version of the server does not know: its own is {newest()}. "
            "Start the version that made it, or restore a backup from before the upgrade."
        )


def _scripts() -> Path:
    """Beside the package in a checkout, inside it when installed."""
    package = Path(app.__file__).parent
    installed = package / "migrations"
    return installed if installed.is_dir() else package.parent / "migrations"
