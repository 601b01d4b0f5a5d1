"""The cluster that a server starts, and what happens if it does not start. Nothing here needs Ray."""

import os
from threading import Thread
from time import sleep

import pytest

from app.compute.on_ray import cluster
from app.compute.on_ray.cluster import ExistingCluster, LocalCluster


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
