"""The `nextbatch` command of the server: what every bench has (`nextbatch.commands`), and this machine's server.

The modules of this package import the database and the engine inside the functions that need them, so that a remote
command, a completion and `--help` start fast.
"""

from app.cli import checking, computing, copies, keys, local, serving
from app.cli.backtest import backtest
from app.cli.demo.command import demo
from app.domain.errors import Invalid, Refusal
from nextbatch.commands import add_panel, make_command, run
from nextbatch.commands.remote import know_local_server
from nextbatch.errors import Finding

SERVER_PANEL = "This machine's server"
MOST_SHOWN = 5
"""Mistakes of a file that one line names; the rest is counted."""

know_local_server(local.find_local_server)
command = make_command("nextbatch-server")
add_panel(command, "Studies", {"backtest": backtest})
add_panel(
    command,
    "Checks and copies",
    {
        "verify": checking.verify,
        "heads": checking.save_heads,
        "replay": checking.replay,
        "export": copies.export_study,
        "import": copies.import_study,
    },
)
add_panel(
    command,
    SERVER_PANEL,
    {
        "serve": serving.serve,
        "migrate": serving.migrate_database,
        "healthcheck": serving.healthcheck,
        "backup": copies.backup,
        "restore": copies.restore,
        "rebuild": local.rebuild,
        "audit": local.show_audit,
        "demo": demo,
    },
)
command.add_typer(
    keys.command,
    name="keys",
    help="API keys: create, list, change, rotate, grant, revoke.",
    rich_help_panel=SERVER_PANEL,
)
command.add_typer(
    computing.command, name="compute", help="Compute workers: their status.", rich_help_panel=SERVER_PANEL
)


def main() -> None:
    run(command, Refusal, _in_words)


def _in_words(error: Exception) -> str:
    """What the error says; of a file that needs correcting, every place and what is wrong there."""
    if not isinstance(error, Invalid) or not error.findings:
        return str(error)
    shown = " ".join(str(Finding(**vars(finding))) for finding in error.findings[:MOST_SHOWN])
    more = error.facts.get("total", len(error.findings)) - MOST_SHOWN
    return f"{shown} (and {more} more)" if more > 0 else shown
