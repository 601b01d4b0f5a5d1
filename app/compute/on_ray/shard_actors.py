"""Shards of long lists on the nodes of the cluster, for the actor that computes a study.

Each node has one shard actor for each actor that computes; Ray ends it together with that one. A shard actor that is
lost takes part of a model with it, so whoever waits for it gets `ShardLost`.
"""

from contextlib import suppress
from functools import partial
from importlib.metadata import version
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from app.compute.channel import WorkerSettings
from app.compute.worker import prepare_process
from app.deadline import check_deadline
from app.modelling.spreading import CalledShardHost, ShardLost, ShardStore

DISTRIBUTION = "nextbatch-server"
LOOK_SECONDS = 0.1


class ShardActor(ShardStore):
    """Holds shards, on one thread: what is called later happens later."""

    def __init__(self, settings: WorkerSettings, program: str) -> None:
        must_be_same_program(program)
        prepare_process(settings)
        super().__init__()


def start_shard_hosts(settings: WorkerSettings) -> list[CalledShardHost]:
    """A shard actor on every living node, but on those without processors only if there are no others."""
    library: Any = ray
    alive = [node for node in library.nodes() if node["Alive"]]
    nodes = [node for node in alive if node["Resources"].get("CPU")] or alive
    places = [NodeAffinitySchedulingStrategy(node, soft=False) for node in sorted(node["NodeID"] for node in nodes)]
    remote, program = library.remote(num_cpus=0, max_restarts=0)(ShardActor), version(DISTRIBUTION)
    actors = [remote.options(scheduling_strategy=place).remote(settings, program) for place in places]
    return [CalledShardHost(partial(_call, actor), partial(_forget, actor)) for actor in actors]


def _call(actor: Any, verb: str, *arguments: Any) -> Any:
    """What the actor answers, unless the time is up or nobody waits for it any more."""
    try:
        reply = getattr(actor, verb).remote(*arguments)
        while not ray.wait([reply], timeout=LOOK_SECONDS)[0]:
            check_deadline()
        return ray.get(reply)
    except RayTaskError:  # a mistake of the program
        raise
    except RayError as error:
        raise ShardLost from error


def _forget(actor: Any, number: int) -> None:
    with suppress(Exception):  # an actor that is gone has forgotten everything
        actor.forget.remote(number)


def must_be_same_program(program: str) -> None:
    """Raises if this node has another version than the server: it might choose another batch."""
    if version(DISTRIBUTION) != program:
        raise RuntimeError(f"this node has {DISTRIBUTION} {version(DISTRIBUTION)}, and the server {program}")
