"""Named points between the steps of a write at which a process can be made to die. For the test harnesses only.

Nothing is armed unless NEXTBATCH_FAILPOINTS says so, which NEXTBATCH_DEVELOPMENT must allow. The state is that of the
module, because a failure belongs to the whole process.
"""

import os
import signal
from collections.abc import Mapping

NAMES = frozenset(
    {
        *("claimed", "locked", "appended", "projected", "grouped", "sent", "computed"),
        *("before-commit", "committed", "chunks-stored", "delivery-claimed", "delivery-sent"),
    }
)

_armed: dict[str, int] = {}


def arm(points: Mapping[str, int]) -> None:
    """Die as in a power cut when a point is reached for the nth time; an empty mapping disarms all."""
    _armed.clear()
    _armed.update(points)
    if points:
        import structlog  # noqa: PLC0415  (the settings know the names, and every command knows the settings)

        structlog.get_logger().warning("FAILPOINTS ARE ARMED: this process will kill itself", points=dict(points))


def reach(name: str) -> None:
    """Mark that this point is reached; does nothing unless it is armed."""
    if name in _armed:
        _armed[name] -= 1
        if _armed[name] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
