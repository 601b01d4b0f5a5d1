"""Commands on this machine's own database. Anyone with access to it can give them; no key is needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.checking import FOUND_SOMETHING
from app.cli.printing import console, errors, print_json, table
from app.cli.remote import AsJson
from app.domain.access import Actor
from app.domain.errors import StudyNotFound
from nextbatch.display import plural

if TYPE_CHECKING:
    from app.storage.database import Database


@contextmanager
def local_database() -> "Iterator[tuple[Database, Actor]]":
    """The database, and the operator of this machine as the actor."""
    from app.services.maintenance import must_be_ready
    from app.services.use_cases.access import SERVER
    from app.settings import Settings
    from app.storage.database import open_database

    database = open_database(Settings().database_address)
    try:
        must_be_ready(database)
        yield database, Actor(SERVER, "command-line")
    finally:
        database.dispose()


def rebuild(
    study: Annotated[str | None, typer.Argument(help="The study; by default all studies.")] = None,
) -> None:
    """Make the tables of this machine's database anew from the ledger. An interruption changes nothing."""
    from app.services.use_cases import verification
    from app.storage import studies as study_rows

    with local_database() as (database, operator), database.write() as connection:
        names = study_rows.names(connection) if study is None else [study]
        if study is not None and study_rows.find(connection, study) is None:
            raise StudyNotFound
        differences = {name: verification.rebuild(connection, operator, name) for name in names}
    for name, found in differences.items():
        console.print(f"{name}: made anew; {plural(len(found), 'row')} differed.")


def show_audit(
    after: Annotated[int, typer.Option(help="Begin after the entry with this number.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Show who managed keys and access, signed in, exported and deleted, and check the chain of this log."""
    from app.services.use_cases import audit as use_cases
    from app.storage import audit

    with local_database() as (database, operator), database.read() as connection:
        verified = use_cases.verify_audit(connection, operator)
        entries = list(audit.read(connection, after))
    if as_json:
        print_json(entries)
    else:
        rows = (
            [entry.seq, entry.recorded_at[:19], entry.actor, entry.address, entry.action, entry.details]
            for entry in entries
        )
        console.print(table(["", "when", "key", "from", "action", "details"], rows))
    if not verified.sound:
        errors.print(f"[bold red]Entry {verified.broken_at} was altered or is missing.[/]")
        raise typer.Exit(FOUND_SOMETHING)
