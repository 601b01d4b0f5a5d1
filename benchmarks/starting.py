"""How fast things start, and what a server holds in memory while nobody asks for anything.

    python -m benchmarks.starting [--rounds 3] [--json]

The server starts in a folder of its own: once to make its database, and then for the figures. Seconds are the best of
the rounds, those of the processor beside those that passed; memory is what the system counts as resident, a process.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from tests.server import NEXTBATCH, ROOT, Server, running

Figures = dict[str, float]

SETTLED = 3.0  # seconds after which a server that nobody uses has loaded what it will
MEBI = 1 << 20


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    figures = {
        "import nextbatch": _best(options.rounds, lambda: _command([sys.executable, "-c", "import nextbatch"])),
        "python -c pass": _best(options.rounds, lambda: _command([sys.executable, "-c", "pass"])),
        "nextbatch --help": _best(options.rounds, lambda: _command([*NEXTBATCH, "--help"])),
        **_serving(options.rounds),
    }
    print(json.dumps(figures) if options.json else table(figures))
    return 0


def table(figures: dict[str, Figures]) -> str:
    """Markdown, a line a figure."""
    lines = [f"| {what} | {name} | {value:.4g} |" for what, part in figures.items() for name, value in part.items()]
    return "\n".join(["| what | figure | value |", "|---|---|---|", *lines])


def _serving(rounds: int) -> dict[str, Figures]:
    """The first start, the best of those after it, and the memory at rest of the server and of its compute workers."""
    with TemporaryDirectory(prefix="nextbatch-start-") as folder:
        first, _ = _start(Path(folder))
        again = [_start(Path(folder)) for _ in range(rounds)]
    server = min(memory[0] for _, memory in again)
    worker = max(max(memory[1:], default=0.0) for _, memory in again)  # on a busy machine it may still load
    return {
        "serve, the first start": first,
        "serve, a later start": min((seconds for seconds, _ in again), key=lambda figures: figures["seconds"]),
        "memory at rest": {"server, MiB": server, "compute worker, MiB": worker},
    }


def _start(folder: Path) -> tuple[Figures, list[float]]:
    """Until /readyz says 200; and the memory of each process some seconds later."""
    began = perf_counter()
    with running(folder) as server:
        figures = {"seconds": perf_counter() - began, "processor, server": _processor(server)}
        sleep(SETTLED)
        return figures, [_resident(process) for process in server.processes()]


def _processor(server: Server) -> float:
    """Seconds of the server process, without its workers."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(process: Path) -> float:
    """MiB of a process that are in memory."""
    return int((process / "status").read_text().split("VmRSS:")[1].split()[0]) * 1024 / MEBI


def _best(rounds: int, measure: Callable[[], Figures]) -> Figures:
    return min((measure() for _ in range(rounds + 1)), key=lambda figures: figures["seconds"])


def _command(command: Sequence[str]) -> Figures:
    """Seconds until a command ends, and those of the processor."""
    before, began = os.times(), perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    seconds, after = perf_counter() - began, os.times()
    user, system = after.children_user - before.children_user, after.children_system - before.children_system
    return {"seconds": seconds, "processor": user + system}


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.starting", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
