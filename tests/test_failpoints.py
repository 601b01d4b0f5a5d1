"""Failpoints: harmless until armed, deadly then, and every one of them somewhere on the way of a write."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import app
from app import failpoints

PROGRAM = """
from app import failpoints

failpoints.reach("locked")
failpoints.arm({"locked": 2})
failpoints.reach("appended")
failpoints.reach("locked")
print("alive", flush=True)
failpoints.reach("locked")
print("still alive")
"""


def test_a_process_dies_when_an_armed_place_is_reached_for_the_nth_time() -> None:
    died = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL
    assert "FAILPOINTS ARE ARMED" in died.stdout
    assert died.stdout.endswith("\nalive\n")


def test_every_place_is_reached_somewhere() -> None:
    texts = [path.read_text() for path in Path(app.__file__).parent.rglob("*.py")]
    assert {name for text in texts for name in re.findall(r'reach\("([a-z-]+)"\)', text)} == failpoints.NAMES
