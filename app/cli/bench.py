"""The bench from the command line: ask for a batch, report what came out, watch it happen."""

from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from app.cli.connecting import AsJson, Key, StudyName, Url, opened
from app.cli.printing import batch_table, console, errors, print_findings, print_json, table, waiting
from nextbatch import Blocking, Reported, Study

Sheet = Annotated[Path | None, typer.Option("--sheet", help="A CSV file.", dir_okay=False, show_default=False)]


def ask(
    study: StudyName,
    worker: Annotated[str, typer.Option(help="Who asks: a bench, a robot, a script.")] = "default",
    min_size: Annotated[int | None, typer.Option(min=1, help="Fewest measurements wanted.")] = None,
    max_size: Annotated[int | None, typer.Option(min=1, help="Most measurements wanted.")] = None,
    sheet: Sheet = None,
    comma: Annotated[bool, typer.Option("--comma", help="Decimal comma in the sheet.")] = False,
    bom: Annotated[bool, typer.Option("--bom", help="Byte order mark, for some spreadsheet programs.")] = False,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Ask for the next batch; print it, or write the sheet to fill in."""
    with opened(study, url, key) as found, waiting("Choosing the next batch"):
        batch = found.ask(worker, min_size=min_size, max_size=max_size)
        if sheet is not None:
            batch.sheet(sheet, decimal="comma" if comma else "point", bom=bom)
    if sheet is not None:
        errors.print(f"Batch {batch.number}: {batch.size} measurements in {sheet}.")
    elif as_json:
        suggestions = [
            {"suggestion": one.id, "key": one.key, "replicates": one.replicates, "state": one.state}
            | {"features": one.features, "attributes": one.attributes}
            for one in batch
        ]
        console.print_json(data={"number": batch.number, "worker": batch.worker, "suggestions": suggestions})
    else:
        console.print(f"Batch {batch.number} for {batch.worker}: {batch.size} measurements.")
        console.print(batch_table(batch))


def report(
    study: StudyName,
    what: Annotated[str | None, typer.Argument(help="A suggestion such as 3-1, or a candidate's key.")] = None,
    value: Annotated[list[float] | None, typer.Argument(help="What was measured; several for replicates.")] = None,
    sheet: Sheet = None,
    failed: Annotated[str | None, typer.Option(help="Why there is no value.")] = None,
    note: Annotated[str | None, typer.Option(help="A remark.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Send the sheet without asking.")] = False,
    duplicates: Annotated[str, typer.Option(help="keep, or skip values that look reported before.")] = "keep",
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Report one result (`report my-study 3-1 0.83`), or a filled-in sheet (`report my-study --sheet FILE`)."""
    if (sheet is None) == (what is None) or (what is not None and (value is None) == (failed is None)):
        raise typer.BadParameter("give a suggestion or key with its value (or --failed REASON), or --sheet FILE")
    skip: Literal["keep", "skip"] = "skip" if duplicates == "skip" else "keep"
    with opened(study, url, key) as found:
        if sheet is not None:
            done = _send_sheet(found, sheet, skip, sure=yes or as_json)
        else:
            said = {"failed": {"reason": failed}} if failed else {"values": value}
            name = "suggestion" if _is_suggestion(what or "") else "key"
            done = found.report({name: what, **said, "note": note}, duplicates=skip)
    _show(done, as_json=as_json)


def watch(
    study: StudyName,
    after: Annotated[int | None, typer.Option(help="Begin after this event; by default with what comes next.")] = None,
    most: Annotated[int | None, typer.Option(min=1, help="End after so many events.")] = None,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Watch a study live, event by event, until interrupted."""
    with opened(study, url, key) as found, closing(found.events(after=after)) as events:
        for event in islice(events, most):
            if as_json:
                print_json(event)
            else:
                when = f"{event.recorded_at:%H:%M:%S}"
                console.print(f"{when}  {event.seq:>6}  [bold]{event.type}[/]  {escape(event.reason or '')}")


def _send_sheet(study: Study[Blocking], sheet: Path, duplicates: Literal["keep", "skip"], *, sure: bool) -> Reported:
    """A dry run first: its errors name rows, and nothing is stored before a person has agreed."""
    with waiting("Checking the sheet"):
        dry = study.report(sheet, dry_run=True, duplicates=duplicates)
    if not sure:
        _show(dry, as_json=False)
        typer.confirm("Report them?", abort=True)
    with waiting("Reporting"):
        return study.report(sheet, duplicates=duplicates)


def _show(reported: Reported, *, as_json: bool) -> None:
    if as_json:
        print_json(reported)
        return
    if reported.warnings:
        errors.print(f"{len(reported.warnings)} warnings:")
        print_findings(reported.warnings, "yellow")
    counted: dict[str, int] = {}
    for one in reported.results:
        counted[one.status] = counted.get(one.status, 0) + 1
    title = "Reported" if reported.stored else "Would be reported"
    console.print(table([title, ""], counted.items()))


def _is_suggestion(text: str) -> bool:
    batch, dash, rank = text.partition("-")
    return bool(dash) and batch.isdigit() and rank.isdigit()
