"""Messages between a server process and a compute worker: values on a Unix socket, large arrays in shared memory.

A buffer of 64 KiB or more is not sent through the socket. It is put into a file without a name, whose descriptor
travels with the message. The receiver maps the file, so its arrays are read-only and are not copied again. When both
processes are done with it, however they end, nothing of it remains.
"""

import errno
import mmap
import os
import pickle
import select
import socket
import struct
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO, Any

LARGE = 2**16
_ALIGNMENT = 64
_HEADER = struct.Struct("<QQ")  # bytes of the value, and number of buffers beside it
_SIZE = struct.Struct("<Q")


@dataclass(frozen=True)
class WorkerSettings:
    """What a worker needs to know; it reads no settings of its own."""

    database: str
    cache_bytes: int
    model_bytes: int
    seconds: float
    threads: int
    log_format: str
    log_level: str
    sweep_threads: int = 1
    array_folder: Path | None = None
    spread_candidates: int = 0  # a list in shards with as many is spread over the nodes of a cluster


@dataclass(frozen=True)
class ComputeRequest:
    """A computation: a method of `LocalCompute` by its name, and plain arguments of which the first is the prefix."""

    number: int
    kind: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class CancelRequest:
    """Nobody waits for this computation any more."""

    number: int


@dataclass(frozen=True)
class WorkerReady:
    """The worker takes requests."""

    node: str = ""  # of a cluster; empty on this machine


@dataclass(frozen=True)
class WorkerAlive:
    """The worker is busy, and its interpreter runs."""


@dataclass(frozen=True)
class ComputationBegun:
    number: int


@dataclass(frozen=True)
class PlainError:
    """An error as data: pickle would call its constructor, which may want other arguments than an error keeps."""

    kind: type[BaseException]
    arguments: tuple[Any, ...]
    members: Mapping[str, Any]

    @classmethod
    def of(cls, error: BaseException) -> "PlainError":
        return cls(type(error), error.args, vars(error))

    def error(self) -> BaseException:
        error = self.kind.__new__(self.kind, *self.arguments)
        vars(error).update(self.members)
        return error


@dataclass(frozen=True)
class ComputeReply:
    """What came of a computation, and what the server should write, since a worker only reads the database."""

    number: int
    result: Any = None
    error: PlainError | None = None
    is_worth_saving: bool = False  # the model is worth a snapshot
    damaged: tuple[tuple[int, str], ...] = ()  # snapshots that cannot be read, by study and head


class Channel:
    """One end of the connection: several threads may send, one receives."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._sending = Lock()

    def send(self, message: Any) -> None:
        """Raises `OSError` if the other end is gone."""
        buffers: list[memoryview] = []
        value = pickle.dumps(message, protocol=5, buffer_callback=lambda buffer: _stays_inside(buffer, buffers))
        header = _HEADER.pack(len(value), len(buffers)) + b"".join(_SIZE.pack(buffer.nbytes) for buffer in buffers)
        if not buffers:
            with self._sending:
                self._socket.sendall(header + value)
            return
        with _file_of(buffers) as file, self._sending:
            socket.send_fds(self._socket, [header], [file.fileno()])
            self._socket.sendall(value)

    def receive(self) -> Any:
        """The next message; raises `EOFError` or `OSError` when the other end is gone."""
        start, descriptors, _, _ = socket.recv_fds(self._socket, _HEADER.size, 1)
        if not start:
            raise EOFError
        length, count = _HEADER.unpack(start + self._read(_HEADER.size - len(start)))
        if count and not descriptors:  # the system drops a descriptor for which there is no room
            raise OSError(errno.EMFILE, "too many open files to receive arrays")
        sizes = [size for (size,) in _SIZE.iter_unpack(self._read(count * _SIZE.size))]
        buffers = _mapped(descriptors[0], sizes) if descriptors else []
        return pickle.loads(self._read(length), buffers=buffers)  # noqa: S301  (from a process of our own)

    def wait_for_end(self) -> None:
        """Until either end is closed; others may send and receive meanwhile."""
        poll = select.poll()
        poll.register(self._socket, 0)  # of ends and errors the system tells always
        poll.poll()

    def close(self) -> None:
        """Both ends then receive no more."""
        with suppress(OSError):  # the other end is gone
            self._socket.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        self._socket.close()

    def _read(self, length: int) -> bytes:
        """Exactly so many bytes."""
        content = bytearray(length)
        view, filled = memoryview(content), 0
        while filled < length:
            received = self._socket.recv_into(view[filled:])
            if not received:
                raise EOFError
            filled += received
        return bytes(content)


def _stays_inside(buffer: pickle.PickleBuffer, beside: list[memoryview]) -> bool:
    """Whether a buffer is part of the value itself; else it is put beside it."""
    raw = buffer.raw()
    if raw.nbytes < LARGE:
        return True
    beside.append(raw)
    return False


@contextmanager
def _file_of(buffers: Sequence[memoryview]) -> Iterator[IO[bytes]]:
    """A file without a name that holds the buffers, each at an aligned position."""
    with _nameless() as file:
        for buffer in buffers:
            file.write(buffer)
            file.write(bytes(-buffer.nbytes % _ALIGNMENT))
        file.flush()
        yield file


def _nameless() -> IO[bytes]:
    """In memory on Linux; elsewhere a temporary file that is deleted already."""
    return os.fdopen(os.memfd_create("nextbatch"), "wb") if sys.platform == "linux" else tempfile.TemporaryFile()


def _mapped(descriptor: int, sizes: Sequence[int]) -> list[memoryview]:
    """The buffers of a file that came with a message; its memory is free again when the last of them is gone."""
    try:
        content = memoryview(mmap.mmap(descriptor, 0, prot=mmap.PROT_READ))
    finally:
        os.close(descriptor)
    buffers, start = [], 0
    for size in sizes:
        buffers.append(content[start : start + size])
        start += size + -size % _ALIGNMENT
    return buffers
