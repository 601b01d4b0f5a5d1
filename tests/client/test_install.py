"""The client alone, in an environment of its own."""

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

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
