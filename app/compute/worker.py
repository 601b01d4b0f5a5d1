"""A compute worker: a process that computes for one server process, and only reads the database.

It runs as `python -m app.compute.worker DESCRIPTOR`; `supervision` starts it. It ends when the other end of its channel
is closed, which also happens when the server is killed.
"""

import os
import signal
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Thread
from time import sleep
from typing import Any

from app import logs
from app.compute.answering import BATCHES, READERS, Answerer, LocalAnswerer, cannot_travel
from app.compute.channel import (
    CancelRequest,
    Channel,
    ComputationBegun,
    ComputeRequest,
    WorkerAlive,
    WorkerReady,
    WorkerSettings,
)
from app.compute.local import prepare_algebra
from app.deadline import Demand

ALIVE_SECONDS = 1.0
SWITCH_SECONDS = 0.0005  # so that the thread which says that the worker is alive gets its turn


class Worker:
    """Takes requests, has each answered on a thread, and replies."""

    def __init__(self, channel: Channel, answerer: Answerer, threads: int, node: str = "") -> None:
        self._channel = channel
        self._answerer = answerer
        self._node = node
        self._batches = ThreadPoolExecutor(threads, "batches")
        self._readers = ThreadPoolExecutor(READERS, "readers")
        self._demands: dict[int, Demand] = {}

    def serve(self) -> None:
        """Until the server has gone."""
        Thread(target=self._tell_alive, daemon=True).start()
        self._channel.send(WorkerReady(self._node))
        while True:
            message = self._channel.receive()
            if isinstance(message, CancelRequest):
                demand = self._demands.get(message.number)
                if demand is not None:
                    demand.leave()
            else:
                self._demands[message.number] = Demand()
                threads = self._batches if message.kind == BATCHES else self._readers
                threads.submit(self._answer, message)

    def _answer(self, request: ComputeRequest) -> None:
        self._channel.send(ComputationBegun(request.number))
        try:
            reply = self._answerer.answer(request, self._demands[request.number])
        except OSError:  # what answers is gone: whoever starts another repeats the request
            self._channel.close()
            return
        del self._demands[request.number]
        try:
            self._channel.send(reply)
        except Exception as error:
            with suppress(OSError):  # the server has gone, and the main thread ends this process
                self._channel.send(cannot_travel(reply, error))

    def _tell_alive(self) -> None:
        """A worker that is frozen, or whose interpreter is held, says nothing, and is replaced."""
        while True:
            sleep(ALIVE_SECONDS)
            try:
                self._answerer.must_be_alive()
                if self._demands:
                    self._channel.send(WorkerAlive())
            except OSError:
                self._channel.close()  # `serve` ends
                return


def prepare_process(settings: WorkerSettings) -> None:
    """What every process that computes sets before it does."""
    logs.configure(settings.log_format, settings.log_level)
    logs.hear_python()
    prepare_algebra()
    sys.setswitchinterval(SWITCH_SECONDS)


def serve_until_server_has_gone(serve: Callable[[Channel, Any], None]) -> None:
    """The main function of a child process: `serve` gets the channel and the settings, which are sent first."""
    for number in (signal.SIGINT, signal.SIGTERM):  # meant for the server, which then closes the channel
        signal.signal(number, signal.SIG_IGN)
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    try:
        serve(channel, channel.receive())
    except (EOFError, OSError):
        os._exit(0)  # nobody waits for what the other threads compute


def _serve(channel: Channel, settings: WorkerSettings) -> None:
    prepare_process(settings)
    Worker(channel, LocalAnswerer(settings), settings.threads).serve()


if __name__ == "__main__":
    serve_until_server_has_gone(_serve)
