"""Promise 32: computing in other processes changes nothing, although they die and freeze."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import httpx

from app.compute.supervision import ATTEMPTS
from tests.api.lab import SOLVENTS, Lab, truth
from tests.reliability import chaos, fleet
from tests.reliability.fleet import Fleet
from tests.reliability.planting import SILENCE, planted_in_servers
from tests.reliability.promise import Budget, Count, Promise, on_each_database

LIST = "key,temperature,solvent\n" + "".join(
    f"{solvent}-{temperature},{temperature},{solvent}\n" for temperature in range(20, 100) for solvent in SOLVENTS
)
WORKERS = 2
STUDIES = 2  # that are asked at the same time; neighbours go to different workers
DEATHS_PER_STUDY = 5
SETTINGS = {"NEXTBATCH_COMPUTE_WORKERS": str(WORKERS), SILENCE: "3"}
MOST_SECONDS = 120.0  # for any answer, on any machine
PAUSE = 0.02  # between two requests of a client: the machine is for the workers
MOST_BATCHES = 12  # of a study, so that checking them takes no longer than making them


@dataclass
class Deed:
    """What was done to workers, and what clients were told."""

    deaths: int = 0
    violations: list[str] = field(default_factory=list)
    told: dict[str, int] = field(default_factory=dict)
    slowest: dict[str, float] = field(default_factory=dict)

    def note(self, kind: str, answer: httpx.Response, took: float, deaths: int) -> bool:
        """Whether it was done; refused is only who lost as many workers as a computation may lose."""
        if answer.is_success:
            self.told[kind] = self.told.get(kind, 0) + 1
            self.slowest[kind] = max(self.slowest.get(kind, 0.0), took)
        elif answer.status_code != 503 or self.deaths - deaths < ATTEMPTS or kind in ("reports", "uploads"):
            self.violations.append(f"{kind}: {answer.status_code} {answer.text[:300]}")
        return answer.is_success


@dataclass
class Client:
    """One who does the same thing again and again in a study."""

    deed: Deed
    http: httpx.Client
    study: str

    def send(self, kind: str, path: str, **request: Any) -> dict[str, Any]:
        started, deaths = monotonic(), self.deed.deaths
        headers = {"Idempotency-Key": uuid4().hex, **request.pop("headers", {})}
        answer = self.http.post(f"/studies/{self.study}/{path}", headers=headers, **request)
        sleep(PAUSE)
        return answer.json() if self.deed.note(kind, answer, monotonic() - started, deaths) else {}

    def ask(self, number: int) -> None:
        if number >= MOST_BATCHES:
            self.preview(number)
            return
        batch = self.send("asks", "batches", json={"worker": f"w{number}", "max_size": 2 + number % 3, "wait": 600})
        lines = [
            {"suggestion": line["suggestion"], "values": [truth(line["key"])] * line["replicates"]}
            for line in batch.get("suggestions", ())
        ]
        if lines:
            self.send("reports", "observations", json={"observations": lines})

    def preview(self, number: int) -> None:
        self.send("previews", "batches", json={"worker": "looks", "max_size": 1 + number % 3, "preview": True})

    def upload(self, number: int) -> None:
        rows = f"key,temperature,solvent\nNew-{number},{number % 80},THF\n"
        self.send("uploads", "candidates", content=rows, headers={"Content-Type": "text/csv"})

    def report(self, number: int) -> None:
        line = {"candidate": "THF-20", "value": truth("THF-20"), "ref": f"control {number}"}
        self.send("reports", "observations", json={"observations": [line]})


def _prove(budget: Budget, seed: int, address: str) -> Count:
    """A case is a worker that dies or freezes."""
    deed, random = Deed(), Random(seed)
    with TemporaryDirectory() as folder, fleet.running(address, Path(folder), 1, **SETTINGS) as servers:
        _wait(servers, lambda status: status["ready"] == WORKERS)  # the server listens before its workers are there
        for number, cases in enumerate(chaos.rounds(budget, DEATHS_PER_STUDY)):
            labs = [
                Lab(servers.lab.client, f"study-{number}-{neighbour}").begin(LIST) for neighbour in range(STUDIES + 1)
            ]
            with _working(deed, servers, [lab.study for lab in labs]):
                for _ in cases:
                    _harm(servers, random, deed)
            for lab in labs:
                deed.violations += _differences(lab)
        deed.violations += servers.bugs()
    return Count(deed.deaths, tuple(deed.violations), deed.told, deed.slowest)


@contextmanager
def _working(deed: Deed, servers: Fleet, studies: Sequence[str]) -> Iterator[None]:
    """Clients of every kind, for as long as the block lasts."""
    *asked, grown = studies  # an upload outdates the batch that is being computed, so it goes to a study of its own
    roles = [(study, role) for study in asked for role in (Client.ask, Client.preview, Client.report)]
    roles.append((grown, Client.upload))
    ended = Event()
    with ThreadPoolExecutor(len(roles)) as pool:
        clients = [pool.submit(_work, deed, servers, study, role, ended) for study, role in roles]
        try:
            yield
        finally:
            ended.set()
    for client in clients:
        client.result()


def _work(deed: Deed, servers: Fleet, study: str, role: Callable[[Client, int], None], ended: Event) -> None:
    with httpx.Client(base_url=f"{servers.addresses[0]}/v1", headers=servers.headers, timeout=MOST_SECONDS) as http:
        client = Client(deed, http, study)
        for number in count():
            if ended.is_set():
                return
            try:
                role(client, number)
            except httpx.TransportError as error:
                deed.violations.append(f"{role.__name__}: no answer: {error!r}")
                return


def _harm(servers: Fleet, random: Random, deed: Deed) -> None:
    """Let one worker die or freeze, and wait until there are as many as before."""
    sleep(random.uniform(0.0, 0.3))
    worker = random.choice(_workers(servers))
    deed.deaths += 1
    random.choice((_kill, _kill_in_the_middle, _kill_in_the_middle, _freeze))(worker)
    _wait(servers, lambda status: status["ready"] == WORKERS and status["deaths"] >= deed.deaths)


def _kill(worker: int) -> None:
    _signal(worker, signal.SIGKILL)


def _kill_in_the_middle(worker: int) -> None:
    """It dies while something waits for it."""
    _signal(worker, signal.SIGSTOP)
    sleep(0.5)  # each client of the study now waits for this worker
    _signal(worker, signal.SIGKILL)


def _freeze(worker: int) -> None:
    """The server has to notice by itself."""
    _signal(worker, signal.SIGSTOP)


def _signal(worker: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(worker, number)


def _workers(servers: Fleet) -> list[int]:
    tasks = Path(f"/proc/{servers.members[0].pid}/task").iterdir()
    return sorted(int(child) for task in tasks for child in (task / "children").read_text().split())


def _wait(servers: Fleet, is_so: Callable[[dict[str, int]], bool]) -> None:
    end = monotonic() + MOST_SECONDS
    while not is_so(httpx.get(f"{servers.addresses[0]}/readyz", timeout=MOST_SECONDS).json()["compute"]):
        if monotonic() > end:
            raise fleet.NeverReady("the compute workers are not replaced")
        sleep(0.05)


def _differences(lab: Lab) -> Iterator[str]:
    """What a server that computes itself finds wrong: every batch must be the one that it computes."""
    if not lab.is_sound():
        yield f"{lab.study}: the ledger is not sound"
    numbers = [batch["number"] for batch in lab.get("batches", limit=1000)["batches"]]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"{lab.study}: the batches are {numbers}"
    yield from (f"{lab.study}: batch {number} is another one" for number in numbers if not lab.replays(number))


PROMISE = Promise(
    number=32,
    words="Computing elsewhere changes nothing",
    tested=(
        f"A server with {WORKERS} compute workers; clients ask, preview, upload and report all the time, while workers "
        "are killed, killed in the middle of a computation, and frozen. Every request is answered; only those that "
        f"lose {ATTEMPTS} workers may be refused, reports and uploads never. A server that computes itself gets "
        "the same batches, to the bit."
    ),
    unit="deaths",
    full=1_000,
    prove=on_each_database(_prove),
    teeth={
        bug: partial(planted_in_servers, bug)
        for bug in ("lost computations are refused", "repeated computations forget their size")
    },
    short=2,
    bite=4,
    share=1.5,
)
