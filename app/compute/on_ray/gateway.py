"""Between a server process and its actor: `python -m app.compute.on_ray.gateway DESCRIPTOR`; `supervision` starts it.

To the server it is a compute worker. It starts an actor on the cluster and passes requests on to it. It ends when the
actor is gone, and the actor ends with it: Ray ends what a driver leaves behind, however the driver ended.
"""

import logging
import os
from importlib.metadata import version
from threading import Thread
from time import monotonic
from typing import Any

import ray
import structlog
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from app import logs
from app.compute.answering import BATCHES, READERS, cannot_travel
from app.compute.channel import Channel, ComputeReply, ComputeRequest, WorkerSettings
from app.compute.on_ray.actor import ComputeActor
from app.compute.on_ray.cluster import ACTOR_START_SECONDS, GatewaySettings
from app.compute.on_ray.shard_actors import DISTRIBUTION
from app.compute.worker import Worker, serve_until_server_has_gone
from app.deadline import Demand

SILENT_SECONDS = 30.0  # of an actor that nobody needs just now; the server has less patience when somebody does
LOOK_SECONDS = 0.1
CANCEL_SECONDS = 1.0  # between two messages that nobody waits
CONTROL = "control"


class ActorAnswerer:
    """Has requests answered by an actor. Raises `OSError` when that is gone."""

    def __init__(self, settings: WorkerSettings, place: NodeAffinitySchedulingStrategy) -> None:
        groups = {"batches": settings.threads, "readers": READERS, CONTROL: 1}
        library: Any = ray
        remote = library.remote(concurrency_groups=groups, num_cpus=0, max_restarts=0, scheduling_strategy=place)
        self._actor = remote(ComputeActor).remote(settings, version(DISTRIBUTION))

    def answer(self, request: ComputeRequest, demand: Demand) -> ComputeReply:
        group = "batches" if request.kind == BATCHES else "readers"
        try:
            reply = self._actor.compute.options(concurrency_group=group).remote(request)
            self._wait(reply, request.number, demand)
            answered: ComputeReply = ray.get(reply)
        except RayTaskError as error:
            return cannot_travel(ComputeReply(request.number), error)
        except RayError as error:
            raise OSError("the actor is gone") from error
        return answered

    def find_node(self) -> str:
        """The node that the actor runs on, once it is ready."""
        node: str = ray.get(self._actor.node.options(concurrency_group=CONTROL).remote(), timeout=ACTOR_START_SECONDS)
        return node

    def must_be_alive(self) -> None:
        try:
            ray.get(self._actor.node.options(concurrency_group=CONTROL).remote(), timeout=SILENT_SECONDS)
        except RayError as error:
            raise OSError("the actor is gone, or silent") from error

    def _wait(self, reply: Any, number: int, demand: Demand) -> None:
        """Until it is there; the actor is told, from time to time, if nobody wants it any more."""
        told = 0.0
        while not ray.wait([reply], timeout=LOOK_SECONDS)[0]:
            if not demand.wanted and monotonic() > told + CANCEL_SECONDS:
                told = monotonic()
                self._actor.cancel.options(concurrency_group=CONTROL).remote(number)


def _start_actor(settings: GatewaySettings) -> tuple[ActorAnswerer, str]:
    """An actor on the living node with its number, or on another one if that dies meanwhile; and its node.

    Ray takes a mere preference lightly: of two actors with different ones, both may come to the same node.
    """
    library: Any = ray
    nodes = sorted(node["NodeID"] for node in library.nodes() if node["Alive"])
    preferred = nodes[settings.place % len(nodes)]
    try:
        answerer = ActorAnswerer(settings.actor, NodeAffinitySchedulingStrategy(preferred, soft=False))
        return answerer, answerer.find_node()
    except RayError:
        answerer = ActorAnswerer(settings.actor, NodeAffinitySchedulingStrategy(preferred, soft=True))
        return answerer, answerer.find_node()


def _end_with_server(channel: Channel) -> None:
    """Also while it waits for a cluster, which may be gone together with the server."""
    channel.wait_for_end()
    os._exit(0)


def serve(channel: Channel, settings: GatewaySettings) -> None:
    """Join the cluster, start an actor, and pass requests on to it."""
    logs.configure(settings.actor.log_format, settings.actor.log_level)
    logs.hear_python()
    Thread(target=_end_with_server, args=(channel,), daemon=True).start()
    try:
        ray.init(address=settings.address, configure_logging=False, log_to_driver=False, logging_level=logging.ERROR)
        answerer, node = _start_actor(settings)
    except (OSError, RuntimeError, ValueError, RayError) as error:
        structlog.get_logger().error("no actor could be started on the Ray cluster", error=str(error)[-1000:])
        raise OSError from error
    Worker(channel, answerer, settings.actor.threads, node).serve()


if __name__ == "__main__":
    serve_until_server_has_gone(serve)
