"""The cluster that a server starts, and what happens if it does not start. Nothing here needs Ray."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from threading import Thread
from time import sleep

import pytest

from app.compute.channel import Channel, WorkerSettings
from app.compute.on_ray import cluster
from app.compute.on_ray.cluster import ExistingCluster, GatewaySettings, LocalCluster
from tests.compute.telling import until
from tests.processes import is_running
from tests.server import ROOT


def test_a_cluster_that_does_not_start_has_no_address_and_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "HEAD", "no_such_module")
    local = LocalCluster()
    for _ in range(2):
        with pytest.raises(OSError, match="cannot be started"):
            local.address()
    local.close()


def test_who_waits_for_a_cluster_does_not_keep_the_server_from_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "HEAD", "http.server")  # it never says anything; its argument is a port
    monkeypatch.setattr(cluster, "CLOSE_SECONDS", 0.1)
    local, refused = LocalCluster(), []

    def wait() -> None:
        with pytest.raises(OSError, match="stopping"):
            local.address()
        refused.append(True)

    waiting = Thread(target=wait)
    waiting.start()
    sleep(0.5)
    local.refuse()
    waiting.join(60)
    local.close()
    assert refused == [True]
    with pytest.raises(OSError, match="stopping"):
        local.address()


def test_what_a_killed_head_leaves_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "HEAD", "tests.compute.deserted_head")
    local = LocalCluster()
    local.environment["PYTHONPATH"] = str(ROOT)
    folder, helper = local.address().split()
    until(lambda: local._process.poll() is not None)
    assert is_running(int(helper))
    local.close()
    until(lambda: not is_running(int(helper)), 10)
    assert not Path(folder).exists()


def test_a_gateway_that_waits_for_a_cluster_ends_with_its_server() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", "app.compute.on_ray.gateway", str(theirs.fileno())]
        gateway = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=ROOT, env={**os.environ, **cluster.LOCAL})
    with ours, socket.create_server(("127.0.0.1", 0)) as silent:  # a cluster that takes calls, and answers none
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        settings = WorkerSettings("sqlite://", 1, 1, 1.0, 1, "json", "error")
        Channel(ours).send(GatewaySettings(address, 0, settings))
        silent.settimeout(60)
        silent.accept()[0].close()
        assert gateway.poll() is None
    try:
        gateway.wait(10)
    finally:
        gateway.kill()


def test_a_cluster_of_others_is_joined_with_a_token_unless_they_say_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    assert ExistingCluster("10.0.0.1:6379").environment["RAY_AUTH_MODE"] == "token"
    assert cluster.LOOPBACK_ONLY.items() <= ExistingCluster("127.0.0.1:6379").environment.items()
    assert not cluster.LOOPBACK_ONLY.keys() & ExistingCluster("10.0.0.1:6379").environment.keys()
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    assert ExistingCluster("10.0.0.1:6379").environment["RAY_AUTH_MODE"] == "disabled"


def test_tokens_are_never_the_same() -> None:
    tokens = {LocalCluster().environment["RAY_AUTH_TOKEN"] for _ in range(3)}
    assert len(tokens) == 3
    assert not tokens & set(os.environ.values())
