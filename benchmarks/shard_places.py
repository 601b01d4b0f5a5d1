"""Where the shards of a long list are: in this process, in two worker processes, or in two actors of a Ray cluster.

The worker processes are the benchmark's own (`python -m benchmarks.shard_places DESCRIPTOR`); they talk as compute
workers do, with large arrays in shared memory. The server itself spreads a list over Ray actors, and over threads.
"""

import logging
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from app.compute.channel import Channel, WorkerSettings
from app.compute.local import prepare_algebra
from app.compute.worker import serve_until_server_has_gone
from app.modelling.spreading import CalledShardHost, ShardStore, Spread
from tests import ray_cluster
from tests.processes import command_of, descendants

WAYS = {"one process": 1, "one process, two threads": 2, "two workers": 2, "two Ray actors": 2}
"""The ways to sweep, and the threads that each needs: whoever calls two hosts waits for both."""
FORGET = "forget"
STORE_BYTES = 2**30  # of each Ray node


@dataclass
class Place:
    """Who holds the shards (nobody: this process), the other processes by name, and what was exchanged with them."""

    spread: Spread | None = None
    others: dict[str, int] = field(default_factory=dict)
    exchanged: dict[str, int] = field(default_factory=lambda: {"out": 0, "back": 0, "calls": 0})

    def counted(self, call: Callable[..., Any], *arguments: Any) -> Any:
        answer = call(*arguments)
        for way, value in (("out", arguments), ("back", answer)):
            self.exchanged[way] += _bytes(value)
        self.exchanged["calls"] += 1
        return answer


def _bytes(value: Any) -> int:
    """Of all arrays in a value."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, Mapping):
        return sum(map(_bytes, value.values()))
    if isinstance(value, tuple | list):
        return sum(map(_bytes, value))
    return sum(map(_bytes, vars(value).values())) if is_dataclass(value) else 0


@contextmanager
def opened(way: str) -> Iterator[Place]:
    """The place of that name; its processes end with the block."""
    if way == "two workers":
        with _workers(2) as place:
            yield place
    elif way == "two Ray actors":
        with _actors() as place:
            yield place
    else:
        yield Place()


@contextmanager
def _workers(number: int) -> Iterator[Place]:
    place = Place()
    workers = [_Worker() for _ in range(number)]
    hosts = [CalledShardHost(partial(place.counted, worker.call), worker.forgotten.append) for worker in workers]
    _wait_for(hosts)
    place.others = {f"worker {position}": worker.process.pid for position, worker in enumerate(workers, 1)}
    place.spread = Spread(lambda: hosts)
    try:
        yield place
    finally:
        for worker in workers:
            worker.close()


def _wait_for(hosts: Sequence[CalledShardHost]) -> None:
    """A host is there once it has answered."""
    for host in hosts:
        host.begin(0, np.zeros((1, 1)))
        host.forget(0)


class _Worker:
    """A process with a `ShardStore`; one call after the other."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "benchmarks.shard_places", str(theirs.fileno())], pass_fds=[theirs.fileno()]
            )
        self._channel, self._lock = Channel(ours), Lock()
        self.forgotten: deque[int] = deque()  # at any time, also while a call waits for its answer
        self._channel.send(None)  # there are no settings

    def call(self, verb: str, *arguments: Any) -> Any:
        with self._lock:
            while self.forgotten:
                self._channel.send((FORGET, (self.forgotten.popleft(),)))
            self._channel.send((verb, arguments))
            return self._channel.receive()

    def close(self) -> None:
        self._channel.close()
        self.process.wait(20)


@contextmanager
def _actors() -> Iterator[Place]:
    """Of a cluster with two nodes, started as the server starts them."""
    with ray_cluster.running(STORE_BYTES) as cluster:
        os.environ.update(cluster.variables)
        import ray  # noqa: PLC0415  (an extra)

        from app.compute.on_ray.shard_actors import start_shard_hosts  # noqa: PLC0415

        ray.init(cluster.address, configure_logging=False, log_to_driver=False, logging_level=logging.ERROR)
        settings = WorkerSettings("", 0, 0, 0.0, 1, "console", "error")
        place = Place()
        found = start_shard_hosts(settings)
        hosts = [CalledShardHost(partial(place.counted, host._call), host.forget) for host in found]  # noqa: SLF001
        _wait_for(hosts)
        below = [pid for raylet in cluster.raylets for pid in descendants(raylet)]
        pids = [pid for pid in below if "ray::ShardActor" in command_of(pid)]
        place.others = {f"actor {position}": pid for position, pid in enumerate(pids, 1)}
        place.spread = Spread(lambda: hosts)
        try:
            yield place
        finally:
            ray.shutdown()


def peak_bytes(pid: int) -> int:
    """The most memory that a process had so far."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) * 1024


def processor_seconds(pids: list[int]) -> float:
    """That some processes have used so far."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(own[11]) + int(own[12]) for own in fields) / os.sysconf("SC_CLK_TCK")


def _serve(channel: Channel, _settings: None) -> None:
    prepare_algebra()
    store = ShardStore()
    while True:
        verb, arguments = channel.receive()
        answer = getattr(store, verb)(*arguments)
        if verb != FORGET:
            channel.send(answer)


if __name__ == "__main__":
    serve_until_server_has_gone(_serve)
