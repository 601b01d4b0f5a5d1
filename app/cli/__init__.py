"""The `nextbatch` command. Errors leave as one clear line and an exit code, never as a traceback.

Exit codes: 0 done; 1 refused or failed; 2 wrong usage; 3 the server is not reachable or cannot now; 4 a check found
something.

The modules of this package load the database and the engine inside the functions that need them: a remote command, a
completion and `--help` do without.
"""

import sys
from collections.abc import Callable

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape

from app.cli import bench, checking, copies, keys, serving, studies
from app.cli.demo import command as demonstration
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
        "status": studies.status,
        "watch": bench.watch,
    },
    "The bench": {"ask": bench.ask, "report": bench.report},
    "Checks and copies": {
        "verify": checking.verify,
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
        "demo": demonstration.demo,
    },
}
for _panel, _commands in _PANELS.items():
    for _name, _function in _commands.items():
        command.command(_name, rich_help_panel=_panel)(_function)
command.add_typer(
    keys.command, name="keys", help="API keys: create, list, revoke.", rich_help_panel="This machine's server"
)


def main() -> None:
    try:
        command()
    except ValidationError as error:
        _give_up("; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}".removeprefix(": ") for e in error.errors()))
    except (Unreachable, Unavailable) as error:
        _give_up(str(error), TRY_LATER)
    except (Refusal, NextbatchError, RuntimeError, OSError, ValueError) as error:
        _give_up(str(error))


def _give_up(message: str, code: int = FAILED) -> None:
    Console(stderr=True, highlight=False).print(f"[bold red]nextbatch:[/] {escape(message)}")
    sys.exit(code)
