"""Child processes that read what strangers wrote, with libraries that may take long, take much memory, or die of it.

A child limits itself (`limit`), and ends with the work that needs it: at the deadline, when the client has left, or
after its seconds.
"""

import resource
import subprocess
import sys
from collections.abc import Mapping
from math import ceil
from pathlib import Path
from time import monotonic

from app.deadline import check_deadline

LOOK_SECONDS = 0.1  # between two looks at the deadline


class ChildTooSlow(Exception):
    """The child took longer than it may, and was killed."""


def limit(memory: int, seconds: float) -> None:
    """In a child: how many bytes it may allocate, and how long it may compute, even if nobody is left to end it."""
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (ceil(seconds), ceil(seconds)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_child(
    module: str,
    request: bytes,
    seconds: float,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> bytes | None:
    """What a module answers to a request on its standard input; None if it failed."""
    end = monotonic() + seconds
    child = subprocess.Popen(  # noqa: S603  (the command is the server's own)
        [sys.executable, "-I", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(environment or {}),
        cwd=folder,
    )
    with child:
        try:
            answer = _answer(child, request, end)
        finally:
            child.kill()  # unless it has ended
    return answer if child.returncode == 0 else None


def _answer(child: "subprocess.Popen[bytes]", request: bytes, end: float) -> bytes:
    unsent: bytes | None = request
    while True:
        check_deadline()
        if monotonic() > end:
            raise ChildTooSlow
        try:
            return child.communicate(unsent, timeout=LOOK_SECONDS)[0]
        except subprocess.TimeoutExpired:
            unsent = None  # it has been taken over
