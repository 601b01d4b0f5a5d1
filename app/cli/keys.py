"""API keys, managed on the server's own machine: anyone with access to the database can."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from app.cli.local import local_database
from app.domain.access import Role

command = typer.Typer(no_args_is_help=True)
console = Console(highlight=False)


def _checked_name(name: str) -> str:
    if not 1 <= len(name) <= 100:
        raise typer.BadParameter("A name has 1 to 100 characters.")
    return name


@command.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Who or what the key is for.", callback=_checked_name)],
    role: Annotated[Role, typer.Option(help="What the key may do.")],
    study: Annotated[list[str] | None, typer.Option(help="A study it has access to; repeat for more.")] = None,
    days: Annotated[int | None, typer.Option(min=1, help="Days until the key expires.")] = None,
) -> None:
    """Create a key and print it. It cannot be shown again."""
    from app.services.use_cases import access

    expiry = datetime.now(UTC) + timedelta(days=days) if days else None
    with local_database() as (database, operator), database.write() as connection:
        _, plaintext_key = access.create_key(connection, operator, name, role, tuple(study or ()), expiry)
    console.print(plaintext_key, soft_wrap=True)


@command.command("list")
def list_keys() -> None:
    """List the keys, without their secrets."""
    from app.services.use_cases import access

    with local_database() as (database, operator), database.read() as connection:
        keys = access.list_keys(connection, operator)
    table = Table("id", "name", "role", "studies", "expires", "revoked")
    for key in keys:
        studies = "all" if key.role is Role.ADMIN else ", ".join(key.studies)
        table.add_row(key.id, key.name, key.role, studies, key.expires_at or "never", key.revoked_at or "")
    console.print(table)


@command.command("revoke")
def revoke(key_id: Annotated[str, typer.Argument(help="The part of the key between its underscores.")]) -> None:
    """Revoke a key, with immediate effect."""
    from app.services.use_cases import access

    with local_database() as (database, operator), database.write() as connection:
        access.revoke_key(connection, operator, key_id)
    console.print(f"Key {key_id} is revoked.")
