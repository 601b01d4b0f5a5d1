"""A real Ray cluster of two nodes on this machine's loopback, in processes of its own.

    python -m tests.ray_cluster BYTES

prints one line of JSON when it runs, and ends, with everything it started, when its standard input is closed.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

from app.compute.on_ray.cluster import LOCAL

STORE_BYTES = 100 * 2**20
NODES = 2


@dataclass(frozen=True)
class RayCluster:
    address: str
    raylets: list[int]  # the process of each node, the head's first
    variables: dict[str, str]  # for processes that join it
    process: "subprocess.Popen[str]"

    def add_node(self) -> int:
        """One more node; its process."""
        self.process.stdin.write("add\n")
        self.process.stdin.flush()
        self.raylets.append(int(json.loads(self.process.stdout.readline())["raylet"]))
        return self.raylets[-1]


@contextmanager
def running(store_bytes: int = STORE_BYTES) -> Iterator[RayCluster]:
    """The cluster, each node with a store of so many bytes; nothing of it lives longer than the block."""
    variables = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token_hex(32), **LOCAL}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.ray_cluster", str(store_bytes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **variables},
    ) as process:
        told = json.loads(process.stdout.readline())
        yield RayCluster(told["address"], told["raylets"], variables, process)
        process.stdin.close()
        process.wait(60)


def main() -> None:
    from ray.cluster_utils import Cluster  # noqa: PLC0415  (only in this process)

    words, sys.stdout = sys.stdout, sys.stderr  # Ray prints, too
    with TemporaryDirectory(prefix="nb-", ignore_cleanup_errors=True) as folder:
        os.environ["RAY_TMPDIR"] = folder
        common = {"num_cpus": 0, "object_store_memory": int(sys.argv[1]), "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=common)
        nodes = [cluster.head_node, *(cluster.add_node(**common) for _ in range(NODES - 1))]
        _use_every_node(cluster.address)
        print(json.dumps({"address": cluster.address, "raylets": [*map(_raylet, nodes)]}), file=words, flush=True)
        for _line in sys.stdin:
            print(json.dumps({"raylet": _raylet(cluster.add_node(**common))}), file=words, flush=True)
        cluster.shutdown()


def _use_every_node(address: str) -> None:
    """A node that has just joined is not yet considered by the scheduler: run something on each."""
    import ray  # noqa: PLC0415
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415

    library: Any = ray
    library.init(address=address, log_to_driver=False)
    nothing = library.remote(num_cpus=0)(lambda: None)
    places = [NodeAffinitySchedulingStrategy(node["NodeID"], soft=False) for node in library.nodes()]
    assert len(places) == NODES
    library.get([nothing.options(scheduling_strategy=place).remote() for place in places], timeout=60)
    library.shutdown()


def _raylet(node: Any) -> int:
    return int(node.all_processes["raylet"][0].process.pid)


if __name__ == "__main__":
    main()
