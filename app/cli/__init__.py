"""The `nextbatch` command. Every error is one clear line and an exit code, never a traceback.

Exit codes: 0 done; 1 refused or failed; 2 wrong usage; 3 the server cannot be reached or is busy; 4 a check found
something.

The modules of this package import the database and the engine inside the functions that need them, so that a remote
command, a completion and `--help` start fast.
"""

import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

import typer
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from rich.console import Console
from rich.markup import escape

from app.cli import bench, checking, copies, keys, local, serving, studies
from app.cli.backtest import backtest
from app.cli.demo.command import demo
from app.cli.printing import console
from app.domain.errors import Refusal
from nextbatch import NextbatchError, Unavailable, Unreachable

FAILED, TRY_LATER = 1, 3

command = typer.Typer(
    name="nextbatch",
    help="The next batch of experiments, as a service.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Studies": {
        "studies": studies.list_studies,
        "create": studies.create,
        "upload": studies.upload,
        "fork": studies.fork,
        "borrow": studies.borrow,
        "status": studies.status,
        "watch": bench.watch,
        "backtest": backtest,
    },
    "The bench": {"ask": bench.ask, "report": bench.report},
    "Checks and copies": {
        "verify": checking.verify,
        "heads": checking.save_heads,
        "replay": checking.replay,
        "export": copies.export_study,
        "import": copies.import_study,
    },
    "This machine's server": {
        "serve": serving.serve,
        "migrate": serving.migrate_database,
        "healthcheck": serving.healthcheck,
        "backup": copies.backup,
        "restore": copies.restore,
        "rebuild": local.rebuild,
        "audit": local.show_audit,
        "demo": demo,
    },
}
for _panel, _commands in _PANELS.items():
    for _name, _function in _commands.items():
        command.command(_name, rich_help_panel=_panel)(_function)
command.add_typer(
    keys.command, name="keys", help="API keys: create, list, revoke.", rich_help_panel="This machine's server"
)


def _print_version(wanted: bool) -> None:
    if wanted:
        console.print(f"nextbatch-server {version('nextbatch-server')}")
        raise typer.Exit


@command.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """The next batch of experiments, as a service."""


def main() -> None:
    try:
        command()
    except ValidationError as error:
        _exit("; ".join(_setting_error(detail) for detail in error.errors()))
    except (Unreachable, Unavailable) as error:
        _exit(str(error), TRY_LATER)
    except (Refusal, NextbatchError, RuntimeError, OSError, ValueError) as error:
        _exit(str(error))


def _setting_error(error: ErrorDetails) -> str:
    name = ".".join(str(part) for part in error["loc"])
    return f"{name}: {error['msg']}" if name else error["msg"]


def _exit(message: str, code: int = FAILED) -> None:
    Console(stderr=True, highlight=False).print(
        f"[bold red]nextbatch:[/] {escape(' '.join(message.split()))}", soft_wrap=True
    )
    sys.exit(code)
