"""The bench from the command line: ask for a batch, report results, watch a study live."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape

from .. import AsyncClient, Conflict, InvalidInput, Reported, Suggestion
from .._request_bodies import is_suggestion
from ..answers import ReportedValue
from ..display import plural
from .printing import batch_table, console, errors, expenses_in_words, print_json, print_warnings, spinner, table
from .remote import AsJson, KeyOption, StudyName, Url, find_server, open_study
from .results import measured_values

Sheet = Annotated[Path | None, typer.Option("--sheet", help="A CSV or .xlsx file.", dir_okay=False, show_default=False)]

IMPLAUSIBLE = {"implausible-value", "extreme-value"}
"""The codes of the findings about values far from all earlier ones, which a person can confirm."""

OUTSIDE_LIMITS = {"outside-limits"}
"""The code of the findings about values outside the limits of their quantity, which a person can confirm, too."""

MOST_SHOWN = 200  # rows of a sheet


def ask(
    study: StudyName,
    worker: Annotated[str, typer.Option(help="Who will measure: a bench, a robot, a script.")] = "default",
    min_size: Annotated[int | None, typer.Option(min=1, help="Smallest number of measurements.")] = None,
    max_size: Annotated[int | None, typer.Option(min=1, help="Largest number of measurements.")] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="A condition such as 'temperature >= 80'; repeatable.")
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option(help="The key of a candidate to include; repeatable, also for replicates.")
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="The key of a candidate to leave out; repeatable.")] = None,
    same: Annotated[list[str] | None, typer.Option(help="A column with one value in the whole batch.")] = None,
    at_most: Annotated[list[str] | None, typer.Option(help="Distinct values, as in solvent=3; repeatable.")] = None,
    per: Annotated[list[str] | None, typer.Option(help="Measurements per value, as in solvent=2; repeatable.")] = None,
    wells: Annotated[int | None, typer.Option(min=1, help="Fill a plate with this many wells.")] = None,
    budget: Annotated[float | None, typer.Option(min=0, help="What all measurements may cost.")] = None,
    time: Annotated[float | None, typer.Option(min=0, help="How long all measurements may take.")] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Show the batch; store nothing.")] = False,
    confirm: Annotated[
        str | None, typer.Option(help="Issue exactly the batch of this preview, asked for in the same way.")
    ] = None,
    sheet: Sheet = None,
    plate: Annotated[str | None, typer.Option(help="Give each row of the sheet a well, as in 8x12.")] = None,
    order_by: Annotated[str | None, typer.Option(help="Order the sheet by a column, to save changeovers.")] = None,
    comma: Annotated[bool, typer.Option("--comma", help="Write decimal commas into the sheet.")] = False,
    bom: Annotated[bool, typer.Option("--bom", help="Write a byte order mark, for some spreadsheets.")] = False,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Ask for the next batch; print it, or write the sheet to fill in."""
    terms: dict[str, Any] = {"where": where, "include": Counter(include), "exclude": exclude, "same": same}
    terms["wells"] = wells
    terms |= {"at_most": _limits(at_most, "--at-most"), "per": _limits(per, "--per")}
    sizes: dict[str, Any] = {"min_size": min_size, "max_size": max_size}
    allowances = {"budget": budget, "time": time}
    request = sizes | {name: value for name, value in terms.items() if value}
    request |= {name: most for name, most in allowances.items() if most is not None}
    if preview:
        _preview(study, worker, request, url, key, as_json=as_json)
        return
    with open_study(study, url, key) as opened, spinner("Choosing the next batch"):
        batch = opened.ask(worker, confirm=confirm, **request)
        if sheet is not None:
            batch.sheet(sheet, decimal="comma" if comma else "point", bom=bom, plate=plate, order_by=order_by)
    if sheet is not None:
        errors.print(f"Batch {batch.number}: {plural(batch.size, 'measurement')}, written to {sheet}.")
    elif as_json:
        suggestions = [_suggestion_json(suggestion) for suggestion in batch]
        console.print_json(data={"number": batch.number, "worker": batch.worker, "suggestions": suggestions})
    else:
        takes = expenses_in_words(batch.details)
        console.print(f"Batch {batch.number} for {batch.worker}: {plural(batch.size, 'measurement')}{takes}.")
        console.print(batch_table(batch))
        _print_size(batch.details.size_words)
        _print_prices(batch.details.price_words)


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
    _print_size(previewed.size_words)
    _print_prices(previewed.price_words)
    console.print(f"To issue this batch, ask in the same way with --confirm {previewed.preview}.")


def _print_size(words: str | None) -> None:
    """Why the batch has its size, where the server says so."""
    if words:
        console.print(words, markup=False, highlight=False)


def _print_prices(words: Mapping[str, str]) -> None:
    for price in words.values():
        console.print(price, markup=False)


def _suggestion_json(suggestion: Suggestion[Any]) -> dict[str, Any]:
    names = ("key", "replicates", "state", "features", "attributes", "cost", "duration")
    return {"suggestion": suggestion.id} | {name: getattr(suggestion, name) for name in names}


def report(
    study: StudyName,
    target: Annotated[str | None, typer.Argument(help="A suggestion such as B3-S1, or a candidate's key.")] = None,
    value: Annotated[
        list[str] | None, typer.Argument(help="The measured value; several for replicates; or yield=83.1 purity=97.")
    ] = None,
    sheet: Sheet = None,
    renamed: Annotated[
        list[str] | None,
        typer.Option("--map", help="A column of the sheet and ours, as in Ausbeute=value."),
    ] = None,
    failed: Annotated[str | None, typer.Option(help="Why the measurement failed.")] = None,
    retry: Annotated[
        bool, typer.Option("--retry/--no-retry", help="Whether a candidate that failed may be suggested again.")
    ] = True,
    note: Annotated[str | None, typer.Option(help="A remark.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Send it without asking.")] = False,
    duplicates: Annotated[
        Literal["skip", "new"], typer.Option(help="Skip values reported before, or store them as new.")
    ] = "skip",
    implausible: Annotated[
        Literal["ask", "accept", "refuse"], typer.Option(help="What to do with values far from all earlier ones.")
    ] = "ask",
    outside_limits: Annotated[
        Literal["ask", "accept", "refuse"],
        typer.Option(
            help="What to do with values outside their limits; --yes and --json refuse them unless you accept."
        ),
    ] = "ask",
    correct: Annotated[
        str | None, typer.Option(help="Correct results that are stored with other values, for this reason.")
    ] = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Report one result (`report my-study B3-S1 0.83`), or a filled-in sheet (`report my-study --sheet FILE`)."""
    if (sheet is None) == (target is None) or (target is not None and (value is None) == (failed is None)):
        raise typer.BadParameter("Give a suggestion or a key with its value or --failed REASON, or give --sheet FILE.")
    if not retry and failed is None:
        raise typer.BadParameter("--no-retry goes with --failed REASON.")
    asks = not (yes or as_json)
    judgement: Literal["accept", "refuse"] = "refuse" if implausible == "refuse" else "accept"
    confirmable = (IMPLAUSIBLE if implausible == "ask" else set()) | (
        OUTSIDE_LIMITS if outside_limits == "ask" else set()
    )
    choices: dict[str, Any] = {"duplicates": duplicates, "implausible": judgement}
    choices["outside_limits"] = "accept" if outside_limits == "accept" else "refuse"
    if correct is not None:
        choices |= {"corrections": "accept", "reason": correct}
    with open_study(study, url, key) as opened:
        if sheet is not None:
            send = partial(opened.report, sheet, map=_column_names(renamed), **choices)
            reported = _send_sheet(send, asks=asks, confirmable=confirmable & OUTSIDE_LIMITS)
        else:
            failure = {"failed": {"reason": failed, "retry": retry}}
            result = failure if failed else {"values": measured_values(value or [])}
            name = "suggestion" if is_suggestion(target or "") else "key"
            send = partial(opened.report, {name: target, **result, "note": note}, **choices)
            reported = _send_result(send, confirmable) if asks and confirmable else send()
    _show(reported, as_json=as_json)
    if sheet is not None and reported.upload is not None and not as_json:
        errors.print(f"To take all of it back: nextbatch retract {study} --upload {reported.upload} --reason …")


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


def _column_names(written: list[str] | None) -> dict[str, str]:
    """Pairs such as `Ausbeute=value`: the sheet's own name, then ours, which has no equals sign."""
    pairs = [pair.rpartition("=") for pair in written or ()]
    if not all(theirs and ours for theirs, _, ours in pairs):
        raise typer.BadParameter("Write the sheet's column and ours, as in Ausbeute=value.", param_hint="--map")
    return {theirs: ours for theirs, _, ours in pairs}


def _send_sheet(send: Callable[..., Reported], *, asks: bool, confirmable: set[str]) -> Reported:
    """Check the sheet with a dry run, which names the rows that need correcting; send it after confirmation."""
    if not asks:
        return _checked_and_sent(send)
    send, checked = _confirmed(send, confirmable)
    _show(checked, as_json=False)
    corrected = [result for result in checked.results if result.status == "corrected"]
    if corrected and "reason" not in send.keywords:
        question = f"Why are {plural(len(corrected), 'stored result')} corrected? (Leave empty to stop)"
        reason = typer.prompt(question, default="", show_default=False).strip()
        if not reason:
            raise typer.Abort
        send = partial(send, reason=reason)
    else:
        typer.confirm("Report them?", abort=True)
    with spinner("Reporting"):
        return send()


def _checked_and_sent(send: Callable[..., Reported]) -> Reported:
    with spinner("Checking the sheet"):
        send(dry_run=True)
    with spinner("Reporting"):
        return send()


def _confirmed(send: Callable[..., Reported], confirmable: set[str]) -> tuple[partial[Reported], Reported]:
    """The way to send a sheet with what a person confirms, and its dry run."""
    send = partial(send)
    while True:
        try:
            with spinner("Checking the sheet"):
                return send, send(dry_run=True)
        except Conflict as refused:
            if refused.code != "already-observed" or "corrections" in send.keywords:
                raise
            send = partial(send, corrections="accept")
        except InvalidInput as refused:
            _must_be_confirmed(refused, confirmable, "Store them anyway?")
            send = partial(send, outside_limits="accept")


def _send_result(send: Callable[..., Reported], confirmable: set[str]) -> Reported:
    """Send a result; if the server finds it implausible or outside its limits, send it again after confirmation."""
    refusals = {"implausible": "refuse"} if confirmable & IMPLAUSIBLE else {}
    try:
        return send(**refusals)
    except InvalidInput as refused:
        _must_be_confirmed(refused, confirmable, "Store it anyway?")
        beyond = any(finding.code in OUTSIDE_LIMITS for finding in refused.errors)
    return send(outside_limits="accept") if beyond else send()


def _must_be_confirmed(refused: InvalidInput, confirmable: set[str], question: str) -> None:
    """Let a person decide about a refusal, if it is of a kind that a person can decide about."""
    if not {finding.code for finding in refused.errors} <= confirmable:
        raise refused
    print_warnings(refused.errors)
    typer.confirm(question, abort=True)


def _show(reported: Reported, *, as_json: bool) -> None:
    if as_json:
        print_json(reported)
        return
    print_warnings(reported.warnings)
    statuses = Counter(result.status for result in reported.results)
    title = "Reported" if reported.stored else "Would be reported"
    if any(result.row is not None for result in reported.results):
        header = ["row", "suggestion", "candidate", "value", "before", "status"]
        console.print(table(header, map(_row, reported.results[:MOST_SHOWN])))
    console.print(table([title, ""], statuses.items()))


def _row(result: ReportedValue) -> list[object]:
    values, replaced = (_in_words(outcome) for outcome in (result.values, result.replaced))
    return [result.row, result.suggestion, result.key, values, replaced, result.status]


def _in_words(values: Mapping[str, Mapping[str, float | None]]) -> str:
    """The value alone, or several with the names of their quantities."""
    if len(values) == 1:
        return "".join(f"{measured['value']}" for measured in values.values())
    return ", ".join(f"{name} {measured['value']}" for name, measured in values.items())
