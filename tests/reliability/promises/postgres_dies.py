"""Promise 6: PostgreSQL may die, be cut off or freeze; clients are told to come again, and servers find it again."""

import os
import signal
import subprocess
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import httpx

from tests import postgres
from tests.databases import Databases, migrated
from tests.postgres import Cluster
from tests.reliability import bench, checking, fleet
from tests.reliability.chaos import rounds
from tests.reliability.fleet import Fleet
from tests.reliability.planting import planted_in_servers
from tests.reliability.promise import Budget, Count, Promise

SERVERS, CLIENTS, CYCLES_PER_STUDY, PATIENCE = 2, 8, 10, 60


def _prove(budget: Budget, seed: int, _databases: Databases) -> Count:
    random, count, healed = Random(seed), Count(0), []
    with postgres.running_cluster() as cluster, TemporaryDirectory() as folder:
        address = migrated(postgres.create_database(cluster.address, "mortal"))
        with fleet.running(address, Path(folder), SERVERS) as servers:
            for number, cycles in enumerate(rounds(budget, CYCLES_PER_STUDY)):
                study = f"study-{number}"
                bench.begin_study(servers, study)
                with bench.at_work(servers, study, seed, CLIENTS) as history:
                    healed += [_cycle(cluster, servers, random) for _ in cycles]
                details = {"operations": len(history.operations)}
                count += Count(0, tuple(checking.violations(servers, study, history)), details)
            count += Count(0, tuple(servers.bugs()))
    hanging = (f"not healed after {PATIENCE} s",) * sum(seconds >= PATIENCE for seconds in healed)
    return count + Count(len(healed), hanging, slowest={"healed": max(healed)})


def _cycle(cluster: Cluster, servers: Fleet, random: Random) -> float:
    """Something happens to PostgreSQL; the seconds after its end until every server works again."""
    sleep(random.uniform(0.1, 0.5))
    random.choice((_killed, _stopped, _cut_off, _frozen))(cluster)
    began = monotonic()
    for address in servers.addresses:
        while not _is_ready(address) and monotonic() < began + PATIENCE:
            sleep(0.02)
    return monotonic() - began


def _killed(cluster: Cluster) -> None:
    """Its first process; the others notice."""
    os.kill(cluster.pids()[0], signal.SIGKILL)
    _start(cluster)


def _stopped(cluster: Cluster) -> None:
    cluster.stop()
    _start(cluster)


def _cut_off(cluster: Cluster) -> None:
    """Every connection is ended by the server."""
    ending = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'mortal'"
    )
    postgres.administer(cluster.address, ending)


def _frozen(cluster: Cluster) -> None:
    frozen = cluster.pids()
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in frozen:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        sleep(0.5)


def _start(cluster: Cluster) -> None:
    """Again, until what was left of the old one is gone."""
    until = monotonic() + PATIENCE
    while True:
        try:
            cluster.start()
        except subprocess.CalledProcessError:
            if monotonic() > until:
                raise
            sleep(0.05)
        else:
            return


def _is_ready(address: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"{address}/readyz", timeout=PATIENCE).is_success
    return False


PROMISE = Promise(
    number=6,
    words="PostgreSQL may die",
    tested=(
        f"kill -9, an immediate stop, cut connections and a freeze of PostgreSQL under {CLIENTS} clients of {SERVERS} "
        "processes: only 503 with Retry-After, nothing acknowledged lost, nothing doubled, no restart of a process."
    ),
    unit="cycles",
    full=200,
    prove=_prove,
    teeth={bug: partial(planted_in_servers, bug) for bug in ("errors that are not translated",)},
    short=3,
    share=0.8,
)
