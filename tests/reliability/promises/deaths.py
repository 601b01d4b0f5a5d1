"""Promise 1: what was acknowledged survives any death of a process, and is there once."""

import signal
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import sleep

from app import failpoints
from tests.reliability import bench, checking, fleet
from tests.reliability.fleet import Fleet, Member
from tests.reliability.operations import Outcome
from tests.reliability.planting import CLOCK_OFFSET, planted_in_servers
from tests.reliability.promise import Budget, Count, Promise, on_each_database

SERVERS, CLIENTS, DEATHS_PER_STUDY = 3, 16, 10
PATIENCE = 3.0  # seconds in which an armed place is reached, or the process is killed wherever it is
A_DAY = 86_400


def _prove(budget: Budget, seed: int, address: str) -> Count:
    random, count, ready = Random(seed), Count(0), []
    with TemporaryDirectory() as folder, fleet.running(address, Path(folder), SERVERS) as servers:
        for number, deaths in enumerate(_rounds(budget, DEATHS_PER_STUDY)):
            study = f"study-{number}"
            bench.begin_study(servers, study)
            with bench.at_work(servers, study, seed, CLIENTS) as history:
                ready += [_kill_one(servers, random) for _ in deaths]
            count += Count(
                0,
                tuple(checking.violations(servers, study, history)),
                {f"operations {outcome}": history.count(outcome) for outcome in Outcome},
            )
        bugs = servers.bugs()
    return count + Count(len(ready), tuple(bugs), slowest={"ready again": max(ready)})


def _rounds(budget: Budget, size: int) -> Iterator[Iterator[int]]:
    cases = iter(budget)
    for first in cases:
        yield chain([first], islice(cases, size - 1))


def _kill_one(servers: Fleet, random: Random) -> float:
    """Let a process die, start another in its place; the seconds until it is ready."""
    sleep(random.uniform(0.1, 1))
    member = random.choice(servers.members)
    random.choice((_at_once, _at_once, _paused, partial(_at_failpoint, servers), partial(_at_failpoint, servers)))(
        member, random
    )
    servers.start(member, **_clock(random))
    return member.wait_until_ready()


def _at_once(member: Member, _random: Random) -> None:
    member.kill()


def _paused(member: Member, random: Random) -> None:
    """It stops in the middle of everything, goes on a little, and dies."""
    member.signal(signal.SIGSTOP)
    sleep(random.uniform(0.05, 1))
    member.signal(signal.SIGCONT)
    sleep(random.uniform(0, 0.1))
    member.kill()


def _at_failpoint(servers: Fleet, member: Member, random: Random) -> None:
    """It ends, and another begins that will die between two steps of some write."""
    member.signal(signal.SIGTERM)
    member.wait()
    place = random.choice(sorted(failpoints.NAMES))
    armed = f'{{"{place}": {random.randint(1, 20)}}}'
    servers.start(member, NEXTBATCH_DEVELOPMENT="true", NEXTBATCH_FAILPOINTS=armed, **_clock(random))
    if not member.wait(PATIENCE):
        member.kill()


def _clock(random: Random) -> dict[str, str]:
    """Every process has its own idea of the time."""
    return {CLOCK_OFFSET: str(random.uniform(-A_DAY, A_DAY))}


PROMISE = Promise(
    number=1,
    words="What was answered with 2xx survives any death of a process, once",
    tested=(
        f"{SERVERS} processes with wrong clocks, {CLIENTS} clients that report, ask, correct and repeat; SIGKILL at "
        "random, after a pause, and between the steps of writes. Nothing lost, doubled or told in two ways; "
        "the ledger sound."
    ),
    unit="deaths",
    full=1_000,
    prove=on_each_database(_prove),
    teeth={bug: partial(planted_in_servers, bug) for bug in ("commit after the answer", "a stale cache")},
    short=4,
    share=4,
)
