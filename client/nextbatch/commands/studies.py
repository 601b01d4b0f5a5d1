"""Studies from the command line: list them, create one, upload its candidates, see how far it is."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from .. import StudyDetails
from ..display import plural
from .descriptors import joined
from .printing import console, file_size, print_json, print_warnings, spinner, table
from .remote import AsJson, KeyOption, StudyName, Url, connect, open_study


def list_studies(url: Url = None, key: KeyOption = None, as_json: AsJson = False) -> None:
    """List the studies that the key has access to."""
    with connect(url, key) as client:
        listed = [study.details for study in client.studies()]
    if as_json:
        print_json(listed)
        return
    console.print(table(["study", "state", "candidates", "objective", "created"], map(_row, listed)))


def _row(study: StudyDetails) -> list[object]:
    created = f"{study.created_at:%Y-%m-%d %H:%M}"
    return [study.name, study.state, study.candidates, study.configuration["objective"], created]


def create(
    study: StudyName,
    minimize: Annotated[bool, typer.Option("--minimize", help="Smaller values are better.")] = False,
    objective: Annotated[str, typer.Option(help="Name of what is measured.")] = "value",
    unit: Annotated[str, typer.Option(help="Unit of what is measured.")] = "",
    budget: Annotated[float | None, typer.Option(min=0, help="What all measurements together may cost.")] = None,
    cost_unit: Annotated[str | None, typer.Option(help="Unit of the costs.")] = None,
    settings: Annotated[
        Path | None, typer.Option(help="A JSON file with more settings, such as several objectives.", exists=True)
    ] = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Create a study. Repeating it does no harm."""
    stated: dict[str, Any] = json.loads(settings.read_text()) if settings else {}
    given: dict[str, Any] = {"direction": "minimize" if minimize else "maximize", "objective": objective, "unit": unit}
    given = {} if "objectives" in stated else given
    given |= {name: value for name, value in (("budget", budget), ("cost_unit", cost_unit)) if value is not None}
    given |= stated
    with connect(url, key) as client:
        details = client.create_study(study, **given).details
    if as_json:
        print_json(details)
    else:
        console.print(f"Study {study} is ready: {details.state}, {plural(details.candidates, 'candidate')}.")


def fork(
    study: StudyName,
    name: Annotated[str, typer.Argument(help="The name of the new study.")],
    at: Annotated[int | None, typer.Option(help="The last event to take over; by default the newest.", min=1)] = None,
    settings: Annotated[Path | None, typer.Option(help="A JSON file with settings that differ.", exists=True)] = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Begin another study as this one was, under other settings."""
    given: dict[str, Any] = json.loads(settings.read_text()) if settings else {}
    with open_study(study, url, key) as opened, spinner("Forking"):
        details = opened.fork(name, at=at, **given).details
    if as_json:
        print_json(details)
        return
    taken_over = f" after event {details.forked_from.at}" if details.forked_from else ""
    console.print(f"Study {name} is ready: it begins as {study} was{taken_over}.")


def borrow(
    study: StudyName,
    earlier: Annotated[list[str] | None, typer.Argument(help="Earlier studies; none to borrow no more.")] = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Use results of earlier studies as hints, as far as they turn out to be."""
    with open_study(study, url, key) as opened:
        borrowed = opened.borrow(*(earlier or []))
    if as_json:
        print_json(borrowed)
        return
    for results in borrowed:
        console.print(results.words, soft_wrap=True)
    if not borrowed:
        console.print(f"Study {study} borrows no results.")


def upload(
    study: StudyName,
    file: Annotated[Path, typer.Argument(help="CSV, .npy, Parquet, Arrow or JSON.", exists=True, dir_okay=False)],
    attribute: Annotated[
        list[str] | None, typer.Option(help="A column to keep but not to model; repeat for more.")
    ] = None,
    text: Annotated[list[str] | None, typer.Option(help="A column to read as text; repeat for more.")] = None,
    cost: Annotated[str | None, typer.Option(help="The column with the cost of one measurement.")] = None,
    duration: Annotated[str | None, typer.Option(help="The column that says how long one measurement takes.")] = None,
    feature: Annotated[
        list[str] | None, typer.Option(help="A cost or duration to model all the same; repeat for more.")
    ] = None,
    smiles: Annotated[list[str] | None, typer.Option(help="A column of molecules in SMILES; repeat for more.")] = None,
    descriptors: Annotated[
        list[Path] | None,
        typer.Option(
            help="A CSV file about the levels of a column, which its first column names; repeat for more.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    key_column: Annotated[str | None, typer.Option(help="The column with the candidates' keys.")] = None,
    append: Annotated[bool, typer.Option("--append", help="Add to the existing candidates.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything, store nothing.")] = False,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Upload the list of candidates, or add to it."""
    with (
        TemporaryDirectory() as folder,
        open_study(study, url, key) as opened,
        spinner(f"Sending {file.name} ({file_size(file)})"),
    ):
        file = joined(file, descriptors, Path(folder)) if descriptors else file
        if append:
            receipt = opened.append(file, dry_run=dry_run)
        else:
            columns: dict[str, Any] = {"attributes": attribute or (), "text": text or (), "key": key_column}
            columns |= {"cost": cost, "duration": duration, "features": feature or ()}
            columns["smiles"] = smiles or ()
            receipt = opened.upload(file, dry_run=dry_run, **columns)
    if as_json:
        print_json(receipt)
        return
    print_warnings(receipt.warnings)
    has = "would have" if dry_run else "has"
    console.print(f"Study {study} {has} {plural(receipt.candidates, 'candidate')} ({receipt.added} from this file).")
    rows = ([column.name, column.kind, column.expense or column.role] for column in receipt.columns)
    console.print(table(["column", "kind", "role"], rows))


def status(study: StudyName, url: Url = None, key: KeyOption = None, as_json: AsJson = False) -> None:
    """Show how far a study is, with a chart of the best so far."""
    with open_study(study, url, key) as opened, spinner("Reading"):
        overview = opened.overview()
    if as_json:
        print_json(overview)
    else:
        console.print(str(overview), markup=False)
