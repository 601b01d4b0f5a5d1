"""This machine's own server: a client of it, and commands on its database, for which no key is needed."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.checking import FOUND_SOMETHING
from app.domain.access import Actor
from app.domain.errors import StudyNotFound, Unavailable
from nextbatch.commands.printing import console, errors, print_json, table
from nextbatch.commands.remote import AsJson
from nextbatch.display import plural

if TYPE_CHECKING:
    from app.settings import Settings
    from app.storage.database import Database


def find_local_server() -> tuple[str, str | None]:
    """The address of the server on this machine, and the admin key that `serve` stored here."""
    from app.settings import read_settings

    settings = read_settings()
    with suppress(OSError):
        return f"http://{settings.host}:{settings.port}", settings.admin_key_file.read_text().strip()
    return f"http://{settings.host}:{settings.port}", None


@contextmanager
def local_database() -> Iterator["tuple[Database, Actor]"]:
    """The database, and the operator of this machine as the actor."""
    from app.services.maintenance import must_be_ready
    from app.services.use_cases.access import SERVER
    from app.settings import read_settings
    from app.storage.database import open_database

    settings = read_settings()
    with explaining_silence(settings):
        database = open_database(settings.database_address)
    try:
        if database.file is not None and not database.file.file.exists():
            raise ValueError(
                f"there is no database at {database.file.file.absolute()}. Start a server there (`nextbatch serve`), "
                "or say with NEXTBATCH_DATA or NEXTBATCH_DATABASE_URL where it is."
            )
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


@contextmanager
def explaining_silence(settings: "Settings") -> Iterator[None]:
    """Name the database that does not answer, and say why it does not."""
    try:
        yield
    except Unavailable as error:
        if type(error) is not Unavailable or error.__cause__ is None:
            raise
        from sqlalchemy import make_url

        address = make_url(settings.database_address).render_as_string()  # without the password
        reason = str(getattr(error.__cause__, "orig", error.__cause__)).partition("\n")[0].strip()
        raise ValueError(
            f"the database {address} does not answer: {reason.removesuffix('.')}. NEXTBATCH_DATABASE_URL names another."
        ) from error
