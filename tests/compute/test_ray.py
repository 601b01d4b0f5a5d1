"""Computing on a Ray cluster of two nodes: the same answers as without, whatever dies."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import httpx
import pytest
from httpx2 import Response

from app.compute import supervision
from app.compute.on_ray.cluster import CLUSTER_START_SECONDS, LOOPBACK_ONLY
from app.services.resources import Resources
from tests import ray_cluster
from tests.api.conftest import problem
from tests.api.lab import SOLVENTS, THEORY, Lab
from tests.compute.telling import story, until, wait_until_ready, worker_of
from tests.conftest import on_sqlite
from tests.processes import command_of, descendants, is_running
from tests.ray_cluster import RayCluster
from tests.reliability import lab
from tests.server import NEXTBATCH, ROOT, Server, environment, running

ACTOR = "ray::ComputeActor"


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster.running() as started:
        yield started


@contextmanager
def on_actors(address: str, cluster: RayCluster, **settings: object) -> Iterator[Lab]:
    token = patch.dict(os.environ, cluster.variables)
    with token, lab.opened(address, compute="ray", ray_address=cluster.address, **settings) as opened:
        yield opened


def actors(raylets: list[int]) -> list[int]:
    """The processes of actors that compute."""
    return [child for raylet in raylets for child in descendants(raylet) if ACTOR in command_of(child)]


@contextmanager
def asked_of_a_frozen_actor(opened: Lab, cluster: RayCluster) -> Iterator[tuple[int, Future[Response]]]:
    """An ask that an actor has taken and cannot answer: the actor's process, and what becomes of the ask."""
    wait_until_ready(worker_of(opened))
    [actor] = actors(cluster.raylets)
    os.kill(actor, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(opened.ask)
        until(lambda: worker_of(opened).running == 1)
        yield actor, asked


def test_everything_is_as_without_actors_and_studies_spread_over_the_nodes(
    databases, address: str, cluster: RayCluster
) -> None:
    with databases.fresh("sqlite") as other, lab.opened(other) as here:
        expected = [story(here), story(Lab(here.client, "t"), theory=THEORY)]
    with on_actors(address, cluster, compute_workers=2) as opened:
        told = [story(opened), story(Lab(opened.client, "t"), theory=THEORY)]
        status = opened.client.get("/readyz").json()["compute"]
    assert told == expected
    assert status == {"kind": "ray", "workers": 2, "ready": 2, "running": 0, "deaths": 0, "nodes": 2}
    with lab.opened(address) as another:
        assert [another.replays(number) for number in (1, 2, 3)] == [True] * 3
    until(lambda: actors(cluster.raylets) == [])


def test_what_a_killed_actor_had_begun_is_repeated(address: str, cluster: RayCluster) -> None:
    with on_actors(address, cluster) as opened:
        opened.begin()
        with asked_of_a_frozen_actor(opened, cluster) as (actor, asked):
            os.kill(actor, signal.SIGKILL)
            assert asked.result().status_code == 201
        wait_until_ready(worker_of(opened), deaths=1)
        assert opened.replays(1)
        assert opened.is_sound()


@on_sqlite
def test_a_frozen_actor_is_replaced(address: str, cluster: RayCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "SILENT_SECONDS", 3.0)
    with on_actors(address, cluster) as opened:
        opened.begin()
        with asked_of_a_frozen_actor(opened, cluster) as (actor, asked):
            assert asked.result().status_code == 201
        assert worker_of(opened).deaths >= 1
        until(lambda: not is_running(actor))


@on_sqlite
def test_a_node_may_die(address: str, cluster: RayCluster) -> None:
    with on_actors(address, cluster, compute_workers=2) as opened:
        labs = [Lab(opened.client, f"study-{number}").begin() for number in range(2)]
        first, second = opened.client.app.state.resources.compute._workers
        until(lambda: first.is_ready and second.is_ready)
        assert first.node != second.node
        os.kill(cluster.raylets[1], signal.SIGKILL)
        assert [each.batch()["number"] for each in labs] == [1, 1]
        until(lambda: first.node == second.node is not None)
        cluster.raylets.pop(1)
        cluster.add_node()
        assert [each.replays(1) for each in labs] == [True, True]


LONG = {
    "candidates": "key,temperature,solvent\n"
    + "".join(f"{solvent}-{20 + step / 2},{20 + step / 2},{solvent}\n" for step in range(100) for solvent in SOLVENTS),
    "shard": 100,
}
"""300 candidates: three shards."""


def shard_actors(cluster: RayCluster) -> list[list[int]]:
    """The processes that hold shards, by node."""
    nodes = [descendants(raylet) for raylet in cluster.raylets]
    return [[child for child in node if "ray::ShardActor" in command_of(child)] for node in nodes]


def test_a_long_list_is_spread_over_the_nodes_and_gives_the_same_bits(
    databases, address: str, cluster: RayCluster
) -> None:
    with databases.fresh("sqlite") as other, lab.opened(other) as here:
        expected = [
            story(here, **LONG),
            story(Lab(here.client, "t"), theory=THEORY, **LONG),
        ]
    with on_actors(address, cluster, spread_candidates=300) as opened:
        told = [
            story(opened, **LONG),
            story(Lab(opened.client, "t"), theory=THEORY, **LONG),
        ]
        assert [len(node) for node in shard_actors(cluster)] == [1, 1]
    assert told == expected
    with lab.opened(address, compute_workers=1) as another:  # in one process
        assert [another.replays(number) for number in (1, 2, 3)] == [True] * 3
    until(lambda: shard_actors(cluster) == [[], []])


def test_a_lost_shard_is_made_again(address: str, cluster: RayCluster) -> None:
    with on_actors(address, cluster, spread_candidates=300) as opened:
        opened.begin(**LONG)
        opened.measure(opened.batch())
        opened.measure(opened.batch())
        for shard_actor in shard_actors(cluster)[1]:
            os.kill(shard_actor, signal.SIGKILL)
        until(lambda: opened.ask().status_code in {200, 201}, 300)  # 202 while new actors are started
        assert opened.get("batches/3")["number"] == 3
        assert worker_of(opened).deaths >= 1
        assert [opened.replays(number) for number in (1, 2, 3)] == [True] * 3
        assert opened.is_sound()


@on_sqlite
def test_what_nobody_wants_is_ended_and_what_takes_too_long_is_refused(
    address: str, cluster: RayCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "GRACE_SECONDS", 0.5)
    with on_actors(address, cluster) as opened:
        opened.begin()
        resources: Resources = opened.client.app.state.resources
        with asked_of_a_frozen_actor(opened, cluster) as (actor, _asked):
            [job] = resources.jobs._running.values()
            job.leave()
            until(lambda: not is_running(actor))
        assert opened.batch()["number"] == 1
    with on_actors(address, cluster, engine_seconds=1e-9) as hasty:
        problem(hasty.ask("other"), 503, "computation-too-long")


def test_serve_starts_a_cluster_that_only_it_can_reach_and_that_ends_with_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(data, None, NEXTBATCH_COMPUTE="ray", NEXTBATCH_COMPUTE_WORKERS="2") as server:
        until(lambda: httpx.get(f"{server.address}/readyz").json()["compute"]["ready"] == 2, CLUSTER_START_SECONDS)
        command = [*NEXTBATCH, "compute", "status", "--port", server.address.rsplit(":", 1)[1]]
        shown = subprocess.check_output(command, cwd=ROOT, env=environment(data), text=True)
        assert shown == "2 Ray actors on 1 node, 2 ready; 0 computations under way; none has died.\n"
        started = descendants(server.process.pid)
        assert {address for pid in started for address in listens_on(pid)} <= LOOPBACK
        assert stranger_is_refused(server)
        server.process.kill()
        until(lambda: not any(map(is_running, started)))


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


def listens_on(pid: int) -> set[str]:
    """The addresses that a process listens on, as the kernel writes them."""
    try:
        links = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]
    except FileNotFoundError:
        return set()
    own = {link.removeprefix("socket:[").rstrip("]") for link in links if link.startswith("socket:[")}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and row[9] in own}


def stranger_is_refused(server: Server) -> bool:
    """Whether a process of this machine that does not know the token cannot join the cluster."""
    commands = [command_of(pid).split("\0") for pid in descendants(server.process.pid)]
    [address] = {word.partition("=")[2] for words in commands for word in words if word.startswith("--gcs-address=")}
    program = f"import ray; ray.init('{address}')"
    variables = {**os.environ, **LOOPBACK_ONLY, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64}
    refused = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, check=False)
    return refused.returncode != 0 and b"oken" in refused.stderr
