"""A command starts fast and knows its version: what it does not need is not loaded."""

import subprocess
import sys
from importlib.metadata import version

from typer.testing import CliRunner

from app.cli import command


def test_the_command_line_loads_neither_the_engine_nor_the_database() -> None:
    program = "import sys, app.cli; print(*sys.modules)"
    loaded = set(subprocess.check_output([sys.executable, "-c", program], text=True).split())
    assert not loaded & {"numpy", "scipy", "sqlalchemy", "fastapi", "uvicorn", "pandas", "polars"}


def test_the_command_prints_the_version_of_the_server() -> None:
    done = CliRunner().invoke(command, ["--version"])
    assert (done.exit_code, done.stdout) == (0, f"nextbatch-server {version('nextbatch-server')}\n")
