"""Checks from the command line. The exit code is 4 if a check finds something."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track

from nextbatch import Difference, HeadsChecked, Replayed, Verified
from nextbatch.commands.printing import console, errors, print_json, spinner
from nextbatch.commands.remote import AsJson, KeyOption, StudyName, Url, connect, open_study

FOUND_SOMETHING = 4

HeadsOption = Annotated[
    Path | None,
    typer.Option("--heads", help="Heads that `nextbatch heads` or `backup` wrote.", exists=True, dir_okay=False),
]


def verify(
    study: Annotated[str | None, typer.Argument(help="The study; by default all that the key may see.")] = None,
    heads: HeadsOption = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Check every hash of the ledger, everything that is derived from it, and heads that were kept elsewhere."""
    with connect(url, key) as client, spinner("Checking the ledger"):
        names = [study] if study else [listed.name for listed in client.studies()]
        results = {name: client.study(name).verify() for name in names}
        checked = client.check_heads(json.loads(heads.read_text())) if heads else None
    if as_json:
        print_json(results[study] if study else list(results.values()))
    else:
        for name, verified in results.items():
            _print_verified(name, verified)
    if checked is not None:
        _print_checked(checked)
    sound = all(verified.sound for verified in results.values()) and (checked is None or checked.kept)
    raise typer.Exit(0 if sound else FOUND_SOMETHING)


def save_heads(
    file: Annotated[Path | None, typer.Argument(help="The file to write; by default they are printed.")] = None,
    url: Url = None,
    key: KeyOption = None,
) -> None:
    """Print or save the newest hash of every ledger, signed, to be kept elsewhere and given to `verify --heads`."""
    if file is not None and file.exists():
        raise FileExistsError(f"{file} exists already; nothing was overwritten. Choose another name.")
    with connect(url, key) as client:
        text = json.dumps(client.heads(), indent=1) + "\n"
    if file is None:
        console.file.write(text)
    else:
        file.write_text(text)
        console.print(f"The heads are in {file}. Keep it on another machine.")


def _print_verified(name: str, verified: Verified) -> None:
    if verified.sound:
        console.print(f"{name}: all {verified.events} events are intact. The last hash is {verified.head[:12]}.")
    elif verified.broken_at is not None:
        errors.print(f"[bold red]{name}: event {verified.broken_at} of {verified.events} was altered.[/]")
    else:
        _print_differences(name, verified.differences)


def _print_checked(checked: HeadsChecked) -> None:
    signer = "this server" if checked.signature == "own" else "another server"
    for check in checked.checks:
        if check.state != "kept":
            errors.print(f"[bold red]{check}[/]")
    if checked.kept:
        console.print(f"All {len(checked.checks)} heads, signed by {signer}, are kept.")


def _print_differences(name: str, differences: Sequence[Difference]) -> None:
    errors.print(f"[bold red]{name}: the ledger is intact, but other tables do not say what it says:[/]")
    for difference in differences:
        errors.print(f"  {difference}", markup=False)
    errors.print("`nextbatch rebuild` makes these tables anew. Damaged arrays need a backup.")


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
