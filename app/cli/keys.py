"""API keys, managed on the server's own machine: anyone with access to the database can."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from app.cli.local import local_database
from app.domain.access import Role

command = typer.Typer(no_args_is_help=True)
console = Console(highlight=False)

KeyArgument = Annotated[str, typer.Argument(help="The part of the key between its underscores.")]
StudyArgument = Annotated[str, typer.Argument(help="The name of the study.")]


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
    whole = [Column(title, no_wrap=True, min_width=width) for title, width in (("id", 12), ("role", 10))]
    days = [Column(title, no_wrap=True, min_width=10) for title in ("expires", "revoked", "last used")]
    table = Table(whole[0], "name", whole[1], "studies", *days, box=None, header_style="bold", pad_edge=False)
    for key in keys:
        studies = "all" if key.role is Role.ADMIN else ", ".join(key.studies)
        moments = (key.expires_at or "never", key.revoked_at or "", key.last_used_at or "never")
        table.add_row(key.id, key.name, key.role, studies, *(moment[:10] for moment in moments))
    console.print(table)


@command.command("rotate")
def rotate(
    key_id: KeyArgument,
    overlap_hours: Annotated[float, typer.Option(help="How long the old secret counts, too.", min=0, max=720)] = 24,
) -> None:
    """Give a key a new secret and print it. It cannot be shown again."""
    from app.services.use_cases import access

    with local_database() as (database, operator), database.write() as connection:
        _, plaintext_key = access.rotate_key(connection, operator, key_id, overlap_hours)
    console.print(plaintext_key, soft_wrap=True)


@command.command("change")
def change(
    key_id: KeyArgument,
    name: Annotated[str | None, typer.Option(help="Who or what the key is for.")] = None,
    role: Annotated[Role | None, typer.Option(help="What the key may do.")] = None,
    days: Annotated[int | None, typer.Option(min=0, help="Days until the key expires; 0 for never.")] = None,
) -> None:
    """Change the name, the role or the expiry of a key."""
    from app.services.use_cases import access

    changes: dict[str, object] = {} if name is None else {"name": _checked_name(name)}
    changes |= {} if role is None else {"role": role.value}
    if days is not None:
        changes["expires_at"] = datetime.now(UTC) + timedelta(days=days) if days else None
    if not changes:
        raise typer.BadParameter("Give --name, --role or --days.")
    with local_database() as (database, operator), database.write() as connection:
        changed = access.change_key(connection, operator, key_id, changes)
    console.print(f"Key {key_id} is {changed.name}: {changed.role}, expires {changed.expires_at or 'never'}.")


@command.command("grant")
def grant(key_id: KeyArgument, study: StudyArgument) -> None:
    """Let a key see a study."""
    from app.services.use_cases import studies

    with local_database() as (database, operator), database.write() as connection:
        studies.grant(connection, operator, study, key_id)
    console.print(f"Key {key_id} sees {study}.")


@command.command("withdraw")
def withdraw(key_id: KeyArgument, study: StudyArgument) -> None:
    """Withdraw a key's access to a study."""
    from app.services.use_cases import studies

    with local_database() as (database, operator), database.write() as connection:
        studies.withdraw(connection, operator, study, key_id)
    console.print(f"Key {key_id} does not see {study} any more.")


@command.command("revoke")
def revoke(key_id: KeyArgument) -> None:
    """Revoke a key, with immediate effect."""
    from app.services.use_cases import access

    with local_database() as (database, operator), database.write() as connection:
        access.revoke_key(connection, operator, key_id)
    console.print(f"Key {key_id} is revoked.")
