"""Studies from the command line: list, create, upload, see how one stands."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.connecting import AsJson, Key, StudyName, Url, connect, find
from app.cli.printing import console, errors, print_findings, print_json, table, waiting
from nextbatch import Overview


def list_studies(url: Url = None, key: Key = None, as_json: AsJson = False) -> None:
    """List the studies that the key may see."""
    details = [study.details for study in connect(url, key).studies()]
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
    made = connect(url, key).create_study(study, **given)
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
    found = find(study, url, key)
    with waiting(f"Sending {file.name} ({file.stat().st_size / 1e6:.1f} MB)"):
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
    with waiting("Reading"):
        overview: Overview = find(study, url, key).overview()
    if as_json:
        print_json(overview)
    else:
        console.print(str(overview), markup=False)
