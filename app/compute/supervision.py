"""One compute worker of a server process, replaced whenever it dies; what it had begun is repeated.

A computation is a function of a prefix of the ledger, so repeating it changes nothing. A worker is killed if it is
silent for long (frozen, or in a call that never returns to the interpreter), or if a computation heeds neither its time
limit nor that nobody wants it any more.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

import structlog

from app.compute.channel import (
    CancelRequest,
    Channel,
    ComputationBegun,
    ComputeReply,
    ComputeRequest,
    WorkerReady,
    WorkerSettings,
)
from app.domain.errors import ComputationTooLong, Overloaded, Refusal

ATTEMPTS = 3  # of a computation whose worker dies
LOOK_SECONDS = 0.5
SILENT_SECONDS = 10.0  # of a worker with something to do, which otherwise speaks every second
HEAD_START = 1.0  # for the server itself, unless a computation comes first
GRACE_SECONDS = 10.0  # for a computation to end by itself, after its time or when nobody wants it
MOST_PAUSE = 5.0  # before the next start, if workers die as soon as they are started
EXIT_SECONDS = 0.5  # for a worker that is no longer needed
STOPPING = "The server is stopping."


@dataclass(eq=False)
class RemoteComputation:
    """A computation that a worker was asked for."""

    request: ComputeRequest
    future: Future[ComputeReply] = field(default_factory=Future)
    attempts: int = 0  # that ended with the death of the worker
    sent: float = 0.0
    begun: float | None = None
    cancelled: float | None = None

    def lose(self) -> bool:
        """Its worker died; whether it is tried again."""
        self.attempts += 1
        self.begun = None
        if self.attempts < ATTEMPTS:
            return True
        self.refuse(
            Overloaded(
                f"The processes that computed this ended unexpectedly, {ATTEMPTS} times; nothing was stored. Usually "
                "memory is short. Ask for fewer measurements, use a shorter list, or give the server more memory.",
                retry_after=30,
            )
        )
        return False

    def answer(self, reply: ComputeReply) -> None:
        with suppress(InvalidStateError):  # it was refused a moment ago
            self.future.set_result(reply)

    def refuse(self, refusal: Refusal) -> None:
        with suppress(InvalidStateError):
            self.future.set_exception(refusal)


@dataclass(frozen=True)
class WorkerProgram:
    """What a worker process runs: a module, what it is told first, and variables of its environment.

    `settings` may take its time and raise `OSError`: what it needs may have to be started. A process that is not ready
    after `start_seconds`, although something waits for it, is killed.
    """

    module: str
    settings: Callable[[], Any]
    environment: Mapping[str, str] = field(default_factory=dict)
    start_seconds: float = 60.0


class SupervisedWorker:
    """Starts the process, passes requests on, and starts another one when it is gone."""

    def __init__(self, settings: WorkerSettings, program: WorkerProgram | None = None) -> None:
        self._program = program or WorkerProgram("app.compute.worker", lambda: settings)
        self.deaths = 0
        self.node: str | None = None  # of a cluster, or empty; None while no worker is ready
        self._settings = settings
        self._numbers = count(1)
        self._computations: dict[int, RemoteComputation] = {}
        self._lock = Lock()  # what is sent is listed, and sent once to each process
        self._channel: Channel | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._heard = self._ready_since = 0.0
        self._closing, self._wanted = Event(), Event()
        self._threads = [Thread(target=work, daemon=True) for work in (self._supervise, self._watch)]
        for thread in self._threads:
            thread.start()

    @property
    def is_ready(self) -> bool:
        return self.node is not None

    @property
    def running(self) -> int:
        return len(self._computations)

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def start(self, kind: str, arguments: tuple[Any, ...]) -> RemoteComputation:
        """Have something computed; its future has the result."""
        with self._lock:
            computation = RemoteComputation(ComputeRequest(next(self._numbers), kind, arguments))
            if self._closing.is_set():
                computation.refuse(Overloaded(STOPPING))
                return computation
            self._computations[computation.request.number] = computation
            self._send(computation)
        self._wanted.set()
        return computation

    def cancel(self, computation: RemoteComputation) -> None:
        """Nobody waits for it any more. If it does not end soon, its worker is ended."""
        computation.cancelled = monotonic()
        with self._lock:
            if self._channel is None:  # no process has it, and none gets it
                self._computations.pop(computation.request.number, None)
                return
            with suppress(OSError):
                self._channel.send(CancelRequest(computation.request.number))

    def close(self) -> None:
        self._closing.set()
        self._wanted.set()
        with self._lock:
            if self._channel is not None:
                self._channel.close()
        for thread in self._threads:
            thread.join()

    def _send(self, computation: RemoteComputation) -> None:
        computation.sent = monotonic()
        if self._channel is not None:
            try:
                self._channel.send(computation.request)
            except OSError:  # the worker has just died, or cannot be told: everything is sent to the next one
                self._channel.close()

    def _supervise(self) -> None:
        quick_deaths = 0
        self._wanted.wait(HEAD_START)
        while not self._closing.is_set():
            started = monotonic()
            try:
                channel, process = self._begin()
            except OSError as error:
                structlog.get_logger().error("a compute worker cannot be started", error=repr(error))
                self._forget_lost()
            else:
                self._listen(channel)
                self._end(channel, process)
            quick_deaths = quick_deaths + 1 if monotonic() < started + MOST_PAUSE else 0
            self._closing.wait(pause_after(quick_deaths))

    def _begin(self) -> tuple[Channel, "subprocess.Popen[bytes]"]:
        """Start a process, and send it everything that waits."""
        settings = self._program.settings()
        threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-P", "-m", self._program.module, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={**threads, **os.environ, **self._program.environment},
            )
        channel = Channel(ours)
        with suppress(OSError):
            channel.send(settings)
        with self._lock:
            self._heard, self._channel, self._process = monotonic(), channel, process
            for computation in list(self._computations.values()):
                self._send(computation)
            if self._closing.is_set():
                channel.close()
        return channel, process

    def _listen(self, channel: Channel) -> None:
        """Until the process is gone, or says what this one cannot read: its program may have been updated."""
        try:
            while True:
                self._hear(channel.receive())
        except (EOFError, OSError):
            return
        except Exception as error:  # pickle has no narrower one; another process may be understood
            structlog.get_logger().error("a compute worker is not understood", error=repr(error))

    def _hear(self, message: Any) -> None:
        self._heard = monotonic()
        if isinstance(message, WorkerReady):
            self._ready_since = self._heard
            self.node = message.node
        elif isinstance(message, ComputationBegun):
            self._computations[message.number].begun = self._heard
        elif isinstance(message, ComputeReply):
            self._computations.pop(message.number).answer(message)

    def _end(self, channel: Channel, process: "subprocess.Popen[bytes]") -> None:
        """The process is gone, or goes now; forget what is not to be repeated."""
        channel.close()
        try:
            code = process.wait(EXIT_SECONDS if self._closing.is_set() else 0.1)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        with self._lock:
            self.node = self._channel = None
            channel.release()
            if self._closing.is_set():
                self._give_up()
                return
        self.deaths += 1
        self._forget_lost()
        structlog.get_logger().warning("a compute worker died", exit=code, repeated=len(self._computations))

    def _forget_lost(self) -> None:
        """Keep the computations that the next process repeats."""
        with self._lock:
            self._computations = {
                number: computation
                for number, computation in self._computations.items()
                if computation.cancelled is None and not computation.future.done() and computation.lose()
            }

    def _give_up(self) -> None:
        for computation in self._computations.values():
            computation.refuse(Overloaded(STOPPING))
        self._computations.clear()

    def _watch(self) -> None:
        """Kill the process if it does not do what it should; `_supervise` then starts another."""
        while not self._closing.wait(LOOK_SECONDS):
            reason = self._reason_to_kill()
            process = self._process
            if reason is not None and process is not None and process.poll() is None:
                structlog.get_logger().warning("a compute worker is killed", reason=reason)
                process.kill()

    def _reason_to_kill(self) -> str | None:
        now = monotonic()
        is_ready = self.is_ready
        waiting = list(self._computations.values())
        for computation in waiting:
            cancelled = computation.cancelled
            if is_ready and cancelled is not None and now > max(cancelled, self._ready_since) + GRACE_SECONDS:
                return "a computation that nobody wants does not end"
            if computation.begun is not None and now > computation.begun + self._settings.seconds + GRACE_SECONDS:
                computation.refuse(ComputationTooLong())
                return "a computation does not heed its time limit"
        patience = SILENT_SECONDS if is_ready else self._program.start_seconds
        if waiting and now > max(self._heard, min(computation.sent for computation in waiting)) + patience:
            return "it says nothing"
        return None


def pause_after(quick_deaths: int) -> float:
    """Seconds before the next start, when so many workers in a row died as soon as they were started."""
    return min(MOST_PAUSE, 0.1 * 2 ** min(quick_deaths, 10)) if quick_deaths > 1 else 0.0
