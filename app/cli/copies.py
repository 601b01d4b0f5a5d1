"""Copies: a study as an archive, or the whole database."""

import json
import zipfile
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress

from app.domain.clock import now
from app.domain.errors import Refusal
from nextbatch.commands.printing import console, errors, file_size, print_json, spinner
from nextbatch.commands.remote import AsJson, KeyOption, StudyName, Url, connect, open_study
from nextbatch.display import plural

if TYPE_CHECKING:
    from app.settings import Settings

Target = Annotated[Path, typer.Argument(help="The file to write; it must not exist.", dir_okay=False)]
SHOWN = 20  # heads that a backup prints; the file has them all
Source = Annotated[Path, typer.Argument(help="The file to read.", exists=True, dir_okay=False)]


def export_study(study: StudyName, file: Target, url: Url = None, key: KeyOption = None) -> None:
    """Write a whole study to one archive file."""
    _must_be_new(file)
    with open_study(study, url, key) as opened, spinner("Exporting"):
        opened.export(file)
    console.print(f"Study {study} is exported to {file} ({file_size(file)}).")
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    console.print(f"Its head: event {manifest['events']}, {manifest['head']}", soft_wrap=True)


def import_study(
    file: Source,
    url: Url = None,
    key: KeyOption = None,
    accept_unverified: Annotated[
        bool, typer.Option("--accept-unverified", help="Import it even if no trusted server signed it.")
    ] = False,
    name: Annotated[str | None, typer.Option(help="Another name for the study.")] = None,
    as_json: AsJson = False,
) -> None:
    """Import a study from an archive."""
    with connect(url, key) as client, spinner("Importing"):
        study = client.import_study(file, accept_unverified=accept_unverified, name=name)
    if as_json:
        print_json(study.details)
    else:
        console.print(f"Study {study.name} is imported: {plural(study.details.candidates, 'candidate')}.")


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write, which must not exist; with --every, a folder.")],
    every: Annotated[
        float | None, typer.Option(help="Make a copy every so many minutes, until stopped.", min=0.1)
    ] = None,
    keep: Annotated[int, typer.Option(help="With --every, how many copies to keep.", min=1)] = 24,
) -> None:
    """Copy this machine's database while the server runs."""
    if every is None:
        _back_up(file)
        return
    file.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        began = monotonic()
        _back_up(file / f"nextbatch-{now().replace(':', '')}.sqlite3")
        _drop_oldest(file, keep)
        sleep(max(0.0, began + every * 60 - monotonic()))


def _drop_oldest(folder: Path, keep: int) -> None:
    """Delete the oldest copies that `--every` made, and their heads."""
    for old in sorted(folder.glob("nextbatch-*.sqlite3"))[:-keep]:
        old.unlink()
        old.with_name(f"{old.name}.heads.json").unlink(missing_ok=True)


def _back_up(file: Path) -> None:
    from app.settings import read_settings
    from app.storage import backup as backups

    _must_be_new(file)
    _record(file)
    with Progress(console=errors, transient=True) as bars:
        bar = bars.add_task("Copying", total=None)
        backups.copy(
            read_settings().database_address, file, lambda done, total: bars.update(bar, completed=done, total=total)
        )
    console.print(f"The database is copied to {file} ({file_size(file)}).")
    _anchor(file)


def _record(file: Path) -> None:
    """Note the copy in the audit log. A database that cannot be written to needs its backup all the same."""
    from sqlalchemy.exc import SQLAlchemyError

    from app.cli.local import local_database
    from app.services.use_cases.audit import record_copy
    from app.settings import read_settings

    if not read_settings().database_address.startswith("sqlite"):
        return  # `copy` says what to use instead
    try:
        with local_database() as (database, operator), database.write() as connection:
            record_copy(connection, operator, file.name)
    except (Refusal, SQLAlchemyError) as error:
        errors.print(f"The audit log has no entry of this copy: {error}")
    except ValueError:
        return  # there is no database, as `copy` says


def restore(file: Source) -> None:
    """Restore a copy as this machine's database, which must not exist (stop the server first)."""
    from app.settings import read_settings
    from app.storage import backup as backups

    settings = read_settings()
    backups.restore(file, settings.database_address)
    _compare_remembered(settings)
    console.print("The database is restored. `nextbatch serve` upgrades its schema if it is older.")


def _anchor(file: Path) -> None:
    """Write and print the heads of a copy, so that they can be kept elsewhere."""
    from app.services.signing import open_signer
    from app.services.use_cases.heads import sign
    from app.settings import read_settings
    from app.storage import backup as backups

    newest = backups.heads_of(file)
    signed = sign(open_signer(read_settings().signing_key_file), tuple(newest))
    anchored = file.with_name(f"{file.name}.heads.json")
    anchored.write_text(json.dumps(signed.plain(), indent=1) + "\n")
    console.print(f"Its heads are in {anchored}; keep that file elsewhere, for `nextbatch verify --heads`.")
    for head in newest[:SHOWN]:
        console.print(f"  {head.study}: event {head.seq}, {head.hash}", soft_wrap=True)


def _compare_remembered(settings: "Settings") -> None:
    """Say what the restored copy lacks, and remember its heads from now on."""
    from app.storage import backup as backups
    from app.storage import remembered_heads

    lacking = backups.lacking(settings.database_address, remembered_heads.read(settings.heads_file))
    for check in lacking:
        errors.print(f"[bold red]The copy is older than what was acknowledged here: {check}[/]")
    if lacking:
        kept = settings.heads_file.rename(f"{settings.heads_file}.before-{now().replace(':', '')}")
        errors.print(f"The newest heads from before are kept in {kept}.")


def _must_be_new(file: Path) -> None:
    if file.exists():
        raise FileExistsError(f"{file} exists already; nothing was overwritten. Choose another name.")
