"""Promise 25: no request takes the memory, alone or with seven others, and honest reports are answered meanwhile."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import sleep

import httpx

from tests.databases import Databases
from tests.reliability import fleet
from tests.reliability.attacks.memory import AT_ONCE, LIMITS, MOST_TOGETHER, Attack
from tests.reliability.attacks.watching import MOST_SECONDS, Target, Watch, target, watched
from tests.reliability.planting import planted_in_servers
from tests.reliability.promise import Budget, Count, Promise

ATTACKS = tuple(LIMITS)
SETTINGS = {"NEXTBATCH_MAX_REQUESTS_PER_SECOND": "0"}
QUIET_SECONDS = 2


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    """Each attack once, on a server of its own; then any of them, eight at a time."""
    random, violations, figures = Random(seed), list[str](), dict[str, int]()
    cases = 0
    for case in budget:
        attack = ATTACKS[case] if case < len(ATTACKS) else random.choice(ATTACKS)
        times = 1 if case < len(ATTACKS) else AT_ONCE
        watch, statuses = _attacked(databases, attack, times)
        name = f"{attack.__name__.replace('_', ' ')}{', 8 at once' if times > 1 else ''}"
        most = LIMITS[attack] if times == 1 else MOST_TOGETHER
        figures |= {f"MiB of {most:,} at the most: {name}": watch.peak}
        figures |= {f"ms p99 of an honest report during {name}": round(1000 * min(watch.p99, 999))}
        violations += [f"{name}: {found}" for found in _wrong(watch, most, statuses)]
        cases = case + 1
    return Count(cases, tuple(violations), figures)


def _attacked(databases: Databases, attack: Attack, times: int) -> tuple[Watch, list[int]]:
    with (
        databases.fresh("sqlite") as address,
        TemporaryDirectory() as folder,
        fleet.running(address, Path(folder), 1, **SETTINGS) as servers,
    ):
        server = target(servers)
        with watched(server) as watch:
            with ThreadPoolExecutor(times) as pool:
                statuses = list(pool.map(lambda _: _status(server, attack), range(times)))
            sleep(QUIET_SECONDS)
        return watch, statuses + ([500] if servers.bugs() else [])


def _status(server: Target, attack: Attack) -> int:
    """0 if there was no answer."""
    with server.client() as client:
        try:
            return attack(client).status_code
        except httpx.TransportError:
            return 0


def _wrong(watch: Watch, most: int, statuses: list[int]) -> list[str]:
    lost = sum(seconds > MOST_SECONDS for seconds in watch.reports)
    found = [f"{lost} of {len(watch.reports)} honest reports were lost or took too long"] if lost else []
    found += [f"{watch.peak} MiB, of {most} allowed"] if watch.peak > most else []
    return found + [f"answered {status}" for status in statuses if status in (0, 500)]


PROMISE = Promise(
    number=25,
    words="One request cannot take the memory",
    tested=(
        "Bodies, sheets, archives, descriptions, pages and columns that are small to send and large to expand, each "
        "once and then eight at a time: the process stays within the limit beside it, with the default settings, and "
        "all honest reports are taken meanwhile."
    ),
    unit="attacks",
    full=200,
    prove=_prove,
    teeth={
        "values that nobody counts": partial(planted_in_servers, "values that nobody counts"),
    },
    short=4,
    bite=3,  # the third attack is the one that it opens
    share=1.5,
)
