"""A server as people run it: `nextbatch serve` in a process of its own, on a free port."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import httpx

NEXTBATCH = [sys.executable, "-m", "app.cli"]
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Server:
    process: subprocess.Popen[str]
    address: str
    key: str | None
    output: Path

    def processes(self) -> list[Path]:
        """What the system tells of the server and of its compute workers: their folders in /proc."""
        tasks = list(Path(f"/proc/{self.process.pid}/task").iterdir())
        children = [child for task in tasks for child in (task / "children").read_text().split()]
        return [Path(f"/proc/{pid}") for pid in (self.process.pid, *children)]

    def stop(self) -> int:
        """Ask it to end, as a service manager does; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=20)


def environment(data: Path, database_url: str | None = None, **more: str) -> dict[str, str]:
    """This process's environment without anybody's settings, plus those given."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("NEXTBATCH_", "PROMETHEUS_"))}
    url = {"NEXTBATCH_DATABASE_URL": database_url} if database_url else {}
    return clean | {"NEXTBATCH_DATA": str(data)} | url | more


@contextmanager
def running(
    data: Path, database_url: str | None = None, workers: int = 1, program: Sequence[str] = NEXTBATCH, **more: str
) -> Iterator[Server]:
    """A server that answers; it is ended when the block ends."""
    data.mkdir(parents=True, exist_ok=True)
    output = data / "output.txt"
    command = [*program, "serve", "--port", "0", "--workers", str(workers)]
    with output.open("w") as file:
        process = subprocess.Popen(
            command,
            stdout=file,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env=environment(data, database_url, **more),
        )
    try:
        address = _wait(process, output)
        key = re.search(r"^\s+(nb_\S+)$", output.read_text(), re.MULTILINE)
        yield Server(process, address, key[1] if key else None, output)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(process: subprocess.Popen[str], output: Path) -> str:
    """Its address, once it is ready."""
    deadline = monotonic() + 60
    while monotonic() < deadline and process.poll() is None:
        found = re.search(r"listens on (http://\S+)", output.read_text())
        if found and _ready(found[1]):
            return found[1]
        sleep(0.05)
    raise RuntimeError(f"the server did not start:\n{output.read_text()}")


def _ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/readyz").status_code == 200
    except httpx.TransportError:
        return False
