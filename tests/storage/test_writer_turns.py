"""Processes that write to one SQLite file take turns: whoever waits goes before whoever has just written."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

import pytest

from app.domain.errors import DatabaseBusy
from app.storage.writer_turns import WriterTurns

ROOT = Path(__file__).parents[2]
BEGIN = """
import sys
from pathlib import Path
from time import sleep
from app.storage.writer_turns import WriterTurns
turns = WriterTurns(Path(sys.argv[1]), 60)
"""
HOLDS = """
with turns.turn():
    print("mine", flush=True)
    sys.stdin.read()
"""
AGAIN_AND_AGAIN = """
log = open(sys.argv[2], "a", buffering=1)
print("ready", flush=True)
while True:
    with turns.turn():
        log.write("other\\n")
        sleep(0.002)
"""


@contextmanager
def process(code: str, *arguments: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", BEGIN + code, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as started:
        assert started.stdout is not None
        started.stdout.readline()
        try:
            yield started
        finally:
            started.kill()


def test_a_turn_is_of_one_process(tmp_path: Path) -> None:
    turns = WriterTurns(tmp_path / "db", seconds=0.1)
    with process(HOLDS, tmp_path / "db"), pytest.raises(DatabaseBusy), turns.turn():
        pass
    with turns.turn():  # a process that died has no turn
        pass
    turns.close()


def test_whoever_waits_goes_before_whoever_has_just_written(tmp_path: Path) -> None:
    """Between two turns of ours, the other process has a turn or two, however eager it is."""
    log = tmp_path / "log"
    log.touch()
    turns = WriterTurns(tmp_path / "db", seconds=60)
    with process(AGAIN_AND_AGAIN, tmp_path / "db", log):
        sleep(0.05)
        for _ in range(20):
            before = log.read_text().count("other")
            with turns.turn():
                between = log.read_text().count("other") - before
            assert between <= 3
    turns.close()


def test_where_there_is_no_room_for_the_file_there_are_no_turns(tmp_path: Path) -> None:
    turns = WriterTurns(tmp_path / "missing" / "db", seconds=0.1)
    with turns.turn():
        pass
    turns.close()
