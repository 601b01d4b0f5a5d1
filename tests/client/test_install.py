"""The client alone, in an environment of its own."""

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from nextbatch import __version__
from tests.live import Live

CLIENT = Path(__file__).parents[2] / "client"
NEEDS_OF_HTTPX = {"httpx", "httpcore", "h11", "anyio", "certifi", "idna", "sniffio", "typing_extensions"}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an empty environment into which the client was installed."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, CLIENT], check=True)
    return python


def run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([python, *arguments], capture_output=True, text=True, check=True, cwd=python.parent)


def test_the_client_brings_httpx_and_its_needs_alone(python: Path) -> None:
    listing = "import importlib.metadata as m, json; print(json.dumps([d.name for d in m.distributions()]))"
    installed = {name.lower().replace("-", "_") for name in json.loads(run(python, "-c", listing).stdout)}
    assert {"httpx", "nextbatch"} <= installed <= NEEDS_OF_HTTPX | {"nextbatch"}


def test_importing_the_client_costs_little_more_than_httpx(python: Path) -> None:
    """In modules, which can be counted, not in seconds, which depend on the machine."""
    count = "import sys, {}; print(len(sys.modules))"
    alone, client = (int(run(python, "-c", count.format(name)).stdout) for name in ("httpx", "nextbatch"))
    assert client < alone + 150


def test_the_client_knows_its_version(python: Path) -> None:
    program = "import nextbatch, importlib.metadata as m; print(nextbatch.__version__, m.version('nextbatch'))"
    version, installed = run(python, "-c", program).stdout.split()
    assert version == installed


def test_the_client_is_typed_and_says_what_is_public(python: Path) -> None:
    program = "import nextbatch, pathlib; print(pathlib.Path(nextbatch.__file__).with_name('py.typed').is_file())"
    assert run(python, "-c", program).stdout.strip() == "True"
    import nextbatch  # noqa: PLC0415

    assert all(hasattr(nextbatch, name) for name in nextbatch.__all__)


def test_the_command_says_what_it_needs(python: Path) -> None:
    done = subprocess.run([python.with_name("nextbatch"), "status", "x"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "nextbatch: the command needs more than the library. Install it: pip install 'nextbatch[cli]'"
    ]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `nextbatch` command in an environment without the server."""
    folder = tmp_path_factory.mktemp("bench")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, f"{CLIENT}[cli]"], check=True)
    return folder / "bin" / "nextbatch"


def test_a_technician_works_without_a_server_installed(bench: Path, server: Live, tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NEXTBATCH_")}

    def run_command(*arguments: str) -> str:
        environment = clean | {"NEXTBATCH_URL": server.url, "NEXTBATCH_KEY": server.key, "COLUMNS": "200"}
        done = subprocess.run([bench, *arguments], capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tmp_path / "list.csv").write_text("key,heat\nA1,20\nA2,40\nA3,60\n")
    run_command("create", "bench", "--objective", "yield")
    run_command("upload", "bench", str(tmp_path / "list.csv"))
    assert "Batch 1 for default: 2 measurements." in run_command("ask", "bench", "--min-size", "2", "--max-size", "2")
    run_command("report", "bench", "A1", "0.8")
    assert re.search(r"1 +A1 +0\.8 ", run_command("results", "bench"))
    assert "Result 1 is corrected." in run_command("correct", "bench", "1", "0.9", "--reason", "typing error")
    assert "0.9" in run_command("status", "bench")
    assert "This machine's server" not in run_command("--help")
    assert run_command("--version") == f"nextbatch {__version__}\n"
