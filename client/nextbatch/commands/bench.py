"""The bench from the command line: ask for a batch, report results, watch a study live."""

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape

from .. import AsyncClient, InvalidInput, Reported, Suggestion
from .._request_bodies import is_suggestion
from ..display import plural
from .printing import batch_table, console, errors, expenses_in_words, print_json, print_warnings, spinner, table
from .remote import AsJson, KeyOption, StudyName, Url, find_server, open_study

Sheet = Annotated[Path | None, typer.Option("--sheet", help="A CSV or .xlsx file.", dir_okay=False, show_default=False)]

IMPLAUSIBLE = {"implausible-value", "extreme-value"}
"""The codes of the findings that a person can confirm."""


def ask(
    study: StudyName,
    worker: Annotated[str, typer.Option(help="Who will measure: a bench, a robot, a script.")] = "default",
    min_size: Annotated[int | None, typer.Option(min=1, help="Smallest number of measurements.")] = None,
    max_size: Annotated[int | None, typer.Option(min=1, help="Largest number of measurements.")] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="A condition such as 'temperature >= 80'; repeatable.")
    ] = None,
    include: Annotated[list[str] | None, typer.Option(help="The key of a candidate to include; repeatable.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="The key of a candidate to leave out; repeatable.")] = None,
    same: Annotated[list[str] | None, typer.Option(help="A column with one value in the whole batch.")] = None,
    at_most: Annotated[list[str] | None, typer.Option(help="Distinct values, as in solvent=3; repeatable.")] = None,
    per: Annotated[list[str] | None, typer.Option(help="Measurements per value, as in solvent=2; repeatable.")] = None,
    wells: Annotated[int | None, typer.Option(min=1, help="Fill a plate with this many wells.")] = None,
    budget: Annotated[float | None, typer.Option(min=0, help="What all measurements may cost.")] = None,
    time: Annotated[float | None, typer.Option(min=0, help="How long all measurements may take.")] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Show the batch; store nothing.")] = False,
    sheet: Sheet = None,
    comma: Annotated[bool, typer.Option("--comma", help="Write decimal commas into the sheet.")] = False,
    bom: Annotated[bool, typer.Option("--bom", help="Write a byte order mark, for some spreadsheets.")] = False,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Ask for the next batch; print it, or write the sheet to fill in."""
    terms: dict[str, Any] = {"where": where, "include": include, "exclude": exclude, "same": same, "wells": wells}
    terms |= {"at_most": _limits(at_most, "--at-most"), "per": _limits(per, "--per")}
    sizes: dict[str, Any] = {"min_size": min_size, "max_size": max_size}
    allowances = {"budget": budget, "time": time}
    request = sizes | {name: value for name, value in terms.items() if value}
    request |= {name: most for name, most in allowances.items() if most is not None}
    if preview:
        _preview(study, worker, request, url, key, as_json=as_json)
        return
    with open_study(study, url, key) as opened, spinner("Choosing the next batch"):
        batch = opened.ask(worker, **request)
        if sheet is not None:
            batch.sheet(sheet, decimal="comma" if comma else "point", bom=bom)
    if sheet is not None:
        errors.print(f"Batch {batch.number}: {plural(batch.size, 'measurement')}, written to {sheet}.")
    elif as_json:
        suggestions = [_suggestion_json(suggestion) for suggestion in batch]
        console.print_json(data={"number": batch.number, "worker": batch.worker, "suggestions": suggestions})
    else:
        takes = expenses_in_words(batch.details)
        console.print(f"Batch {batch.number} for {batch.worker}: {plural(batch.size, 'measurement')}{takes}.")
        console.print(batch_table(batch))


def _limits(written: list[str] | None, option: str) -> dict[str, int]:
    """Limits such as `solvent=3`, by column."""
    limits = {}
    for limit in written or ():
        column, sign, number = limit.rpartition("=")
        if not (sign and column and number.isdigit() and int(number)):
            raise typer.BadParameter("Write a column and a number, as in solvent=3.", param_hint=option)
        limits[column.strip()] = int(number)
    return limits


def _preview(
    study: str, worker: str, request: dict[str, Any], url: str | None, key: str | None, *, as_json: bool
) -> None:
    with open_study(study, url, key) as opened, spinner("Choosing the next batch"):
        previewed = opened.preview(worker, **request)
    if as_json:
        console.print_json(data=asdict(previewed))
        return
    takes = expenses_in_words(previewed)
    console.print(
        f"A batch for {worker} would have {plural(previewed.size, 'measurement')}{takes}. Nothing was stored."
    )
    columns = [*previewed.suggestions[0].features, *previewed.suggestions[0].attributes]
    rows = [
        [suggestion.key, *({**suggestion.features, **suggestion.attributes}.values()), suggestion.why.words]
        for suggestion in previewed.suggestions
    ]
    console.print(table(["candidate", *columns, "why"], rows))
    for term, price in previewed.prices.items():
        console.print(f"`{term}` costs {price:.3g}: without it, the batch would promise that much more.")


def _suggestion_json(suggestion: Suggestion[Any]) -> dict[str, Any]:
    names = ("key", "replicates", "state", "features", "attributes", "cost", "duration")
    return {"suggestion": suggestion.id} | {name: getattr(suggestion, name) for name in names}


def report(
    study: StudyName,
    target: Annotated[str | None, typer.Argument(help="A suggestion such as B3-S1, or a candidate's key.")] = None,
    value: Annotated[list[float] | None, typer.Argument(help="The measured value; several for replicates.")] = None,
    sheet: Sheet = None,
    failed: Annotated[str | None, typer.Option(help="Why the measurement failed.")] = None,
    note: Annotated[str | None, typer.Option(help="A remark.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Send it without asking.")] = False,
    duplicates: Annotated[
        Literal["skip", "new"], typer.Option(help="Skip values reported before, or store them as new.")
    ] = "skip",
    implausible: Annotated[
        Literal["ask", "accept", "refuse"], typer.Option(help="What to do with values far from all earlier ones.")
    ] = "ask",
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Report one result (`report my-study B3-S1 0.83`), or a filled-in sheet (`report my-study --sheet FILE`)."""
    if (sheet is None) == (target is None) or (target is not None and (value is None) == (failed is None)):
        raise typer.BadParameter("Give a suggestion or a key with its value or --failed REASON, or give --sheet FILE.")
    asks = not (yes or as_json)
    judgement: Literal["accept", "refuse"] = "refuse" if implausible == "refuse" else "accept"
    with open_study(study, url, key) as opened:
        if sheet is not None:
            send = partial(opened.report, sheet, duplicates=duplicates, implausible=judgement)
            reported = _send_sheet(send, asks=asks)
        else:
            result = {"failed": {"reason": failed}} if failed else {"values": value}
            name = "suggestion" if is_suggestion(target or "") else "key"
            send = partial(opened.report, {name: target, **result, "note": note}, duplicates=duplicates)
            reported = _send_result(send) if asks and implausible == "ask" else send(implausible=judgement)
    _show(reported, as_json=as_json)


def watch(
    study: StudyName,
    after: Annotated[int | None, typer.Option(help="Start after this event; by default with the next one.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Stop after this many events.")] = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Watch a study live, event by event, until interrupted."""
    with open_study(study, url, key) as opened, closing(opened.events(after=after)) as events:
        for event in islice(events, limit):
            if as_json:
                print_json(event)
            else:
                when, words = f"{event.recorded_at:%H:%M:%S}", escape(event.words or event.type)
                console.print(f"{when}  {event.seq:>6}  [bold]{words}[/]  {escape(event.reason or '')}")


def serve_mcp(url: Url = None, key: KeyOption = None) -> None:
    """Offer studies as tools of the Model Context Protocol, over standard input and output, under the given key."""
    try:
        from ..mcp_server import make_server  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError as missing:
        raise typer.BadParameter("This needs the extra `mcp`: pip install 'nextbatch[mcp]'.") from missing
    make_server(AsyncClient(*find_server(url, key))).run("stdio")


def _send_sheet(send: Callable[..., Reported], *, asks: bool) -> Reported:
    """Check the sheet with a dry run, which names the rows that need correcting; send it after confirmation."""
    with spinner("Checking the sheet"):
        checked = send(dry_run=True)
    if asks:
        _show(checked, as_json=False)
        typer.confirm("Report them?", abort=True)
    with spinner("Reporting"):
        return send()


def _send_result(send: Callable[..., Reported]) -> Reported:
    """Send a result; if the server finds it implausible, send it again after confirmation."""
    try:
        return send(implausible="refuse")
    except InvalidInput as refused:
        if not {finding.code for finding in refused.errors} <= IMPLAUSIBLE:
            raise
        print_warnings(refused.errors)
        typer.confirm("Store it anyway?", abort=True)
    return send(implausible="accept")


def _show(reported: Reported, *, as_json: bool) -> None:
    if as_json:
        print_json(reported)
        return
    print_warnings(reported.warnings)
    statuses = Counter(result.status for result in reported.results)
    title = "Reported" if reported.stored else "Would be reported"
    console.print(table([title, ""], statuses.items()))
