"""Clients that report one result after the other over plain sockets, and what that takes of the server.

The clients share the machine with the server, so they do as little as they can: one process, one connection each.
"""

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import perf_counter, process_time

import numpy as np

from tests.server import Server

WARM_UP_SECONDS = 1.0
LIST = "key,t\n" + "".join(f"K{n},{n}\n" for n in range(1_000))

Request = Callable[[], bytes]
Figures = dict[str, float]


@dataclass
class Sent:
    """Seconds of each answer, and how many were not as expected."""

    times: list[float] = field(default_factory=list)
    failed: int = 0


def reports(server: Server, study: str, clients: int, seconds: float) -> Figures:
    """Single reports, each with an Idempotency-Key, by so many clients at once."""
    sequence = iter(range(10**9))
    random = Random(clients)  # noqa: S311

    def request() -> bytes:
        number = next(sequence)
        line = {"candidate": f"K{random.randrange(1000)}", "value": random.gauss(), "measured_by": f"bench {number}"}
        body = json.dumps(line).encode()
        headers = f"Content-Type: application/json\r\nIdempotency-Key: {clients}-{number}-{perf_counter()}\r\n"
        path = f"/v1/studies/{study}/observations"
        return _head("POST", path, server, f"{headers}Content-Length: {len(body)}\r\n") + body

    return _figures(server, request, clients, seconds, b"201")


def polls(server: Server, path: str, etag: str | None, clients: int, seconds: float) -> Figures:
    """Reads of one address, by clients that know its state already, or do not."""
    request = _head("GET", path, server, f"If-None-Match: {etag}\r\n" if etag else "")
    return _figures(server, lambda: request, clients, seconds, b"304" if etag else b"200")


def _head(method: str, path: str, server: Server, headers: str) -> bytes:
    return (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {server.key}\r\n{headers}\r\n".encode()
    )


def _figures(server: Server, request: Request, clients: int, seconds: float, expected: bytes) -> Figures:
    asyncio.run(_send_all(server, request, clients, WARM_UP_SECONDS, expected))
    before, own, begun = processor_seconds(server.process.pid), process_time(), perf_counter()
    sent = asyncio.run(_send_all(server, request, clients, seconds, expected))
    took, used = perf_counter() - begun, processor_seconds(server.process.pid) - before
    clients_used = process_time() - own
    times = 1000 * np.array(sent.times)
    return {
        "a second": len(times) / took,
        "p50 ms": float(np.quantile(times, 0.5)),
        "p99 ms": float(np.quantile(times, 0.99)),
        "processor ms each": 1000 * used / len(times),
        "processor ms of the client each": 1000 * clients_used / len(times),
        "failed": float(sent.failed),
    }


async def _send_all(server: Server, request: Request, clients: int, seconds: float, expected: bytes) -> Sent:
    sent, end = Sent(), perf_counter() + seconds
    await asyncio.gather(*(_send(server, request, end, expected, sent) for _ in range(clients)))
    return sent


async def _send(server: Server, request: Request, end: float, expected: bytes, sent: Sent) -> None:
    host, _, port = server.address.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    while (begun := perf_counter()) < end:
        writer.write(request())
        head = await reader.readuntil(b"\r\n\r\n")
        if b"content-length: " in head:
            await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
        sent.times.append(perf_counter() - begun)
        sent.failed += head[9:12] != expected
    writer.close()


def processor_seconds(process: int) -> float:
    """What a process and those that it started have used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    listed = (path.read_text().split() for path in Path(f"/proc/{process}/task").glob("*/children"))
    children = [int(child) for threads in listed for child in threads]
    return own + sum(map(processor_seconds, children))
