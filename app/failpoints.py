"""Named places between the steps of a write, at which a process can be told to die. For the harnesses alone.

Nothing is armed unless NEXTBATCH_FAILPOINTS says so, which NEXTBATCH_DEVELOPMENT must allow. State of the module,
because a fault belongs to the process and to nobody who could pass it down.
"""

import os
import signal
from collections.abc import Mapping

import structlog

NAMES = frozenset(
    {"claimed", "locked", "appended", "projected", "computed", "before-commit", "committed", "chunks-stored"}
)

_armed: dict[str, int] = {}


def arm(points: Mapping[str, int]) -> None:
    """Die as by a power cut when a place is reached for the nth time; none for an empty mapping."""
    _armed.clear()
    _armed.update(points)
    if points:
        structlog.get_logger().warning("FAILPOINTS ARE ARMED: this process will kill itself", points=dict(points))


def reach(name: str) -> None:
    """Say that this place is reached; does nothing unless it is armed."""
    if name in _armed:
        _armed[name] -= 1
        if _armed[name] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
