"""Clients at work while processes die, in one study after the other; and what must be true of each in the end."""

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import sleep

from tests.reliability import bench, checking, fleet
from tests.reliability.bench import Bench
from tests.reliability.fleet import Fleet, Member, NeverReady
from tests.reliability.operations import Outcome
from tests.reliability.planting import CLOCK_OFFSET
from tests.reliability.promise import Budget, Count

DEATHS_PER_STUDY = 10
PATIENCE = 2.0  # seconds in which an armed place is reached
A_DAY = 86_400


@dataclass(frozen=True)
class Scene:
    servers: int
    clients: int
    work: Callable[[Bench], None]
    places: Sequence[str]  # the failpoints that are armed


def survive(scene: Scene, budget: Budget, seed: int, address: str) -> Count:
    """A case is a death; batches and operations by outcome are counted on the way."""
    try:
        return _survive(scene, budget, seed, address)
    except NeverReady as stuck:
        return Count(1, (str(stuck),))


def _survive(scene: Scene, budget: Budget, seed: int, address: str) -> Count:
    random, count, ready = Random(seed), Count(0), []
    with TemporaryDirectory() as folder, fleet.running(address, Path(folder), scene.servers) as servers:
        for number, deaths in enumerate(rounds(budget, DEATHS_PER_STUDY)):
            study, several = f"study-{number}", (seed + number) % 2 == 1  # every other study
            bench.begin_study(servers, study, several=several)
            with bench.at_work(servers, study, seed, scene.clients, scene.work, several=several) as history:
                ready += [kill_one(servers, random, scene.places) for _ in deaths]
            renew(servers, servers.members[0])
            counted = {f"operations {outcome}": history.count(outcome) for outcome in Outcome}
            counted["batches"] = history.batches()
            count += Count(0, tuple(checking.violations(servers, study, history)), counted)
        bugs = servers.bugs()
    return count + Count(len(ready), tuple(bugs), slowest={"ready again": max(ready)})


def rounds(budget: Budget, size: int) -> Iterator[Iterator[int]]:
    cases = iter(budget)
    for first in cases:
        yield chain([first], islice(cases, size - 1))


def kill_one(servers: Fleet, random: Random, places: Sequence[str]) -> float:
    """Let a process die, start another in its place; the seconds until it is ready."""
    sleep(random.uniform(0.1, 0.5))
    member = random.choice(servers.members)
    let_die(member, random)
    servers.start(member, **_clock(random), **armed(random, places))
    return member.wait_until_ready()


def let_die(member: Member, random: Random) -> None:
    """At once, after a pause, or between the steps of a write."""
    random.choice((_at_once, _paused, *([_at_failpoint] if member.armed else ())))(member, random)


def renew(servers: Fleet, member: Member, **settings: str) -> None:
    """One that will live while the history is checked."""
    member.kill()
    servers.start(member, **settings)
    member.wait_until_ready()


def _at_once(member: Member, _random: Random) -> None:
    member.kill()


def _at_failpoint(member: Member, _random: Random) -> None:
    """Where it was armed when it was started; if it is never there, wherever it is."""
    member.wait(PATIENCE)
    member.kill()


def _paused(member: Member, random: Random) -> None:
    """It stops in the middle of everything, goes on a little, and dies."""
    member.signal(signal.SIGSTOP)
    sleep(random.uniform(0.05, 0.5))
    member.signal(signal.SIGCONT)
    sleep(random.uniform(0, 0.1))
    member.kill()


def armed(random: Random, places: Sequence[str]) -> dict[str, str]:
    """Half of the processes die by themselves, between two steps of some write."""
    if random.random() < 0.5:
        return {}
    points = json.dumps({random.choice(places): random.randint(1, 20)})
    return {"NEXTBATCH_DEVELOPMENT": "true", "NEXTBATCH_FAILPOINTS": points}


def _clock(random: Random) -> dict[str, str]:
    """Every process has its own idea of the time."""
    return {CLOCK_OFFSET: str(random.uniform(-A_DAY, A_DAY))}
