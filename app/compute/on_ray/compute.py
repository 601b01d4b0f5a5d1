"""Computing on a Ray cluster, as the server sees it: workers that happen to be gateways."""

import os

from app.compute.channel import WorkerSettings
from app.compute.on_ray.cluster import (
    ACTOR_START_SECONDS,
    Cluster,
    ExistingCluster,
    GatewaySettings,
    LocalCluster,
)
from app.compute.supervision import SupervisedWorker, WorkerProgram
from app.compute.workers import WorkerCompute
from app.storage.database import Database


class RayCompute(WorkerCompute):
    """Actors on a cluster. A study always has the same one, whose caches know it."""

    kind = "ray"

    def __init__(self, database: Database, settings: WorkerSettings, actors: int, address: str | None) -> None:
        """`address` is that of a cluster that runs already; None for one on this machine."""
        self._cluster: Cluster = LocalCluster() if address is None else ExistingCluster(address)
        self._settings = settings
        super().__init__(database, [SupervisedWorker(settings, self._gateway(number)) for number in range(actors)])

    def _gateway(self, number: int) -> WorkerProgram:
        """The gateway of actor `number`; neighbours run on different nodes."""
        return WorkerProgram(
            module="app.compute.on_ray.gateway",
            settings=lambda: GatewaySettings(self._cluster.address(), os.getpid() + number, self._settings),
            environment=self._cluster.environment,
            start_seconds=ACTOR_START_SECONDS + 30.0,
        )

    def close(self) -> None:
        """End the gateways, whose actors end with them, and a cluster of our own."""
        self._cluster.refuse()
        super().close()
        self._cluster.close()
