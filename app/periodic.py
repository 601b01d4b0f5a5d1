"""Work that a server process does again and again, on a thread of its own, apart from requests."""

from collections.abc import Callable
from threading import Event, Thread

import structlog

from app.domain.errors import Refusal


class Periodic:
    """Runs `work` every so many seconds until it is closed. What goes wrong is logged, and tried again."""

    def __init__(self, name: str, seconds: float, work: Callable[[], object]) -> None:
        self._name, self._seconds, self._work = name, seconds, work
        self._ending = Event()
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._ending.wait(self._seconds):
            try:
                self._work()
            except Refusal as refusal:  # the database is away
                structlog.get_logger().warning("postponed", work=self._name, cause=repr(refusal))
            except Exception:
                structlog.get_logger().exception("bug", work=self._name)
