"""Promise 11: any batch is computed again, bit for bit: by another server, from nothing, and on the other database."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import AbstractContextManager, ExitStack
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from app.compute import models, snapshots
from app.compute.models import Models
from app.services.resources import Resources
from app.storage import blobs
from app.storage import snapshots as snapshot_rows
from app.storage.tables import snapshot_blobs
from app.storage.tables import snapshots as snapshot_table
from tests.api.lab import LIST, THEORY, Lab
from tests.api.test_several_objectives import COST, PURITY, YIELD, outcome
from tests.databases import DIALECTS, Databases
from tests.reliability import lab
from tests.reliability.promise import Budget, Count, Promise

BATCHES, NOT_REPEATED = 6, ("seconds", "created_at")
PRICED = LIST.replace("\n", ",7\n").replace("solvent,7", "solvent,price")
SEVERAL = {"objectives": [YIELD, COST], "constraints": [PURITY]}
# Studies of one quantity and of several with a constraint and costs, in theory and in auto mode.
KINDS: tuple[dict[str, Any], ...] = (
    {"theory": THEORY, "candidates": PRICED, "costs": "price", **SEVERAL},
    {"theory": None},
    {"theory": None, "candidates": PRICED, "costs": "price", **SEVERAL},
    {"theory": THEORY},
)


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    violations, replays, batches = [], 0, 0
    with ExitStack() as stack:
        stack.enter_context(patch.object(models, "WORTH_SAVING", 0.0))  # a snapshot after every batch
        stack.enter_context(patch.object(snapshot_rows, "KEPT", BATCHES))  # one for every batch
        addresses = [stack.enter_context(databases.fresh(dialect)) for dialect in DIALECTS]
        here = [stack.enter_context(lab.opened(address)) for address in addresses]
        elsewhere = [stack.enter_context(lab.opened(address)) for address in addresses]
        for number in budget:
            name = f"study-{number}"
            told = [_study(Lab(one.client, name), KINDS[number % 4], Random(f"{seed} {number}")) for one in here]
            if told[0] != told[1]:
                violations.append(f"{name}: the databases give different batches: {told}")
            for one in (*here, *elsewhere):
                equal = dict(_replays(Lab(one.client, name)))
                violations += [f"{name}: not replayed equal: {which}" for which, same in equal.items() if not same]
                replays += len(equal)
            batches += 2 * BATCHES
    return Count(replays, tuple(violations), {"batches": batches})


def _study(one: Lab, kind: dict[str, Any], random: Random) -> list[str]:
    """A study in which much happens; its batches as they were told."""
    one.begin(**kind, repeats=random.choice((2, "auto")))
    several = "objectives" in kind
    told = []
    for number in range(1, BATCHES + 1):
        batch = one.batch(f"bench-{number}", max_size=random.randint(1, 4))
        _wait_for_snapshots(one)
        told.append(json.dumps({name: value for name, value in batch.items() if name not in NOT_REPEATED}))
        if number == 1 or random.random() < 0.8:
            one.measure(batch, outcome if several else None)
        for change in random.sample(CHANGES, random.randint(0, 2)):
            change(one, random, several)
    return told


def _wait_for_snapshots(one: Lab) -> None:
    """One that is asked for while another is made is left out, and there would be none to replay from."""
    resources: Resources = one.client.app.state.resources  # type: ignore[attr-defined]
    wait([job.future for job in resources.snapshots._running.values()])


def _correct(one: Lab, random: Random, several: bool) -> None:
    corrected = outcome(f"THF-{random.randint(2, 9)}0") if several else None
    one.send_correction(1, {"values": corrected} if corrected else {"value": random.random()})


CHANGES: tuple[Callable[[Lab, Random, bool], object], ...] = (
    _correct,
    lambda one, random, _several: one.retract(random.randint(1, 3)),
    lambda one, random, _several: one.switch_off(f"THF-{random.randint(2, 9)}0"),
    lambda one, random, _several: one.change(max_batch=random.randint(4, 9)),
)


def _replays(one: Lab) -> Iterator[tuple[str, bool]]:
    """Every batch with the models in memory, with those in the database, and from the ledger alone."""
    resources: Resources = one.client.app.state.resources  # type: ignore[attr-defined]
    for source in ("memory", "snapshots", "nothing"):
        for number in range(BATCHES, 0, -1):
            if source == "nothing":
                with resources.database.write() as connection:
                    connection.execute(snapshot_blobs.delete())
                    connection.execute(snapshot_table.delete())
            if source != "memory":
                resources.models.clear()
                resources.ledger_states.clear()
            yield f"{number} from {source}", one.replays(number)


def _snapshots_a_little_off() -> AbstractContextManager[object]:
    def load(connection: Any, digest: str) -> Any:
        array = blobs.load(connection, digest)
        return array * 1.001 if array.dtype == np.float64 else array

    damaged = SimpleNamespace(load=load, store=blobs.store, DamagedBlob=blobs.DamagedBlob)
    return patch.object(snapshots, "blobs", damaged)


def _cache_of_any_model() -> AbstractContextManager[object]:
    """Whatever model is in memory will do."""
    return patch.object(Models, "_cached", lambda models, _head: next(iter(models._models.values()), None))


PROMISE = Promise(
    number=11,
    words="Any batch replays bit for bit",
    tested=(
        "Studies with corrections, retractions and changes, of one quantity and of several with a constraint and "
        "costs, with and without auto mode, on both databases: both give the same batches, and each is replayed equal "
        "by two servers, from memory, from snapshots and from the ledger."
    ),
    unit="replays",
    full=10_000,
    prove=_prove,
    teeth={"snapshots that are a little off": _snapshots_a_little_off, "a cache of any model": _cache_of_any_model},
    short=2,
    bite=1,
    parallel=True,
)
