"""Studies from the command line: list, create, upload, see how one stands."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.connecting import AsJson, Key, StudyName, Url, connect, opened
from app.cli.printing import console, errors, print_findings, print_json, table, waiting


def list_studies(url: Url = None, key: Key = None, as_json: AsJson = False) -> None:
    """List the studies that the key may see."""
    with connect(url, key) as client:
        details = [study.details for study in client.studies()]
    if as_json:
        print_json(details)
        return
    rows = (
        [one.name, one.state, one.candidates, one.configuration["objective"], f"{one.created_at:%Y-%m-%d %H:%M}"]
        for one in details
    )
    console.print(table(["study", "state", "candidates", "objective", "created"], rows))


def create(
    study: StudyName,
    minimize: Annotated[bool, typer.Option("--minimize", help="Small values are wanted.")] = False,
    objective: Annotated[str, typer.Option(help="Name of what is measured.")] = "value",
    unit: Annotated[str, typer.Option(help="Its unit.")] = "",
    settings: Annotated[Path | None, typer.Option(help="A JSON file with more settings.", exists=True)] = None,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Create a study; the same again finds it."""
    given: dict[str, Any] = {"direction": "minimize" if minimize else "maximize", "objective": objective, "unit": unit}
    given |= json.loads(settings.read_text()) if settings else {}
    with connect(url, key) as client:
        made = client.create_study(study, **given)
    if as_json:
        print_json(made.details)
    else:
        console.print(f"{study} is there: {made.details.state}, {made.details.candidates} candidates.")


def upload(
    study: StudyName,
    file: Annotated[Path, typer.Argument(help="CSV, .npy, Parquet, Arrow or JSON.", exists=True, dir_okay=False)],
    attribute: Annotated[list[str] | None, typer.Option(help="A column carried along, not modelled.")] = None,
    text: Annotated[list[str] | None, typer.Option(help="A column to read as text.")] = None,
    key_column: Annotated[str | None, typer.Option(help="The column that names the candidate.")] = None,
    append: Annotated[bool, typer.Option("--append", help="Add to the candidates that are there.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything, store nothing.")] = False,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Upload the list of candidates, or add to it."""
    size = f"{file.stat().st_size / 1e6:.1f} MB"
    with opened(study, url, key) as found, waiting(f"Sending {file.name} ({size})"):
        if append:
            receipt = found.append(file, dry_run=dry_run)
        else:
            columns: dict[str, Any] = {"attributes": attribute or (), "text": text or (), "key": key_column}
            receipt = found.upload(file, dry_run=dry_run, **columns)
    if as_json:
        print_json(receipt)
        return
    if receipt.warnings:
        errors.print(f"{len(receipt.warnings)} warnings:")
        print_findings(receipt.warnings, "yellow")
    done = "would be there" if dry_run else "are there"
    console.print(f"{receipt.candidates} candidates {done} ({receipt.added} in this file).")
    console.print(table(["column", "kind", "role"], ([one.name, one.kind, one.role] for one in receipt.columns)))


def status(study: StudyName, url: Url = None, key: Key = None, as_json: AsJson = False) -> None:
    """Show how a study stands, with a chart of the best so far."""
    with opened(study, url, key) as found, waiting("Reading"):
        overview = found.overview()
    if as_json:
        print_json(overview)
    else:
        console.print(str(overview), markup=False)
