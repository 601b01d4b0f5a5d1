"""The cluster that actors run on: one that runs already, or one on this machine that ends with the server.

Nothing here loads Ray. Its variables are passed to the processes that do.
"""

import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from secrets import token_hex
from threading import Event, Lock
from time import monotonic
from typing import Protocol

from app.compute.channel import Channel, WorkerSettings
from app.temporary_folders import TemporaryFolder

OBJECT_STORE_BYTES = 128 * 2**20  # results on their way; what does not fit is spilled to disk
ACTOR_START_SECONDS = 120.0
CLUSTER_START_SECONDS = 300.0  # ten on a quiet machine; one that is slow is not sooner ready if it is killed
LOOK_SECONDS = 0.2
CLOSE_SECONDS = 10.0
STOPPING = "the server is stopping"
PREFIX = "nb-locked-"  # of the folder that Ray writes to; the names of its sockets are long enough
HEAD = "app.compute.on_ray.head"

NO_STATISTICS = {"RAY_USAGE_STATS_ENABLED": "0"}
LOOPBACK_ONLY = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Ray listens on all interfaces, also when it is told a loopback address; only with this it uses 127.0.0.1."""


LOCAL = {**NO_STATISTICS, **LOOPBACK_ONLY}


class Cluster(Protocol):
    """Where actors can be started."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables for processes that join it."""

    def address(self) -> str:
        """Its address, once it runs; raises `OSError` if it does not."""

    def refuse(self) -> None:
        """Whoever waits for its address, now or later, gets `OSError`."""

    def close(self) -> None:
        """It is needed no more."""


@dataclass(frozen=True)
class HeadSettings:
    """What the head of a cluster is told first."""

    object_store_bytes: int
    folder: str  # for what Ray writes


@dataclass(frozen=True)
class GatewaySettings:
    """What a gateway is told first."""

    address: str
    place: int  # of the actor: the node with this number, counted round and round
    actor: WorkerSettings


class ExistingCluster:
    """A cluster that others started. Ray finds its token where it always looks for it."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.environment = {"RAY_AUTH_MODE": os.environ.get("RAY_AUTH_MODE", "token"), **NO_STATISTICS}
        if _is_loopback(address.rpartition(":")[0]):
            self.environment |= LOOPBACK_ONLY

    def address(self) -> str:
        return self._address

    def refuse(self) -> None:
        """Nobody waits for its address."""

    def close(self) -> None:
        """It belongs to others."""


class LocalCluster:
    """A cluster of one node on this machine: on loopback, with a token that nobody else knows.

    It is started when its address is needed, also when it died, and ends with this process, however that ends.
    """

    def __init__(self) -> None:
        self.environment = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token_hex(32), **LOCAL}
        self._lock = Lock()
        self._closing = Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: socket.socket | None = None  # the head ends when this is closed
        self._folder: TemporaryFolder | None = None
        self._address = ""

    def address(self) -> str:
        with self._lock:
            if self._closing.is_set():
                raise OSError(STOPPING)
            if self._process is None or self._process.poll() is not None:
                self._forget()
                self._address = self._start()
            return self._address

    def refuse(self) -> None:
        self._closing.set()

    def close(self) -> None:
        self.refuse()
        with self._lock:
            self._forget()

    def _start(self) -> str:
        self._end, theirs = socket.socketpair()
        self._folder = TemporaryFolder(PREFIX)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  (a group of its own, which includes Ray's processes)
                [sys.executable, "-P", "-m", HEAD, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **self.environment},
                start_new_session=True,
            )
        channel = Channel(self._end)
        try:
            channel.send(HeadSettings(OBJECT_STORE_BYTES, str(self._folder.path)))
            self._wait_for_answer(self._end)
            return str(channel.receive())
        except (EOFError, ConnectionError) as error:
            self._forget()
            raise OSError("a Ray cluster cannot be started on this machine; the log says why") from error
        except OSError:
            self._forget()
            raise

    def _wait_for_answer(self, end: socket.socket) -> None:
        patience = monotonic() + CLUSTER_START_SECONDS
        while not select.select([end], [], [], LOOK_SECONDS)[0]:
            if self._closing.is_set():
                raise OSError(STOPPING)
            if monotonic() > patience:
                raise OSError(f"no Ray cluster started on this machine within {CLUSTER_START_SECONDS:.0f} seconds")

    def _forget(self) -> None:
        """End the head, if there is one: kindly first, so that it ends the cluster; then what a killed one left."""
        if self._end is not None:
            self._end.close()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(CLOSE_SECONDS)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._folder is not None:
            self._folder.discard()
        self._end = self._process = self._folder = None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
