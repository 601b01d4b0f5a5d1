"""A soak: some clients work slowly for a long time at processes of which all but one die now and then.

    python -m tests.reliability.soaking --minutes 30

The process that is never killed is weighed twice a minute: its resident memory and its open files. Caches are small, so
that what grows is a leak. Both databases are soaked at the same time. Studies follow one another, every other one with
several objectives, a constraint and costs; each is checked as promise 1 checks it.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from random import Random
from statistics import linear_regression
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from tests.databases import DIALECTS, some_databases
from tests.reliability import bench, chaos, checking, fleet
from tests.reliability.bench import Bench
from tests.reliability.fleet import Fleet
from tests.reliability.operations import Outcome
from tests.reliability.promises.deaths import SCENE
from tests.reliability.promises.soak import SETTINGS, Held, held

SERVERS, CLIENTS = 3, 2
STUDY_SECONDS, WEIGH_SECONDS, PAUSE_SECONDS = 120.0, 30.0, 0.5
SETTLED = 1 / 3  # of the time, after which a process holds what it needs


@dataclass
class Soak:
    dialect: str
    weighed: list[tuple[float, Held]] = field(default_factory=list)  # minutes since the start
    violations: list[str] = field(default_factory=list)
    operations: dict[str, int] = field(default_factory=dict)
    deaths: int = 0
    studies: int = 0

    def report(self) -> Iterator[str]:
        later = self.weighed[int(len(self.weighed) * SETTLED) :]
        minutes, megabytes = [moment for moment, _ in later], [one.megabytes for _, one in later]
        slope = linear_regression(minutes, megabytes).slope * 60 if len(later) > 1 else nan
        files = [one.files for _, one in later]
        lasted = self.weighed[-1][0]
        yield f"{self.dialect}: {lasted:.0f} minutes, {self.studies} studies, {self.deaths} deaths beside it"
        yield f"    operations {self.operations}, {len(self.violations)} violations"
        hourly = f"{slope:+.1f} an hour"
        yield f"    MB of memory {megabytes[0]:.0f} → {megabytes[-1]:.0f}, at most {max(megabytes):.0f}; {hourly}"
        yield f"    open files {files[0]} → {files[-1]} ({min(files)} to {max(files)})"
        yield from (f"    VIOLATION: {words[:1000]}" for words in self.violations)


def soak(address: str, dialect: str, seconds: float, seed: int) -> Soak:
    found, random, started = Soak(dialect), Random(seed), monotonic()
    with TemporaryDirectory() as folder, fleet.running(address, Path(folder), SERVERS, **SETTINGS) as servers:
        while monotonic() < started + seconds:
            _soak_one_study(servers, found, random, started)
            print(*found.report(), sep="\n", flush=True)  # noqa: T201  (a soak that is ended early has shown so much)
        found.violations += servers.bugs()
    return found


def _soak_one_study(servers: Fleet, found: Soak, random: Random, started: float) -> None:
    study, several, end = f"soak-{found.studies}", found.studies % 2 == 1, monotonic() + STUDY_SECONDS
    bench.begin_study(servers, study, several=several)
    with bench.at_work(servers, study, random.randrange(10**6), CLIENTS, _work, several=several) as history:
        while monotonic() < end:
            sleep(WEIGH_SECONDS)
            _kill_another(servers, random)
            found.deaths += 1
            found.weighed.append(((monotonic() - started) / 60, held(servers)))
    for outcome in Outcome:
        found.operations[outcome] = found.operations.get(outcome, 0) + history.count(outcome)
    found.violations += checking.violations(servers, study, history)
    found.studies += 1


def _work(client: Bench) -> None:
    client.work()
    sleep(PAUSE_SECONDS)


def _kill_another(servers: Fleet, random: Random) -> None:
    """Any process but the first, at any moment or between the steps of a write."""
    member = random.choice(servers.members[1:])
    chaos.let_die(member, random)
    servers.start(member, **SETTINGS, **chaos.armed(random, SCENE.places))
    member.wait_until_ready()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.soaking", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="(default: 30)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with some_databases() as databases, ThreadPoolExecutor(len(DIALECTS)) as pool:

        def run(dialect: str) -> Soak:
            with databases.fresh(dialect) as address:
                return soak(address, dialect, options.minutes * 60, options.seed)

        soaks = list(pool.map(run, DIALECTS))
    return min(1, sum(len(one.violations) for one in soaks))


if __name__ == "__main__":
    sys.exit(main())
