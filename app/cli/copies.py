"""Copies: one study as an archive, or the whole database."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from app.cli.connecting import AsJson, Key, StudyName, Url, connect, opened
from app.cli.printing import console, errors, print_json, waiting
from app.settings import Settings

Target = Annotated[Path, typer.Argument(help="The file to write; it must not be there.", dir_okay=False)]
Source = Annotated[Path, typer.Argument(help="The file to read.", exists=True, dir_okay=False)]


def export_study(study: StudyName, file: Target, url: Url = None, key: Key = None) -> None:
    """Write a whole study into one archive."""
    _must_be_new(file)
    with opened(study, url, key) as found, waiting("Exporting"):
        found.export(file)
    console.print(f"{study} is in {file} ({file.stat().st_size / 1e6:.1f} MB).")


def import_study(file: Source, url: Url = None, key: Key = None, as_json: AsJson = False) -> None:
    """Read a study from an archive."""
    with connect(url, key) as client, waiting("Importing"):
        study = client.import_study(file)
    if as_json:
        print_json(study.details)
    else:
        console.print(f"{study.name} is there: {study.details.candidates} candidates.")


def backup(file: Target) -> None:
    """Copy this machine's database while the server runs."""
    from app.storage import backup as backups

    _must_be_new(file)
    with Progress(console=errors, transient=True) as bars:
        bar = bars.add_task("Copying", total=None)
        backups.copy(
            Settings().database_address, file, lambda done, total: bars.update(bar, completed=done, total=total)
        )
    console.print(f"The database is in {file} ({file.stat().st_size / 1e6:.1f} MB).")


def restore(file: Source) -> None:
    """Put a copy in the place of this machine's database, which must not be there (stop the server first)."""
    from app.storage import backup as backups

    backups.restore(file, Settings().database_address)
    console.print("The database is restored; `nextbatch serve` brings it to this build's schema.")


def _must_be_new(file: Path) -> None:
    if file.exists():
        raise FileExistsError(f"{file} is there already; nothing is overwritten.")
