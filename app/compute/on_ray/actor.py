"""What runs on the cluster: an actor that answers the requests of one gateway."""

import os
from threading import Lock

import ray
import structlog

from app.compute.answering import LocalAnswerer
from app.compute.channel import ComputeReply, ComputeRequest, WorkerSettings
from app.compute.on_ray.shard_actors import must_be_same_program, start_shard_hosts
from app.compute.worker import prepare_process
from app.deadline import Demand
from app.modelling.spreading import CalledShardHost, ShardLost, Spread


class ComputeActor:
    """Answers requests, on as many threads as Ray gives it, with caches of its own."""

    def __init__(self, settings: WorkerSettings, program: str) -> None:
        """`program` is the version that the server runs: another one might choose another batch."""
        must_be_same_program(program)
        prepare_process(settings)
        self._settings = settings
        self._shard_hosts: list[CalledShardHost] = []
        self._starting = Lock()  # one set of shard actors
        self._answerer = LocalAnswerer(settings, Spread(self._find_shard_hosts, settings.spread_candidates))
        self._answerer.must_reach_database()
        self._demands: dict[int, Demand] = {}

    def compute(self, request: ComputeRequest) -> ComputeReply:
        demand = self._demands[request.number] = Demand()
        try:
            return self._answerer.answer(request, demand)
        except ShardLost:  # the models of this process are incomplete: another one begins anew
            structlog.get_logger().warning("an actor lost a shard, and ends")
            os._exit(1)
        finally:
            del self._demands[request.number]

    def cancel(self, number: int) -> None:
        """Nobody waits for this computation; nothing if it has not begun, so whoever cancels does so again."""
        demand = self._demands.get(number)
        if demand is not None:
            demand.leave()

    def node(self) -> str:
        """The node that this actor runs on. Who gets an answer knows that the actor is there."""
        return str(ray.get_runtime_context().get_node_id())

    def _find_shard_hosts(self) -> list[CalledShardHost]:
        with self._starting:
            self._shard_hosts = self._shard_hosts or start_shard_hosts(self._settings)
            return self._shard_hosts
