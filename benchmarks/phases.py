"""Where the time goes: a stopwatch around the engine's own functions."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from app.engine import lifecycle
from benchmarks import experiment

WATCHED: dict[str, tuple[Any, str]] = {
    "choose": (experiment, "choose"),
    "measure": (experiment, "measure"),
    "draw": (lifecycle, "draw"),
    "downdate": (lifecycle, "downdate"),
    "update": (lifecycle, "update"),
    "from_scratch": (lifecycle, "from_scratch"),
}
"""draw, downdate, update and from_scratch are parts of measure."""


@contextmanager
def stopwatch() -> Iterator[dict[str, float]]:
    """Seconds spent in every watched function, filled in while the context is open."""
    seconds: dict[str, float] = defaultdict(float)
    with ExitStack() as stack:
        for name, (module, attribute) in WATCHED.items():
            stack.enter_context(patch.object(module, attribute, _timed(getattr(module, attribute), name, seconds)))
        yield seconds


def _timed(function: Callable[..., Any], name: str, seconds: dict[str, float]) -> Callable[..., Any]:
    def timed(*args: Any, **kwargs: Any) -> Any:
        began = time.process_time()
        try:
            return function(*args, **kwargs)
        finally:
            seconds[name] += time.process_time() - began

    return timed
