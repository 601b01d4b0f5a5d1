"""The schema's versions: bring a database to the newest, or say that it is not there yet."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

import app
from app.storage.database import Database

_MIGRATION_LOCK = 7_026_112_016  # any number, the same in every process


def alembic_config(connection: Connection | None = None) -> Config:
    """Alembic as this project uses it; `connection` is handed to migrations/env.py."""
    config = Config()
    config.set_main_option("script_location", str(_scripts()))
    config.attributes["connection"] = connection
    return config


def migrate(database: Database) -> None:
    """Upgrade to the newest schema in one transaction; processes that start together take turns.

    A database that is there already is only looked at: a restart need not wait for its turn to write.
    """
    with database.read() as connection:
        if is_current(connection):
            return
    with database.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
        command.upgrade(alembic_config(connection), "head")


def is_current(connection: Connection) -> bool:
    newest = ScriptDirectory.from_config(alembic_config()).get_current_head()
    return MigrationContext.configure(connection).get_current_revision() == newest


def _scripts() -> Path:
    """Beside the package in a checkout, inside it when installed."""
    package = Path(app.__file__).parent
    installed = package / "migrations"
    return installed if installed.is_dir() else package.parent / "migrations"
