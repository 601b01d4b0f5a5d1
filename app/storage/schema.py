"""Versions of the schema: bring a database to the newest one, or tell that it is not."""

from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect

import app
from app.storage.database import Database
from app.storage.database_file import unused
from app.storage.dialects import Lock, hold

if TYPE_CHECKING:
    from alembic.config import Config


def alembic_config(connection: Connection | None = None) -> "Config":
    """Alembic as this project uses it; `connection` is handed to migrations/env.py."""
    from alembic.config import Config  # noqa: PLC0415

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
    from alembic import command  # noqa: PLC0415  (a start on a current database needs none of it)

    with database.write() as connection:
        hold(connection, Lock.MIGRATION)
        command.upgrade(alembic_config(connection), "head")


def downgrade(database: Database, revision: str) -> None:
    """Go back to an older schema in one transaction; no server may use the database."""
    with database.read() as connection:
        _refuse_newer(connection)
        found = _revision(connection)
    if found is None or revision not in _known() or revision > found:
        older = ", ".join(sorted(known for known in _known() if found is not None and known <= found))
        raise RuntimeError(f"The database has schema {found}. It can go back to one of: {older or 'none'}.")
    from alembic import command  # noqa: PLC0415

    with unused(database.file.file) if database.file else nullcontext(), database.write() as connection:
        hold(connection, Lock.MIGRATION)
        command.downgrade(alembic_config(connection), revision)


def is_current(connection: Connection) -> bool:
    return _revision(connection) == newest()


@cache
def newest() -> str:
    """The schema of this build."""
    return max(_known())


def _refuse_newer(connection: Connection) -> None:
    found = _revision(connection)
    if found is not None and found not in _known():
        raise RuntimeError(
            f"The database has schema {found}, which this version of the server does not know: its own is {newest()}. "
            "Start the version that made it, or restore a backup from before the upgrade."
        )


def _revision(connection: Connection) -> str | None:
    """The schema of a database; None if it has none."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one_or_none()
    return revision


def _known() -> set[str]:
    """The revisions of this build: each migration's file begins with its own."""
    return {path.name.partition("_")[0] for path in (_scripts() / "versions").glob("[0-9]*_*.py")}


def _scripts() -> Path:
    """Beside the package in a checkout, inside it when installed."""
    package = Path(app.__file__).parent
    installed = package / "migrations"
    return installed if installed.is_dir() else package.parent / "migrations"
