"""What an attack does to a server: the peak of its memory, and how long honest reports take meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, sleep
from uuid import uuid4

import httpx
import numpy as np

from tests.reliability.fleet import Fleet

PAUSE = 0.02  # between two honest reports
MOST_SECONDS = 10.0  # for one honest report, on any machine
LIST = "key,t\n" + "".join(f"K{number},{number}\n" for number in range(200))
CSV = {"Content-Type": "text/csv"}


@dataclass(frozen=True)
class Target:
    """A server under attack, with the keys of those who attack it and of one who does not."""

    address: str
    pid: int
    key: str
    honest_key: str

    def client(self, seconds: float = 300) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=f"{self.address}/v1", headers=headers, timeout=seconds)

    def honest(self, seconds: float = MOST_SECONDS) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.honest_key}"}
        return httpx.Client(base_url=f"{self.address}/v1", headers=headers, timeout=seconds)


@dataclass
class Watch:
    """What was seen while a block lasted."""

    peak: int = 0  # MiB of the server's process
    reports: list[float] = field(default_factory=list)  # seconds; infinite for one that was not taken

    @property
    def p99(self) -> float:
        return float(np.quantile(self.reports, 0.99, method="nearest")) if self.reports else 0.0


def target(servers: Fleet) -> Target:
    """The first server of a fleet, with a study for honest reports."""
    member = servers.members[0]
    with servers.client() as client:
        client.put("/studies/honest", json={}).raise_for_status()
        client.put("/studies/honest/candidates", content=LIST, headers=CSV).raise_for_status()
        key = client.post("/keys", json={"name": "honest", "role": "admin"}).raise_for_status().json()["key"]
    return Target(member.address, member.pid or 0, servers.key, key)


@contextmanager
def watched(server: Target) -> Iterator[Watch]:
    """Honest reports, one after the other, for as long as the block lasts; then the peak of the memory."""
    watch, over = Watch(), Event()
    _forget_peak(server)

    def report() -> None:
        with server.honest() as client:
            while not over.is_set():
                started = perf_counter()
                watch.reports.append(perf_counter() - started if _reported(client) else np.inf)
                sleep(PAUSE)

    reporter = Thread(target=report)
    reporter.start()
    try:
        yield watch
    finally:
        over.set()
        reporter.join()
        watch.peak = _peak(server)


def _reported(client: httpx.Client) -> bool:
    """Whether a report was taken, by the second try at the latest: the client tries again under the same key."""
    body = {"candidate": "K7", "value": 1.0, "ref": uuid4().hex}
    headers = {"Idempotency-Key": uuid4().hex}
    for _ in range(2):
        with suppress(httpx.TransportError):
            answer = client.post("/studies/honest/observations", json=body, headers=headers)
            if answer.status_code != 503:
                return answer.status_code == 201
        sleep(0.5)
    return False


def _peak(server: Target) -> int:
    """MiB that the process has had in memory at the most since `_forget_peak`."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if "VmHWM" in line).split()[1]) // 1024


def _forget_peak(server: Target) -> None:
    with suppress(PermissionError):  # then it is the peak since the start, which is higher
        Path(f"/proc/{server.pid}/clear_refs").write_text("5")
