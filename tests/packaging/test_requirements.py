"""What runs is what was locked, and what was locked has hashes: nothing comes in unseen."""

import json
import re
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.markers import Marker

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "requirements"
OURS = {"nextbatch", "nextbatch-server"}
FROM_VENV = {"pip", "setuptools"}  # python -m venv brings them


def locked(name: str) -> dict[str, str]:
    """Versions by package, of those that this platform needs."""
    lines = re.findall(
        r"^([\w.-]+)(?:\[.*?\])?==(\S+)(?: ; (.*?))? \\$", (REQUIREMENTS / name).read_text(), re.MULTILINE
    )
    return {plain(package): version for package, version, marker in lines if not marker or Marker(marker).evaluate()}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_what_is_installed_is_what_the_lock_says() -> None:
    wanted = locked("dev.lock") | locked("bootstrap.lock")
    found = {plain(one.name): one.version for one in distributions()}
    assert {name: version for name, version in found.items() if name not in OURS | FROM_VENV} == {
        name: version for name, version in wanted.items() if name not in FROM_VENV
    }


@pytest.mark.parametrize("name", ["server.lock", "dev.lock", "build.lock", "bootstrap.lock"])
def test_every_requirement_is_pinned_and_hashed(name: str) -> None:
    text = re.sub(r"\\\n", "", re.sub(r"^#.*\n", "", (REQUIREMENTS / name).read_text(), flags=re.MULTILINE))
    assert [line for line in text.splitlines() if not re.match(r"\S+==\S+.*--hash=sha256:[0-9a-f]{64}", line)] == []


@pytest.mark.parametrize("folder", ["page", "tests/openapi"])
def test_what_comes_from_npm_is_pinned_and_hashed_and_names_no_registry(folder: str) -> None:
    lock = json.loads((ROOT / folder / "package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages
    assert [name for name, package in packages.items() if not package["integrity"].startswith("sha512-")] == []
    assert [name for name, package in packages.items() if "resolved" in package] == []


def test_the_server_runs_with_what_its_tests_ran_with() -> None:
    everything = locked("dev.lock")
    assert {name: version for name, version in locked("server.lock").items() if everything.get(name) != version} == {}
