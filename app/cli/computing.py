"""The compute workers of the server on this machine."""

import json
from typing import Any

import typer

from app.cli.serving import Port, ask_whether_ready
from nextbatch.commands.printing import console
from nextbatch.commands.remote import AsJson
from nextbatch.display import plural

command = typer.Typer(no_args_is_help=True)


@command.callback()
def options() -> None:
    """Compute workers."""


@command.command("status")
def show_status(port: Port = None, as_json: AsJson = False) -> None:
    """Show the compute workers of the server on this machine; of several server processes, one answers."""
    compute = json.loads(ask_whether_ready(port))["compute"]
    if as_json:
        console.file.write(json.dumps(compute) + "\n")
    elif not compute["workers"]:
        console.print("No compute workers: the server process computes itself.")
    else:
        workers, running = _workers(compute), plural(compute["running"], "computation")
        died = f"{compute['deaths']} died and were replaced" if compute["deaths"] else "none has died"
        console.print(f"{workers}, {compute['ready']} ready; {running} under way; {died}.")


def _workers(compute: dict[str, Any]) -> str:
    if compute["kind"] != "ray":
        return plural(compute["workers"], "compute worker")
    return f"{plural(compute['workers'], 'Ray actor')} on {plural(compute['nodes'], 'node')}"
