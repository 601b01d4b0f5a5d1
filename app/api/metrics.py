"""Prometheus metrics, right also with several worker processes on one machine."""

import os
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

ASKS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)  # seconds


@dataclass(frozen=True)
class Metrics:
    registry: CollectorRegistry
    requests: Counter
    seconds: Histogram
    ask_seconds: Histogram

    def exposition(self) -> bytes:
        """All processes' numbers when they share a folder (PROMETHEUS_MULTIPROC_DIR), else this one's."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self.registry)
        everyone = CollectorRegistry()
        MultiProcessCollector(everyone)  # type: ignore[no-untyped-call]
        return generate_latest(everyone)


def new_metrics() -> Metrics:
    registry = CollectorRegistry()
    return Metrics(
        registry,
        Counter("nextbatch_requests", "Requests answered", ["method", "route", "status"], registry=registry),
        Histogram("nextbatch_request_seconds", "Time to answer", ["route"], registry=registry),
        Histogram("nextbatch_ask_seconds", "Time to answer an ask", ["status"], registry=registry, buckets=ASKS),
    )
