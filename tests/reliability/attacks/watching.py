"""What an attack does to a server: the peak of its memory, and how long honest reports take meanwhile."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, sleep
from uuid import uuid4

import httpx
import numpy as np

from app.domain.access import SCOPES, Role, Scope
from tests.reliability.fleet import Fleet

PAUSE = 0.02  # between two honest reports
MOST_SECONDS = 10.0  # for one honest report, on any machine
LIST = "key,t\n" + "".join(f"K{number},{number}\n" for number in range(200))
CSV = {"Content-Type": "text/csv"}
ROLES = (Role.ADMIN, Role.SCIENTIST, Role.TECHNICIAN, Role.CLIENT, Role.DASHBOARD)
STUDIES = ["honest", "wide", "levels", "slow"]  # all attackers are granted them


def roles_that_may(scope: Scope, turn: int = 0) -> list[Role]:
    """Those that have the scope; which of them is the first depends on whose turn it is."""
    able = [role for role in ROLES if scope in SCOPES[role]]
    return able[turn % len(able) :] + able[: turn % len(able)]


@dataclass(frozen=True)
class Target:
    """A server under attack, with the keys of those who attack it and of one who does not."""

    address: str
    pid: int
    keys: Mapping[Role, str]  # of the attackers
    honest_key: str
    role: Role = Role.ADMIN  # of the attacker
    slowest: dict[str, float] = field(default_factory=dict)  # in seconds: measured and told, never judged

    def sent_by(self, role: Role) -> "Target":
        return replace(self, role=role)

    def client(self, seconds: float = 300) -> httpx.Client:
        """The attacker's."""
        return self._client(self.keys[self.role], seconds)

    def admin(self) -> httpx.Client:
        """For what has to be there before an attack."""
        return self._client(self.keys[Role.ADMIN], 300)

    def honest(self, seconds: float = MOST_SECONDS) -> httpx.Client:
        return self._client(self.honest_key, seconds)

    def in_progress(self, queue: str) -> int:
        """The `asks`, or the `long` work, that the server does or keeps waiting."""
        with self.admin() as client:
            lines = client.get(f"{self.address}/metrics").raise_for_status().text.splitlines()
        metric = f'nextbatch_queue_length{{queue="{queue}"}}'
        return int(float(next(line for line in lines if line.startswith(metric)).split()[-1]))

    def _client(self, key: str, seconds: float) -> httpx.Client:
        headers = {"Authorization": f"Bearer {key}"}
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
    """The first server of a fleet, with a study for honest reports, and an attacker's key for every role."""
    member = servers.members[0]
    with servers.client() as client:
        for study in STUDIES:
            client.put(f"/studies/{study}", json={}).raise_for_status()
        client.put("/studies/honest/candidates", content=LIST, headers=CSV).raise_for_status()
        honest = _new_key(client, "honest", Role.CLIENT)
        keys = {role: _new_key(client, f"attacking {role}", role) for role in ROLES}
    return Target(member.address, member.pid or 0, keys, honest)


def _new_key(client: httpx.Client, name: str, role: Role) -> str:
    studies = [] if role is Role.ADMIN else STUDIES
    made = client.post("/keys", json={"name": name, "role": role, "studies": studies}).raise_for_status()
    return str(made.json()["key"])


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
    """MiB that the server and its compute workers have had in memory at the most since `_forget_peak`."""
    return sum(map(_peak_of, _processes(server.pid)))


def _peak_of(pid: int) -> int:
    with suppress(FileNotFoundError, ProcessLookupError, StopIteration):  # it has ended
        status = Path(f"/proc/{pid}/status").read_text()
        return int(next(line for line in status.splitlines() if "VmHWM" in line).split()[1]) // 1024
    return 0


def _forget_peak(server: Target) -> None:
    for pid in _processes(server.pid):
        with suppress(PermissionError, FileNotFoundError):  # then it is the peak since the start, which is higher
            Path(f"/proc/{pid}/clear_refs").write_text("5")


def _processes(pid: int) -> list[int]:
    """A process and all that it has started."""
    children = [int(child) for file in Path(f"/proc/{pid}/task").glob("*/children") for child in _words(file)]
    return [pid, *(found for child in children for found in _processes(child))]


def _words(file: Path) -> list[str]:
    with suppress(FileNotFoundError, ProcessLookupError):
        return file.read_text().split()
    return []
