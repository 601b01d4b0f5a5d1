"""What `make` says when it cannot begin."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements/bootstrap.lock", "requirements/server.lock", "requirements/build.lock", "pyproject.toml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As much of a checkout as the first rule looks at."""
    for name in LOCKS:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize("answer", ["exit 1", "echo no such option >&2; exit 2"])
def test_a_python_that_is_named_and_too_old_is_one_clear_line(folder: Path, answer: str) -> None:
    old = folder / "python3.9"
    old.write_text(f"#!/bin/sh\n{answer}\n")
    old.chmod(0o755)
    command = ["make", "--no-print-directory", "-f", ROOT / "Makefile", f"PYTHON={old}", ".venv/serving"]
    alone = {
        name: value for name, value in os.environ.items() if not name.startswith("MAKE")
    }  # not part of another make
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=alone)
    assert done.returncode == 2
    said, end = done.stderr.strip().splitlines()
    assert said == f"Nextbatch needs Python 3.11 or newer; {old} is older, or does not run."
    assert end.startswith("make: ***")
    assert not (folder / ".venv").exists()
