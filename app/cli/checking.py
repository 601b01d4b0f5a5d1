"""Checks from the command line. The exit code is 4 if a check finds something."""

from typing import Annotated

import typer
from rich.progress import track

from app.cli.printing import console, errors, print_json, spinner
from app.cli.remote import AsJson, KeyOption, StudyName, Url, open_study
from nextbatch import Replayed

FOUND_SOMETHING = 4


def verify(study: StudyName, url: Url = None, key: KeyOption = None, as_json: AsJson = False) -> None:
    """Check every hash of a study's ledger."""
    with open_study(study, url, key) as opened, spinner("Checking the ledger"):
        verified = opened.verify()
    if as_json:
        print_json(verified)
    elif verified.sound:
        console.print(f"All {verified.events} events are intact. The last hash is {verified.head[:12]}.")
    else:
        errors.print(f"[bold red]Event {verified.broken_at} of {verified.events} was altered.[/]")
    raise typer.Exit(0 if verified.sound else FOUND_SOMETHING)


def replay(
    study: StudyName,
    number: Annotated[int | None, typer.Argument(min=1, help="The batch; by default all batches.")] = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Compute batches again and compare them bit for bit."""
    with open_study(study, url, key) as opened:
        numbers = [number] if number else [batch.number for batch in opened.batches()]
        tracked = track(numbers, "Replaying", console=errors, disable=as_json or len(numbers) < 2)
        replays = [opened.replay(batch) for batch in tracked]
    if as_json:
        print_json(replays)
    else:
        for replayed in replays:
            console.print(_verdict(replayed))
    raise typer.Exit(0 if all(replayed.equal for replayed in replays) else FOUND_SOMETHING)


def _verdict(replayed: Replayed) -> str:
    differences = " and ".join(replayed.differences)
    words = "identical" if replayed.equal else f"[bold red]differs in {differences}[/]"
    builds = "" if replayed.recorded_build == replayed.this_build else f" (recorded by {replayed.recorded_build})"
    return f"Batch {replayed.number}: {words}{builds}"
