"""What a server process of the harnesses runs: `nextbatch serve`, after the bugs that were asked for are planted.

The parent loads the server's modules once and forks every process from there (`forkserver`), so that a process which
was killed is back in a moment, and a harness can afford many deaths. As a program of its own, this is the `nextbatch`
command.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from app import cli, main  # noqa: F401  (`main` is loaded once, before any process is forked)
from app.cli.serving import serve
from tests.reliability.planting import plant


def run(environment: Mapping[str, str], port: int, output: Path) -> None:
    """Become a server on this port; what it prints goes to a file."""
    with output.open("a") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())
    os.environ.update(environment)
    plant(os.environ)
    serve(port=port)


if __name__ == "__main__":
    plant(os.environ)
    cli.main()
