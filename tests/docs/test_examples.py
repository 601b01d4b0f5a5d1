"""Every program of `examples` runs against a real server, and runs again, which goes on where the first run ended."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nextbatch import Client
from tests import live
from tests.live import Live

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, migrated_sqlite: Path) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("examples")
    database = folder / "nextbatch.sqlite3"
    database.write_bytes(migrated_sqlite.read_bytes())
    with live.running(f"sqlite:///{database}", folder) as server:
        yield server


def test_there_are_at_least_six_and_the_readme_names_them() -> None:
    assert len(EXAMPLES) >= 6
    readme = (FOLDER / "README.md").read_text()
    assert [example.name for example in EXAMPLES if f"[{example.name}]({example.name})" not in readme] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_tells_what_it_found(server: Live, example: Path) -> None:
    with Client(server.url, server.key) as client:
        before = {study.name for study in client.studies()}
        first = run(server, example)
        [study] = [study for study in client.studies() if study.name not in before]
        assert study.summary().counts.observations >= 10
        named = {candidate.key for candidate in study.candidates()}
        assert any(key in first for key in named), first
    assert run(server, example).strip()


def run(server: Live, example: Path) -> str:
    command = [sys.executable, str(example)]
    done = subprocess.run(command, env=server.environment(), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
