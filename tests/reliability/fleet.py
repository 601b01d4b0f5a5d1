"""Several server processes on one database, to be killed, paused and started again."""

import os
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic, sleep

import httpx

from tests.api.lab import Lab
from tests.live import admin_key
from tests.reliability import lab, serving
from tests.reliability.planting import PLANTED

READY_SECONDS = 300  # patience, and no promise: the machine may be busy
UNHANDLED = "Exception in ASGI application"  # by uvicorn

_context = get_context("forkserver")
_context.set_forkserver_preload([serving.__name__])


class NeverReady(Exception):
    """A server that was started does not answer."""


@dataclass
class Member:
    """One server: always on the same port, whichever process serves there."""

    port: int
    folder: Path
    process: BaseProcess | None = None
    armed: bool = False  # whether it will die by itself somewhere

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process else None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, settings: Mapping[str, str]) -> None:
        arguments = (settings, self.port, self.folder / "output.txt")
        self.armed = "NEXTBATCH_FAILPOINTS" in settings
        self.process = _context.Process(target=serving.run, args=arguments, daemon=True)
        self.process.start()

    def signal(self, number: int) -> None:
        """Nothing if it is dead already."""
        if self.process is not None and self.process.pid is not None and self.process.exitcode is None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.wait()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it is dead, after at most so many seconds."""
        if self.process is not None:
            self.process.join(seconds)
            return self.process.exitcode is not None
        return True

    def wait_until_ready(self) -> float:
        """The seconds it took until it answered, or until it was killed once more."""
        started = monotonic()
        while monotonic() < started + READY_SECONDS:
            with suppress(httpx.TransportError):
                if httpx.get(f"{self.address}/readyz", timeout=READY_SECONDS).is_success:
                    return monotonic() - started
            if self.wait(0) and self.process and self.process.exitcode == -signal.SIGKILL:
                return monotonic() - started
            sleep(0.01)
        raise NeverReady(f"the server did not become ready:\n{(self.folder / 'output.txt').read_text()[-3000:]}")


@dataclass
class Fleet:
    database: str  # its address
    stack: ExitStack
    members: list[Member] = field(default_factory=list)
    key: str = ""

    def start(self, member: Member, **settings: str) -> None:
        """With settings of its own; bugs that are planted here are planted there."""
        planted = {PLANTED: os.environ[PLANTED]} if PLANTED in os.environ else {}
        common = {"NEXTBATCH_DATA": str(member.folder), "NEXTBATCH_DATABASE_URL": self.database, **planted}
        common["NEXTBATCH_COMPUTE_WORKERS"] = "0"  # bugs are planted in the server process; promise 32 asks for workers
        member.start({**common, "NEXTBATCH_DATABASE_CONNECTIONS": "8", **settings})

    @cached_property
    def lab(self) -> Lab:
        """A server in this process, which no bug is planted in; it lives as long as the others."""
        return self.stack.enter_context(lab.opened(self.database))

    @property
    def addresses(self) -> list[str]:
        return [member.address for member in self.members]

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def client(self) -> httpx.Client:
        """For whoever arranges things: of the first member."""
        return httpx.Client(base_url=f"{self.addresses[0]}/v1", headers=self.headers, timeout=READY_SECONDS)

    def bugs(self) -> list[str]:
        """What the servers printed that no server may print: a request that ended by a mistake of ours.

        (A library's own complaint about a lost connection is none: its request was answered 503.)
        """
        printed = (member.folder / "output.txt" for member in self.members)
        texts = [path.read_text() for path in printed if path.exists()]
        lines = [line[-1500:] for text in texts for line in text.splitlines() if '"event": "bug"' in line]
        return lines + [text[text.index(UNHANDLED) :][:3000] for text in texts if UNHANDLED in text]


@contextmanager
def running(database: str, folder: Path, size: int, **settings: str) -> Iterator[Fleet]:
    """A fleet whose members answer; none lives longer than the block."""
    with ExitStack() as stack:
        yield from _running(Fleet(database, stack, key=admin_key(database)), folder, size, settings)


def _running(fleet: Fleet, folder: Path, size: int, settings: Mapping[str, str]) -> Iterator[Fleet]:
    for number in range(size):
        fleet.members.append(Member(_free_port(), folder / f"server-{number}"))
        fleet.members[-1].folder.mkdir(parents=True)
    try:
        for member in fleet.members:
            fleet.start(member, **settings)
        for member in fleet.members:
            member.wait_until_ready()
        yield fleet
    finally:
        for member in fleet.members:
            member.signal(signal.SIGCONT)
            member.kill()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
