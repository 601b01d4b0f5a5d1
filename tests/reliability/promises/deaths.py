"""Promise 1: what was acknowledged survives any death of a process, and is there once."""

from functools import partial

from app import failpoints
from tests.reliability import chaos
from tests.reliability.bench import Bench
from tests.reliability.planting import planted_in_servers
from tests.reliability.promise import Promise, on_each_database

SCENE = chaos.Scene(servers=3, clients=16, work=Bench.work, places=sorted(failpoints.NAMES))

BUGS = (
    "commit after the answer",
    "answers before the commit",
    "neighbours are undone",
    "a stale cache",
    "a fork without its links",
)

PROMISE = Promise(
    number=1,
    words="What was answered with 2xx survives any death of a process, once",
    tested=(
        f"{SCENE.servers} processes with wrong clocks, {SCENE.clients} clients that report, ask, correct, fork and "
        "repeat; SIGKILL at random, after a pause, and between the steps of writes. Nothing lost, doubled or told in "
        "two ways; the ledger sound. Every other study has two objectives, a constraint and costs (also for promises 3 "
        "and 4)."
    ),
    unit="deaths",
    full=1_000,
    prove=on_each_database(partial(chaos.survive, SCENE)),
    teeth={bug: partial(planted_in_servers, bug) for bug in BUGS},
    short=3,
    share=4,
)
