"""Temporary folders: nothing of them remains, however a process ends."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from app import temporary_folders
from app.temporary_folders import TemporaryFolder, delete_abandoned
from tests.server import ROOT

PROGRAM = """
import sys, time
from app.temporary_folders import TemporaryFolder
folder = TemporaryFolder()
(folder.path / "body").write_text("a large upload")
print(folder.path, flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_deleted_when_it_is_no_longer_needed(place: Path) -> None:
    with TemporaryFolder() as folder:
        (folder.path / "file").touch()
        assert folder.path.stat().st_mode & 0o777 == 0o700
    dropped = TemporaryFolder()
    del dropped
    assert list(place.iterdir()) == []


def test_what_a_killed_process_left_is_deleted_and_nothing_that_is_used(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(temporary_folders, "YOUNG_SECONDS", -1.0)
    environment = {**os.environ, "TMPDIR": str(place)}
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment) as other:
        theirs = Path(other.stdout.readline().strip())
        (place / "somebody's").mkdir()
        with TemporaryFolder() as ours:
            delete_abandoned()
            assert {path.name for path in place.iterdir()} == {"somebody's", theirs.name, ours.path.name}
            other.kill()
            other.wait()
            delete_abandoned()
            assert {path.name for path in place.iterdir()} == {"somebody's", ours.path.name}


def test_a_folder_that_was_just_made_stays(place: Path) -> None:
    made = tempfile.mkdtemp(prefix=temporary_folders.PREFIX)
    delete_abandoned()
    assert Path(made).exists()
