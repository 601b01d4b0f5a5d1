"""Promise 23: a process is restarted while others serve, and nobody notices who tries again."""

import signal
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import sleep
from unittest.mock import patch

from tests.reliability import bench, checking, fleet
from tests.reliability.bench import Bench
from tests.reliability.chaos import rounds
from tests.reliability.fleet import Fleet
from tests.reliability.operations import Outcome
from tests.reliability.promise import Budget, Count, Promise, on_each_database

SERVERS, CLIENTS, RESTARTS_PER_STUDY, TRIES = 3, 8, 10, 20
AT_ONCE = 1  # processes that are restarted together


def _prove(budget: Budget, seed: int, address: str) -> Count:
    count, random = Count(0), Random(seed)
    with TemporaryDirectory() as folder, fleet.running(address, Path(folder), SERVERS) as servers:
        for number, restarts in enumerate(rounds(budget, RESTARTS_PER_STUDY)):
            study, done = f"study-{number}", 0
            bench.begin_study(servers, study)
            with bench.at_work(servers, study, seed, CLIENTS, _work) as history:
                for _ in restarts:
                    _restart(servers, random)
                    done += 1
            turned_away = [
                f"{one.kind}: {one.outcome}"
                for one in history.operations
                if one.outcome is Outcome.UNKNOWN or (one.outcome is Outcome.FAIL and not one.answer)
            ]
            violations = (*turned_away, *checking.violations(servers, study, history))
            count += Count(done, violations, {"operations": len(history.operations)})
        return count + Count(0, tuple(servers.bugs()))


def _work(client: Bench) -> None:
    client.least = client.most = TRIES
    client.work()


def _restart(servers: Fleet, random: Random) -> None:
    """As a service manager does: it is told to end, it ends, another begins."""
    sleep(random.uniform(0, 0.5))
    chosen = random.sample(servers.members, AT_ONCE)
    for member in chosen:
        member.signal(signal.SIGTERM)
    for member in chosen:
        member.wait()
        servers.start(member)
    for member in chosen:
        member.wait_until_ready()


def _all_together() -> AbstractContextManager[object]:
    return patch.dict(globals(), AT_ONCE=SERVERS)


PROMISE = Promise(
    number=23,
    words="A process restarts behind others, and nobody notices",
    tested=(
        f"One of {SERVERS} processes after the other is told to end and started again, under {CLIENTS} clients that "
        f"try up to {TRIES} times under one key: every operation is answered, none is left in doubt."
    ),
    unit="restarts",
    full=200,
    prove=on_each_database(_prove),
    teeth={"all restarted together": _all_together},
    short=2,
    share=1,
)
