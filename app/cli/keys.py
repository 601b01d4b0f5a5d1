"""API keys from the command line of the server's own machine: whoever can read the database may."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from app.domain.access import Actor, Role
from app.services import access
from app.services.access import SERVER
from app.services.readiness import must_be_ready
from app.settings import Settings
from app.storage.database import Database, open_database

command = typer.Typer(no_args_is_help=True)
console = Console(highlight=False)
OPERATOR = Actor(SERVER, "command-line")


@contextmanager
def _database() -> Iterator[Database]:
    database = open_database(Settings().database_address)
    try:
        must_be_ready(database)
        yield database
    finally:
        database.dispose()


def _fitting(name: str) -> str:
    if not 1 <= len(name) <= 100:
        raise typer.BadParameter("1 to 100 characters")
    return name


@command.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Whose or what it is for.", callback=_fitting)],
    role: Annotated[Role, typer.Option(help="What it may do.")],
    study: Annotated[list[str] | None, typer.Option(help="A study it may see; repeat for more.")] = None,
    days: Annotated[int | None, typer.Option(min=1, help="Expires after so many days.")] = None,
) -> None:
    """Make a key and print it, once."""
    expiry = datetime.now(UTC) + timedelta(days=days) if days else None
    with _database() as database, database.write() as connection:
        _, spelling = access.create_key(connection, OPERATOR, name, role, tuple(study or ()), expiry)
    console.print(spelling, soft_wrap=True)


@command.command("list")
def list_keys() -> None:
    """List the keys, never their secrets."""
    with _database() as database, database.read() as connection:
        known = access.list_keys(connection, OPERATOR)
    table = Table("id", "name", "role", "studies", "expires", "revoked")
    for key in known:
        studies = "all" if key.role is Role.ADMIN else ", ".join(key.studies)
        table.add_row(key.id, key.name, key.role, studies, key.expires_at or "never", key.revoked_at or "")
    console.print(table)


@command.command("revoke")
def revoke(key_id: Annotated[str, typer.Argument(help="The part of the key between its underscores.")]) -> None:
    """Revoke a key, effective at once."""
    with _database() as database, database.write() as connection:
        access.revoke_key(connection, OPERATOR, key_id)
    console.print(f"{key_id} is revoked.")
