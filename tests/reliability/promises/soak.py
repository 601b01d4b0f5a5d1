"""Promise 22: a server runs for weeks: neither its memory nor its open files grow with the requests."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.reliability import bench, fleet
from tests.reliability.bench import Bench
from tests.reliability.fleet import Fleet
from tests.reliability.operations import History
from tests.reliability.planting import planted_in_servers
from tests.reliability.promise import Budget, Count, Promise, on_each_database

WORKS_PER_STUDY, CLIENTS = 20, 4
# Caches that are small: what grows beyond them is a leak.
SETTINGS = {"NEXTBATCH_CACHE_BYTES": "1000000", "NEXTBATCH_MODEL_BYTES": "1000000"}
MEGABYTE, MOST_MEGABYTES, MOST_FILES = 2**20, 32, 8


@dataclass(frozen=True)
class Held:
    """What a process holds."""

    megabytes: float
    files: int


def _prove(budget: Budget, seed: int, address: str) -> Count:
    """A case is a study that is worked on for a while; what is held after the first third must do for the rest."""
    holdings, history = [], History()
    with TemporaryDirectory() as folder, fleet.running(address, Path(folder), 1, **SETTINGS) as servers:
        for number in budget:
            _work(servers, f"study-{number}", seed, history)
            holdings.append(held(servers))
        bugs = servers.bugs()
    first, last = holdings[len(holdings) // 3], holdings[-1]
    grown, opened = last.megabytes - first.megabytes, last.files - first.files
    violations = [*history.violations, *bugs]
    if grown > MOST_MEGABYTES:
        violations.append(f"memory grew by {grown:.0f} MB, from {first.megabytes:.0f} MB on")
    if opened > MOST_FILES:
        violations.append(f"{opened} more files are open")
    details = {"studies": len(holdings), "MB grown since the first third": round(max(0, grown))}
    return Count(len(history.operations), tuple(violations), details)


def _work(servers: Fleet, study: str, seed: int, history: History) -> None:
    """Some clients at once, each of whom does so much."""
    bench.begin_study(servers, study)

    def work(number: int) -> None:
        client = Bench(number, servers.addresses, servers.key, study, Random(f"{seed} {study} {number}"), history)
        for _ in range(WORKS_PER_STUDY):
            client.work()
        client.connection.close()

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(work, range(1, CLIENTS + 1)))


def held(servers: Fleet) -> Held:
    """The first process of a fleet."""
    process = Path(f"/proc/{servers.members[0].pid}")
    resident = next(line for line in (process / "status").read_text().splitlines() if line.startswith("VmRSS"))
    return Held(int(resident.split()[1]) * 1024 / MEGABYTE, len(list((process / "fd").iterdir())))


PROMISE = Promise(
    number=22,
    words="A server runs for weeks",
    tested=(
        f"One process with small caches serves {CLIENTS} clients in study after study. After the first third it may "
        f"grow by {MOST_MEGABYTES} MB and {MOST_FILES} open files. (Minutes stand for weeks here.)"
    ),
    unit="requests",
    full=1_000_000,
    prove=on_each_database(_prove),
    teeth={bug: partial(planted_in_servers, bug) for bug in ("memory that is not given back", "files that stay open")},
    short=3,
    share=1.5,
)
