"""API keys from the command line of the server's own machine: whoever can read the database may."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from app.domain.access import Actor, Role
from app.settings import Settings

if TYPE_CHECKING:
    from app.storage.database import Database

command = typer.Typer(no_args_is_help=True)
console = Console(highlight=False)


@contextmanager
def _database() -> "Iterator[tuple[Database, Actor]]":
    """The database, and who does it: the operator of this machine."""
    from app.services.access import SERVER
    from app.services.readiness import must_be_ready
    from app.storage.database import open_database

    database = open_database(Settings().database_address)
    try:
        must_be_ready(database)
        yield database, Actor(SERVER, "command-line")
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
    from app.services import access

    expiry = datetime.now(UTC) + timedelta(days=days) if days else None
    with _database() as (database, operator), database.write() as connection:
        _, spelling = access.create_key(connection, operator, name, role, tuple(study or ()), expiry)
    console.print(spelling, soft_wrap=True)


@command.command("list")
def list_keys() -> None:
    """List the keys, never their secrets."""
    from app.services import access

    with _database() as (database, operator), database.read() as connection:
        known = access.list_keys(connection, operator)
    table = Table("id", "name", "role", "studies", "expires", "revoked")
    for key in known:
        studies = "all" if key.role is Role.ADMIN else ", ".join(key.studies)
        table.add_row(key.id, key.name, key.role, studies, key.expires_at or "never", key.revoked_at or "")
    console.print(table)


@command.command("revoke")
def revoke(key_id: Annotated[str, typer.Argument(help="The part of the key between its underscores.")]) -> None:
    """Revoke a key, effective at once."""
    from app.services import access

    with _database() as (database, operator), database.write() as connection:
        access.revoke_key(connection, operator, key_id)
    console.print(f"{key_id} is revoked.")
