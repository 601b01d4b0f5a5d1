"""From the command line: swap a suggestion, switch candidates off, change settings, show the front."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import StudyDetails
from ..display import plural
from .printing import batch_table, console, print_json, spinner, table
from .remote import AsJson, KeyOption, StudyName, Url, open_study

Conditions = Annotated[
    list[str] | None, typer.Option("--where", help="A condition such as 'solvent = DMF'; repeatable.")
]


def swap(
    study: StudyName,
    suggestion: Annotated[str, typer.Argument(help="A pending suggestion such as B3-S1.")],
    reason: Annotated[str, typer.Option(help='Why; "not in stock" switches the candidate off.', show_default=False)],
    switch_off: Annotated[
        bool | None, typer.Option("--switch-off/--keep", help="Switch the candidate off as well, or keep it.")
    ] = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Replace a pending suggestion by the next best candidate (`swap my-study B3-S1 --reason "not in stock"`)."""
    with open_study(study, url, key) as opened, spinner("Choosing the next best candidate"):
        number = int(suggestion.upper().removeprefix("B").partition("-")[0])
        batch = opened.batch(number)[suggestion.upper()].swap(reason, switch_off=switch_off)
    if as_json:
        print_json(batch.details)
        return
    console.print(f"Batch {batch.number} for {batch.worker}:")
    console.print(batch_table(batch))


def switch(
    study: StudyName,
    available: Annotated[bool, typer.Option("--on/--off", help="Switch them on or off.", show_default=False)],
    candidates: Annotated[list[str] | None, typer.Argument(help="Keys of candidates.")] = None,
    where: Conditions = None,
    reason: Annotated[str | None, typer.Option(help="Why; switching off needs it.")] = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Switch candidates off or on, by key or condition (`switch my-study --off --where "stock=no" --reason …`)."""
    if bool(candidates) == bool(where):
        raise typer.BadParameter("Give keys, or conditions with --where.")
    with open_study(study, url, key) as opened:
        switched = opened.switch(keys=candidates or None, where=where or None, available=available, reason=reason)
    if as_json:
        print_json(switched)
        return
    state = "on" if available else "off"
    console.print(f"{plural(switched.switched, 'candidate')} switched {state}; {switched.available} are available.")


def change(
    study: StudyName,
    where: Conditions = None,
    anywhere: Annotated[bool, typer.Option("--anywhere", help="Ask without conditions again.")] = False,
    settings: Annotated[Path | None, typer.Option(help="A JSON file with settings.", exists=True)] = None,
    reason: Annotated[str | None, typer.Option(help="Kept in the ledger.")] = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Change settings, such as conditions for every ask (`change my-study --where "stock=yes"`)."""
    given: dict[str, Any] = json.loads(settings.read_text()) if settings else {}
    if where or anywhere:
        given["where"] = [] if anywhere else where
    if not given:
        raise typer.BadParameter("Say what to change: --where, --anywhere or --settings.")
    with open_study(study, url, key) as opened:
        details = opened.change(reason=reason, **given)
    _show_change(details, given, as_json=as_json)


def front(study: StudyName, url: Url = None, key: KeyOption = None, as_json: AsJson = False) -> None:
    """Show the best compromises between several objectives that were measured so far."""
    with open_study(study, url, key) as opened, spinner("Reading"):
        found = opened.front()
    if as_json:
        print_json(found)
        return
    console.print(found.words, markup=False)
    names = list(found.measured[0].values) if found.measured else []
    rows = ([point.key, *map(point.values.get, names), point.measurements] for point in found.measured)
    if names:
        console.print(table(["candidate", *names, "measurements"], rows))


def _show_change(details: StudyDetails, given: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(details)
        return
    console.print(f"Study {details.name} is changed: {', '.join(given)}.")
