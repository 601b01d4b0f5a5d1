"""Promise 4: a batch's number is given out once, whoever asks and whatever dies during the computation."""

from dataclasses import replace
from functools import partial

from tests.reliability import chaos
from tests.reliability.bench import Bench
from tests.reliability.planting import planted_in_servers
from tests.reliability.promise import Budget, Count, Promise, on_each_database

SCENE = chaos.Scene(servers=4, clients=8, work=Bench.ask, places=("computed", "locked", "before-commit", "committed"))


def _prove(budget: Budget, seed: int, address: str) -> Count:
    survived = chaos.survive(SCENE, budget, seed, address)
    details = {"deaths": survived.cases, "operations unknown": survived.details.get("operations unknown", 0)}
    return replace(survived, cases=survived.details.get("batches", 0), details=details)


PROMISE = Promise(
    number=4,
    words="One batch per study and number",
    tested=(
        f"{SCENE.clients} askers at {SCENE.servers} processes that die while they compute and while they commit. "
        "Numbers without gap, each told to one worker in one way, computed with all that was acknowledged before; "
        "replays are equal."
    ),
    unit="batches",
    full=10_000,
    prove=on_each_database(_prove),
    teeth={bug: partial(planted_in_servers, bug) for bug in ("nobody looks whether a number is free",)},
    short=3,
    share=2,
)
