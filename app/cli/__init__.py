"""The `nextbatch` command. Errors leave as one clear line and an exit code, never as a traceback."""

import sys

import typer
from pydantic import ValidationError
from rich.console import Console

from app.cli import keys, serving
from app.domain.errors import Refusal

command = typer.Typer(
    name="nextbatch",
    help="The next batch of experiments, as a service.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
command.command("serve")(serving.serve)
command.command("migrate")(serving.migrate_database)
command.command("healthcheck")(serving.healthcheck)
command.add_typer(keys.command, name="keys", help="API keys: create, list, revoke.")


def main() -> None:
    try:
        command()
    except ValidationError as error:
        _give_up("; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}".removeprefix(": ") for e in error.errors()))
    except (Refusal, RuntimeError, OSError) as error:
        _give_up(str(error))


def _give_up(message: str) -> None:
    Console(stderr=True, highlight=False).print(f"[bold red]nextbatch:[/] {message}")
    sys.exit(1)
