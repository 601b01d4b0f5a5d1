"""Promise 32: computing in other processes or on a Ray cluster changes nothing, although they die and freeze.

The Ray cluster is the one that the server starts on this machine. Its actors die, and the gateways to them.
"""

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from unittest.mock import patch
from uuid import uuid4

import httpx

from app.compute.supervision import ATTEMPTS
from tests.api.lab import SOLVENTS, Lab, truth
from tests.processes import command_of, descendants
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
CLUSTER_SECONDS = 400.0  # for a Ray cluster to start, or an actor on it: the server promises nothing of that
PAUSE = 0.02  # between two requests of a client: the machine is for the workers
ASKS_PER_DEATH = 3  # of a study: some are always under way when a worker dies, and few are left to check afterwards


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
    deaths_before: int
    asked: int = 0

    def send(self, kind: str, path: str, **request: Any) -> dict[str, Any]:
        started, deaths = monotonic(), self.deed.deaths
        headers = {"Idempotency-Key": uuid4().hex, **request.pop("headers", {})}
        answer = self.http.post(f"/studies/{self.study}/{path}", headers=headers, **request)
        sleep(PAUSE)
        return answer.json() if self.deed.note(kind, answer, monotonic() - started, deaths) else {}

    def ask(self, number: int) -> None:
        if self.asked >= ASKS_PER_DEATH * (1 + self.deed.deaths - self.deaths_before):
            self.preview(number)
            return
        self.asked += 1
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


@dataclass(frozen=True)
class Elsewhere:
    """A place to compute: the settings of the server, and by what its processes are known that may die."""

    name: str
    settings: Mapping[str, str]
    victims: tuple[str, ...]


PROCESSES = Elsewhere("workers", SETTINGS, ("app.compute.worker",))
ACTORS = Elsewhere(
    "actors", {**SETTINGS, "NEXTBATCH_COMPUTE": "ray"}, ("ray::ComputeActor", "ray::ComputeActor", "on_ray.gateway")
)
PLACES: tuple[Elsewhere, ...] = (PROCESSES, ACTORS)


def _prove(budget: Budget, seed: int, address: str) -> Count:
    """In one place after the other, unless something has been found already: a cluster takes its time."""
    count = Count(0)
    for place in PLACES:
        if count.violations:
            break
        count += _prove_elsewhere(place, budget.divided(len(PLACES)), seed, address)
    return count


def _prove_elsewhere(place: Elsewhere, budget: Budget, seed: int, address: str) -> Count:
    """A case is a worker that dies or freezes."""
    deed, random = Deed(), Random(seed)
    with TemporaryDirectory() as folder, fleet.running(address, Path(folder), 1, **place.settings) as servers:
        # The server listens before its workers are there.
        _wait(servers, lambda status: status["ready"] == WORKERS)
        for number, cases in enumerate(chaos.rounds(budget, DEATHS_PER_STUDY)):
            labs = [
                Lab(servers.lab.client, f"{place.name}-{number}-{neighbour}").begin(LIST)
                for neighbour in range(STUDIES + 1)
            ]
            with _working(deed, servers, [lab.study for lab in labs]):
                for _ in cases:
                    _harm(servers, place, random, deed)
            for lab in labs:
                deed.violations += _differences(lab)
        deed.violations += servers.bugs()
    told = {f"{kind} with {place.name}": number for kind, number in deed.told.items()}
    return Count(deed.deaths, tuple(deed.violations), told, deed.slowest)


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
        client = Client(deed, http, study, deed.deaths)
        for number in count():
            if ended.is_set():
                return
            try:
                role(client, number)
            except httpx.TransportError as error:
                deed.violations.append(f"{role.__name__}: no answer: {error!r}")
                return


def _harm(servers: Fleet, place: Elsewhere, random: Random, deed: Deed) -> None:
    """Let one worker die or freeze, and wait until there are as many as before."""
    sleep(random.uniform(0.0, 0.3))
    worker = random.choice(_victims(servers, random.choice(place.victims)))
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


def _victims(servers: Fleet, known_by: str) -> list[int]:
    """The processes below the server whose command says so, once those harmed before have gone.

    An actor outlives its gateway for a moment; nobody notices if it dies then.
    """
    end = monotonic() + MOST_SECONDS
    while len(alive := _processes(servers, known_by)) != WORKERS:
        if monotonic() > end:
            raise fleet.NeverReady(f"{len(alive)} processes {known_by}, where there should be {WORKERS}")
        sleep(0.05)
    return alive


def _processes(servers: Fleet, known_by: str) -> list[int]:
    return sorted(pid for pid in descendants(servers.members[0].pid or 0) if known_by in command_of(pid))


def _wait(servers: Fleet, is_so: Callable[[dict[str, int]], bool]) -> None:
    end = monotonic() + CLUSTER_SECONDS
    while (status := _status(servers)) is None or not is_so(status):
        if monotonic() > end:
            raise fleet.NeverReady(f"the compute workers are not replaced: {status}")
        sleep(0.05)


def _status(servers: Fleet) -> dict[str, int] | None:
    """What the server says of its workers; None from one that is too busy to say."""
    answer: dict[str, Any] = httpx.get(f"{servers.addresses[0]}/readyz", timeout=MOST_SECONDS).json()
    return answer.get("compute")


def _differences(lab: Lab) -> Iterator[str]:
    """What a server that computes itself finds wrong: every batch must be the one that it computes."""
    if not lab.is_sound():
        yield f"{lab.study}: the ledger is not sound"
    numbers = [batch["number"] for batch in lab.get("batches", limit=1000)["batches"]]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"{lab.study}: the batches are {numbers}"
    yield from (f"{lab.study}: batch {number} is another one" for number in numbers if not lab.replays(number))


@contextmanager
def _planted(bug: str, place: Elsewhere) -> Iterator[None]:
    """A bug of one place: the others take their time and would not show it."""
    with planted_in_servers(bug), patch.dict(globals(), {"PLACES": (place,)}):
        yield


PROMISE = Promise(
    number=32,
    words="Computing elsewhere changes nothing",
    tested=(
        f"A server with {WORKERS} compute workers, and one with {WORKERS} actors on a Ray cluster; clients ask, "
        "preview, upload and report all the time, while workers, actors and the gateways to them are killed, killed "
        "in the middle of a computation, and frozen. Every request is answered; only those that "
        f"lose {ATTEMPTS} workers may be refused, reports and uploads never. A server that computes itself gets "
        "the same batches, to the bit."
    ),
    unit="deaths",
    full=1_000,
    prove=on_each_database(_prove),
    teeth={
        bug: partial(_planted, bug, place)
        for bug, place in (
            ("lost computations are refused", PROCESSES),
            ("repeated computations forget their size", PROCESSES),
            ("what is repeated on actors forgets its size", ACTORS),
        )
    },
    short=2,
    bite=4,
    share=1.5,
)
