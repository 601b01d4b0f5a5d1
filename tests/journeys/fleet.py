"""Several servers on one database, and a client that keeps losing answers and repeats itself."""

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import httpx

from tests.server import Server, running

DROPPED = 0.25


@dataclass
class Fleet:
    """Servers that can be killed and started again; all on one database."""

    folder: Path
    address: str | None
    stack: ExitStack
    servers: list[Server] = field(default_factory=list)
    key: str = ""

    def start(self) -> None:
        started = len(list(self.folder.glob("server-*")))
        server = self.stack.enter_context(running(self.folder / f"server-{started}", self.address))
        self.key = self.key or server.key or ""
        self.servers.append(server)

    def kill(self, number: int) -> None:
        """As a power cut would."""
        server = self.servers.pop(number)
        server.process.kill()
        server.process.wait()

    def client(self, seed: int) -> "Lossy":
        return Lossy(self, Random(seed), self.stack.enter_context(httpx.Client(timeout=60)))

    def printed(self) -> str:
        return "".join(path.read_text() for path in self.folder.glob("server-*/output.txt"))


@dataclass
class Lossy:
    """Sends to any of the servers, throws answers away, and repeats with the same Idempotency-Key."""

    fleet: Fleet
    random: Random
    connection: httpx.Client
    lost: int = 0

    def send(self, method: str, path: str, **body: Any) -> httpx.Response:
        token = str(UUID(int=self.random.getrandbits(128)))
        headers = {"Authorization": f"Bearer {self.fleet.key}", "Idempotency-Key": token, **body.pop("headers", {})}
        for _ in range(50):
            server = self.random.choice(self.fleet.servers)
            try:
                answer = self.connection.request(method, f"{server.address}/v1{path}", headers=headers, **body)
            except httpx.TransportError:
                continue
            if self.random.random() >= DROPPED:
                assert answer.is_success, answer.text
                return answer
            self.lost += 1
        raise AssertionError("no answer got through")

    def get(self, path: str, **params: Any) -> Any:
        return self.send("GET", path, params=params).json()
