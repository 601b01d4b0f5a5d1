"""Where messages may go: listed addresses only, and inside a network only if that is meant."""

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import sleep

import pytest

from app.settings import read_settings
from app.webhooks import targets
from app.webhooks.messages import Message
from app.webhooks.targets import NotAllowed, NotDelivered, read_targets
from tests.webhooks.receiver import receiving

NOTHING = Message(b"{}", {})


@pytest.mark.parametrize(
    ("listed", "url", "allowed"),
    [
        ("https://a.example", "https://a.example/x", True),
        ("https://a.example", "https://a.example", True),
        ("https://a.example", "https://A.example:443/x", True),
        ("https://a.example", "http://a.example/x", False),
        ("https://a.example", "https://a.example:444/x", False),
        ("https://a.example", "https://a.example.evil.example/x", False),
        ("https://a.example/lab/", "https://a.example/lab/x?y=1", True),
        ("https://a.example/lab", "https://a.example/labs", False),
    ],
)
def test_a_target_lies_below_a_listed_address(listed: str, url: str, allowed: bool) -> None:
    found = read_targets([listed])
    if allowed:
        found.must_allow(url)
    else:
        with pytest.raises(NotAllowed):
            found.must_allow(url)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1", "::ffff:10.1.2.3"])
def test_a_name_with_a_private_address_is_refused_unless_the_network_is_listed(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets.socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (address, 80))])
    url = "http://hooks.example"
    with pytest.raises(NotAllowed, match="private"):
        targets.post(read_targets([url]), url, NOTHING)
    networks = ["127.0.0.0/8", "10.1.0.0/16", "169.254.0.0/16", "::1/128", "fd00::/8"]
    listed = read_targets([url, *networks])
    assert listed.address_of(listed.must_allow(url)) == address


def test_a_public_address_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets.socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("93.184.215.14", 443))])
    listed = read_targets(["https://hooks.example"])
    assert listed.address_of(listed.must_allow("https://hooks.example/x")) == "93.184.215.14"


def test_a_target_that_does_not_answer_is_told_apart_from_one_that_is_refused() -> None:
    with receiving() as receiver:
        url = receiver.url
        assert targets.post(read_targets([url]), f"{url}/x?y=1", NOTHING) == 204
        assert receiver.got[0][0] == "/x?y=1"
    with pytest.raises(NotDelivered, match="No connection"):
        targets.post(read_targets([url]), url, NOTHING)
    with pytest.raises(NotAllowed, match="lists no addresses"):
        targets.post(read_targets([]), url, NOTHING)


def test_an_answer_that_comes_one_byte_at_a_time_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "MOST_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        stammered = pool.submit(_stammer, listener)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(NotDelivered, match="No answer"):
            targets.post(read_targets([url]), url, NOTHING)
        assert stammered.result() == "the sender hung up"


def _stammer(listener: socket.socket) -> str:
    """Send a head that takes ten seconds; which of the two ended it."""
    with listener.accept()[0] as connection, suppress(OSError):
        for _ in range(1000):
            connection.send(b"H")
            sleep(0.01)
        return "the head ended"
    return "the sender hung up"


@pytest.mark.parametrize("listed", ["hooks.example.org", "ftp://hooks.example.org", "10.1.0.1/16"])
def test_a_list_that_cannot_work_is_refused_at_the_start(listed: str) -> None:
    with pytest.raises(ValueError, match="NEXTBATCH_WEBHOOK_TARGETS: write addresses like"):
        read_settings(webhook_targets=listed)
