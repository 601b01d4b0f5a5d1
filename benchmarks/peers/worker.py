"""A peer's process: a line of JSON in, a line of JSON out. Run by `link` with the Python of the peer's environment.

python -m benchmarks.peers.worker botorch
"""

import json
import os
import resource
import sys
import time
import traceback
from importlib import import_module
from typing import Any, TextIO

from benchmarks.peers.adapters.adapter import Adapter, Given


def main(name: str) -> None:
    with _answers() as answers:
        peer = Peer(name)
        for line in sys.stdin:
            answers.write(json.dumps(_answer(peer, json.loads(line))) + "\n")
            answers.flush()


class Peer:
    """The study under way, and the messages it understands."""

    def __init__(self, name: str) -> None:
        self._start = import_module(f"benchmarks.peers.adapters.{name}").start
        self._study: Adapter

    def start(self, variant: str, **given: Any) -> None:
        self._study = self._start(Given.of(given), variant)

    def tell(self, rows: list[int], values: list[float]) -> None:
        self._study.tell(rows, values)

    def ask(self, q: int) -> list[int]:
        return [int(row) for row in self._study.ask(q)]

    def recommend(self) -> int:
        return int(self._study.recommend())


def _answer(peer: Peer, message: dict[str, Any]) -> dict[str, Any]:
    """What came of it, and what this process has used so far."""
    began = time.perf_counter()
    try:
        result = {"result": getattr(peer, message.pop("do"))(**message)}
    except Exception:
        result = {"error": traceback.format_exc()}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {**result, "seconds": time.perf_counter() - began, "processor": time.process_time(), "peak": peak * 1024}


def _answers() -> TextIO:
    """The way back to the driver; what libraries print goes elsewhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


if __name__ == "__main__":
    main(sys.argv[1])
