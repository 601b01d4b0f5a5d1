"""Checks from the command line. A check that finds something ends with exit code 4."""

from typing import Annotated

import typer
from rich.progress import track

from app.cli.connecting import AsJson, Key, StudyName, Url, opened
from app.cli.printing import console, errors, print_json, waiting

FOUND_SOMETHING = 4


def verify(study: StudyName, url: Url = None, key: Key = None, as_json: AsJson = False) -> None:
    """Check every hash of a study's ledger."""
    with opened(study, url, key) as found, waiting("Checking the ledger"):
        checked = found.verify()
    if as_json:
        print_json(checked)
    elif checked.sound:
        console.print(f"Sound: {checked.events} events, head {checked.head[:12]}.")
    else:
        errors.print(f"[bold red]Broken at event {checked.broken_at} of {checked.events}.[/]")
    raise typer.Exit(0 if checked.sound else FOUND_SOMETHING)


def replay(
    study: StudyName,
    number: Annotated[int | None, typer.Argument(min=1, help="The batch; all of them by default.")] = None,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Compute batches again and compare them bit for bit."""
    with opened(study, url, key) as found:
        numbers = [number] if number else [one.number for one in found.batches()]
        shown = track(numbers, "Replaying", console=errors, disable=as_json or len(numbers) < 2)
        answers = [found.replay(one) for one in shown]
    if as_json:
        print_json(answers)
    else:
        for one in answers:
            words = "the same" if one.equal else f"[bold red]other {' and '.join(one.differences)}[/]"
            builds = "" if one.recorded_build == one.this_build else f" (recorded by {one.recorded_build})"
            console.print(f"Batch {one.number}: {words}{builds}")
    raise typer.Exit(0 if all(one.equal for one in answers) else FOUND_SOMETHING)
