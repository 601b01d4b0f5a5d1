"""The `nextbatch` command of a bench: ask for batches, report and correct results. It needs no server on this machine.

Every error is one clear line and an exit code, never a traceback. Exit codes: 0 done; 1 refused or failed; 2 wrong
usage; 3 the server cannot be reached or is busy; 4 a check found something.
"""

import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

import typer
from rich.markup import escape

from .. import NextbatchError, Unavailable, Unreachable
from . import bench, changes, deletion, reservations, results, studies, webhooks
from .printing import console, errors

FAILED, TRY_LATER = 1, 3

STUDIES: dict[str, Callable[..., None]] = {
    "studies": studies.list_studies,
    "create": studies.create,
    "upload": studies.upload,
    "fork": studies.fork,
    "borrow": studies.borrow,
    "status": studies.status,
    "front": changes.front,
    "change": changes.change,
    "switch": changes.switch,
    "delete": deletion.delete,
    "undelete": deletion.undelete,
    "purge": deletion.purge,
    "watch": bench.watch,
}
BENCH: dict[str, Callable[..., None]] = {
    "ask": bench.ask,
    "report": bench.report,
    "swap": changes.swap,
    "reserve": reservations.reserve,
    "release": reservations.release,
    "results": results.list_results,
    "correct": results.correct,
    "retract": results.retract,
    "mcp": bench.serve_mcp,
}


def make_command(distribution: str) -> typer.Typer:
    """The command with what every bench needs; `distribution` is the one whose version it tells."""
    command = typer.Typer(name="nextbatch", no_args_is_help=True, pretty_exceptions_enable=False)

    def print_version(wanted: bool) -> None:
        if wanted:
            console.print(f"{distribution} {version(distribution)}")
            raise typer.Exit

    @command.callback(help="The next batch of experiments, as a service.")
    def options(
        _version: Annotated[
            bool, typer.Option("--version", help="Print the version.", callback=print_version, is_eager=True)
        ] = False,
    ) -> None: ...

    add_panel(command, "Studies", STUDIES)
    add_panel(command, "The bench", BENCH)
    command.add_typer(webhooks.command, name="webhooks", help="Webhooks of a study.", rich_help_panel="Studies")
    return command


def add_panel(command: typer.Typer, panel: str, functions: dict[str, Callable[..., None]]) -> None:
    """Add functions as commands, together under one heading of `--help`."""
    for name, function in functions.items():
        command.command(name, rich_help_panel=panel)(function)


def run(
    command: typer.Typer, refusals: type[Exception] = NextbatchError, words: Callable[[Exception], str] = str
) -> None:
    """Run the command; what it refuses, and what goes wrong, is one line, which `words` writes."""
    try:
        command()
    except (Unreachable, Unavailable) as error:
        _exit(str(error), TRY_LATER)
    except (NextbatchError, RuntimeError, OSError, ValueError, refusals) as error:
        _exit(words(error))


def _exit(message: str, code: int = FAILED) -> None:
    errors.print(f"[bold red]nextbatch:[/] {escape(' '.join(message.split()))}", soft_wrap=True)
    sys.exit(code)
