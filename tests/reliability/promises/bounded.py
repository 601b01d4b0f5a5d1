"""Promise 17: whatever is thrown at it, a server keeps its memory, and honest reports are answered meanwhile."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from random import Random
from time import perf_counter, sleep
from uuid import uuid4

import httpx
import numpy as np

from tests.databases import Databases
from tests.reliability import serving
from tests.reliability.hostile.sockets import ATTACKS
from tests.reliability.planting import planted_in_servers
from tests.reliability.promise import Budget, Count, Promise
from tests.server import Server, running

SERVING = [sys.executable, "-m", serving.__name__]
MEBIBYTE = 1 << 20
MOST_GROWTH = 256  # MiB above a server at rest
MOST_SECONDS = 10.0  # for one honest report, on any machine
LEAST_SECONDS = 5.0  # of an attack, that it may come to something
REPORTS = 60
PAUSE = 0.01  # between two honest reports: a key may send two hundred a second
LIST = "key,t\n" + "".join(f"K{number},{number}\n" for number in range(200))


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    random, violations, quiet, busy, growth = Random(seed), [], [], [], 0.0
    cases = 0
    with running(databases.empty_folder() / "data", program=SERVING) as server:
        honest = replace(server, key=begin(server))
        wait_for_workers(server)
        before = memory(server)
        for case in budget:
            quiet += reports(honest)
            attack = ATTACKS[(case + random.randrange(len(ATTACKS)) * (case >= len(ATTACKS))) % len(ATTACKS)]
            with attack(server, "s"):
                during = reports_for(LEAST_SECONDS, honest)
                growth = max(growth, memory(server) - before)
            violations += [f"{attack.__name__}: {one}" for one in wrong(during, growth)]
            busy += during
            cases = case + 1
    return Count(cases, tuple(violations), _figures(quiet, busy, growth))


def begin(server: Server) -> str:
    """A study with a list, and the key of somebody honest: how much the attackers send does not count as theirs."""
    with httpx.Client(base_url=server.address, headers={"Authorization": f"Bearer {server.key}"}) as client:
        client.put("/v1/studies/s", json={}).raise_for_status()
        content = {"content": LIST, "headers": {"Content-Type": "text/csv"}}
        client.put("/v1/studies/s/candidates", **content).raise_for_status()  # type: ignore[arg-type]
        made = client.post("/v1/keys", json={"name": "bench-1", "role": "technician", "studies": ["s"]})
    return str(made.raise_for_status().json()["key"])


def wait_for_workers(server: Server) -> None:
    """What they take at rest is no growth."""
    while (compute := httpx.get(f"{server.address}/readyz").json()["compute"])["ready"] < compute["workers"]:
        sleep(0.1)


def reports_for(seconds: float, server: Server) -> list[float]:
    """As `reports`, again and again for so long."""
    end, took = perf_counter() + seconds, reports(server)
    while perf_counter() < end:
        took += reports(server)
    return took


def reports(server: Server) -> list[float]:
    """The seconds that honest reports take, one after the other; infinite for one that was not taken.

    Who is told to try again, or cut off, does so under the same key, as the client does.
    """
    took = []
    headers = {"Authorization": f"Bearer {server.key}"}
    with httpx.Client(base_url=server.address, headers=headers, timeout=MOST_SECONDS) as client:
        for number in range(REPORTS):
            started = perf_counter()
            took.append(perf_counter() - started if _reported(client, number) else np.inf)
            sleep(PAUSE)
    return took


def _reported(client: httpx.Client, number: int) -> bool:
    body = {"candidate": f"K{number}", "value": 1.0, "ref": uuid4().hex}  # a measurement of its own
    headers = {"Idempotency-Key": uuid4().hex}
    for _ in range(round(MOST_SECONDS)):
        with suppress(httpx.TransportError):
            answer = client.post("/v1/studies/s/observations", json=body, headers=headers)
            if answer.status_code != 503:
                return answer.status_code == 201
        sleep(1)
    return False


def memory(server: Server) -> float:
    """MiB that the server and its compute workers have had in memory at the most."""
    statuses = [(process / "status").read_text() for process in server.processes()]
    return sum(int(status.split("VmHWM:")[1].split()[0]) for status in statuses) / 1024


def wrong(took: Sequence[float], growth: float) -> list[str]:
    lost = sum(seconds > MOST_SECONDS for seconds in took)
    found = [f"{lost} of {len(took)} honest reports were lost or took too long"] if lost else []
    return found + ([f"{growth:.0f} MiB more memory"] if growth > MOST_GROWTH else [])


def _figures(quiet: Sequence[float], busy: Sequence[float], growth: float) -> dict[str, float]:
    p99 = [float(np.round(1000 * np.quantile(took, 0.99, method="nearest"))) for took in (quiet, busy)]
    return {
        "ms p99 of a report at rest": p99[0],
        "ms p99 under attack": p99[1],
        "MiB more memory": float(np.round(growth)),
    }


PROMISE = Promise(
    number=17,
    words="Resources are bounded",
    tested="2,000 slow sockets, a gibibyte of CSV or of JSON in pieces, JSON of depth 10⁵, forty who ask or poll all "
    "the time, while honest reports are sent: all are taken, and the memory stays within 256 MiB of a server at rest.",
    unit="attacks",
    full=200,
    prove=_prove,
    teeth={"JSON of any size": partial(planted_in_servers, "JSON of any size")},
    short=6,
    bite=1,  # the first attack is the one that it opens
    share=1.5,
)
