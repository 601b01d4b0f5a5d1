"""How the server is doing right now: queues, connections, memory, models, studies. docs/operations.md lists them.

Each process sets its own; with several processes a thread does so every few seconds, because any one of them may be
asked for the metrics of all.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Gauge

from app.api.limits import LongWork
from app.api.live import Streams
from app.domain.access import Actor
from app.domain.errors import Refusal
from app.services.resources import Resources
from app.services.transactions import ReadTransactions
from app.services.use_cases.access import SERVER
from app.services.use_cases.studies import count_by_state

SECONDS = 10.0
_STATISTICS = Path("/proc/self/statm")

CountByState = Callable[[Any, Actor], Mapping[str, int]]
"""A use case that counts rows of the database by their state."""


class Gauges:
    """The gauges of one process. Several processes are added up, except what they count in the shared database."""

    def __init__(
        self, registry: CollectorRegistry, resources: Resources, long_work: LongWork, streams: Streams
    ) -> None:
        self._resources, self._long_work, self._streams = resources, long_work, streams
        self._registry = registry
        self._queued = self._own("nextbatch_queue_length", "Work that runs or waits", "queue")
        self._connections = self._own("nextbatch_database_connections", "Connections to the database", "state")
        self._memory = self._own("nextbatch_memory_bytes", "Memory of the server processes", "kind")
        self._models = self._own("nextbatch_models", "Models cached by the server processes")
        self._open_streams = self._own("nextbatch_open_streams", "Open event streams")
        self._compute = self._own("nextbatch_compute_workers", "Compute workers", "state")
        self._counted: list[tuple[Gauge, CountByState]] = []
        self.count("nextbatch_studies", "Studies", count_by_state)
        self._ending = Event()

    def count(self, name: str, words: str, by_state: CountByState) -> None:
        """Also count rows of the database, whenever the others are set."""
        self._counted.append((self._gauge(name, words, "livemostrecent", "state"), by_state))

    def refresh(self) -> None:
        """Set every gauge. What the database does not tell keeps its value."""
        self._set_work()
        self._set_memory()
        reader = ReadTransactions(self._resources.database, Actor(SERVER, "metrics"))
        for gauge, by_state in self._counted:
            with suppress(Refusal):
                for state, number in reader.read(by_state).items():
                    gauge.labels(state).set(number)

    def start(self) -> None:
        """Refresh every few seconds, if the metrics of several processes are put together."""
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            Thread(target=self._run, name="gauges", daemon=True).start()

    def close(self) -> None:
        self._ending.set()

    def _run(self) -> None:
        while not self._ending.wait(SECONDS):
            try:
                self.refresh()
            except Exception:
                structlog.get_logger().exception("metrics could not be refreshed")

    def _set_work(self) -> None:
        resources, pools = self._resources, self._resources.database.pools
        lines = {
            "asks": resources.jobs.line,
            "reports": resources.commits.line,
            "long": self._long_work.line,
            "snapshots": resources.snapshots.line,
            "backtests": resources.backtests.line,
        }
        for queue, length in lines.items():
            self._queued.labels(queue).set(length)
        self._connections.labels("in_use").set(sum(pool.checkedout() for pool in pools))
        self._connections.labels("idle").set(sum(pool.checkedin() for pool in pools))
        status = resources.compute.status()
        for state in ("workers", "ready", "running", "deaths"):
            self._compute.labels(state).set(getattr(status, state))
        self._open_streams.set(self._streams.open)

    def _set_memory(self) -> None:
        resources = self._resources
        kinds = {"reserved": resources.memory.reserved, "arrays": resources.arrays.nbytes}
        kinds["models"] = resources.models.nbytes
        with suppress(OSError, ValueError, IndexError):  # not on every platform
            kinds["resident"] = int(_STATISTICS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        for kind, size in kinds.items():
            self._memory.labels(kind).set(size)
        self._models.set(len(resources.models))

    def _own(self, name: str, words: str, *labels: str) -> Gauge:
        return self._gauge(name, words, "livesum", *labels)

    def _gauge(self, name: str, words: str, mode: Any, *labels: str) -> Gauge:
        return Gauge(name, words, labels, registry=self._registry, multiprocess_mode=mode)
