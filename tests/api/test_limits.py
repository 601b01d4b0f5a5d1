"""A server with more to do than it can: it says so at once, and short requests never wait behind long ones."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pkgutil import resolve_name
from threading import Event
from time import sleep
from typing import Any

import anyio
import anyio.to_thread
import pytest
from anyio import CapacityLimiter
from fastapi.testclient import TestClient
from httpx2 import Response

from app.api import limits
from app.api.limits import ConcurrencyLimit, RateLimit
from app.api.live import Streams
from app.api.middleware import BodyTimed
from app.domain.errors import BodyTooSlow, Overloaded, TooManyRequests
from app.main import create_app
from app.settings import Settings
from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.conftest import on_sqlite

VERIFY = "app.services.use_cases.verification:verify"  # long work that nobody shares
CROWD = 45  # more than a process has threads for its requests


@pytest.fixture
def crowd(monkeypatch: pytest.MonkeyPatch) -> Callable[..., AbstractContextManager[None]]:
    """Many requests at the same time, held at a function until the block ends."""

    @contextmanager
    def gather(
        place: str, send: Callable[[int], Response], there: Callable[[], int], size: int = CROWD
    ) -> Iterator[None]:
        go_on, held = Event(), resolve_name(place)
        monkeypatch.setattr(place.replace(":", "."), lambda *given, **named: go_on.wait() and held(*given, **named))
        with ThreadPoolExecutor(size) as pool:
            for number in range(size):
                pool.submit(send, number)
            try:
                while there() < size:
                    sleep(0.01)
                yield
            finally:
                go_on.set()

    return gather


Crowd = Callable[..., AbstractContextManager[None]]


def line_of(threads: CapacityLimiter) -> Callable[[], int]:
    """How many are on these threads, or wait for one."""
    return lambda: threads.statistics().borrowed_tokens + threads.statistics().tasks_waiting


@pytest.fixture
def narrow(settings: Settings, admin: TestClient) -> Iterator[Callable[..., TestClient]]:
    """Makes a server with smaller limits on the same database, with the admin's key."""
    clients: list[TestClient] = []

    def make(**smaller: Any) -> TestClient:
        app = create_app(settings.model_copy(update=smaller))
        clients.append(TestClient(app, headers=admin.headers).__enter__())
        return clients[-1]

    yield make
    for client in clients:
        client.__exit__(None, None, None)


def taken(client: TestClient) -> int:
    count: int = client.app.state.ask_limit._taken.total()  # type: ignore[attr-defined]
    return count


@on_sqlite
def test_waiting_asks_keep_no_thread_from_reports(lab: Lab, crowd: Crowd) -> None:
    lab.begin()
    with crowd("app.compute.local:draft_batch", lambda n: lab.ask(f"w{n % 30}", wait=600), lambda: taken(lab.client)):
        assert lab.report(candidate="DMF-20", value=1.0).status_code == 201


@on_sqlite
def test_asks_beyond_the_line_are_refused_at_once(lab: Lab, narrow: Callable[..., TestClient], crowd: Crowd) -> None:
    lab.begin()
    small = Lab(narrow(engine_threads=1, engine_queue=3))  # of which one key gets three
    with crowd("app.compute.local:draft_batch", lambda _: small.ask("w", wait=600), lambda: taken(small.client), 3):
        answer = small.ask("w", wait=600)
        problem(answer, 503, "overloaded")
        assert int(answer.headers["Retry-After"]) >= 1


@on_sqlite
def test_long_work_keeps_no_thread_from_reports(lab: Lab, crowd: Crowd) -> None:
    lab.begin()
    threads = lab.client.app.state.long_work._threads  # type: ignore[attr-defined]
    line = lambda: threads.line  # noqa: E731
    with crowd(VERIFY, lambda _: lab.client.post(f"{lab.path}/verify"), line):
        assert lab.report(candidate="DMF-20", value=1.0).status_code == 201


@on_sqlite
def test_a_long_line_for_threads_is_refused_at_once(narrow: Callable[..., TestClient], crowd: Crowd) -> None:
    client = narrow(max_waiting=3)
    assert client.portal is not None
    line = line_of(client.portal.call(anyio.to_thread.current_default_thread_limiter))
    with crowd("app.api.routes.operations:must_be_ready", lambda _: client.get("/readyz"), line):
        answer = client.get("/v1/keys/me")
        problem(answer, 503, "overloaded")
        assert answer.headers["Retry-After"] == "1"
        assert client.get("/healthz").status_code == 200


@on_sqlite
@pytest.mark.parametrize("path", ["/v1/keys/me", "/v1/studies/s/summary"])
def test_who_waited_too_long_is_told_although_no_thread_is_free(
    lab: Lab, crowd: Crowd, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    lab.begin()
    assert lab.client.portal is not None
    default = lab.client.portal.call(anyio.to_thread.current_default_thread_limiter)
    threads = lab.client.app.state.long_work._threads  # type: ignore[attr-defined]
    if "keys" in path:
        busy = crowd("app.api.routes.operations:must_be_ready", lambda _: lab.client.get("/readyz"), line_of(default))
    else:
        busy = crowd(VERIFY, lambda _: lab.client.post(f"{lab.path}/verify"), lambda: threads.line)
    with busy:
        monkeypatch.setattr(limits, "MOST_SECONDS", 0.1)
        problem(lab.client.get(path), 503, "overloaded")


@on_sqlite
def test_a_key_has_so_many_requests_a_second_and_the_others_theirs(
    narrow: Callable[..., TestClient], new_key: Callable[..., str]
) -> None:
    client = narrow(max_requests_per_second=0.5)
    answers = [client.get("/v1/keys/me") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    problem(answers[-1], 429, "too-many-requests")
    assert answers[-1].headers["Retry-After"] == "2"
    other = {"Authorization": f"Bearer {new_key('dashboard')}"}
    assert client.get("/v1/keys/me", headers=other).status_code == 200


def test_a_key_that_rested_may_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(limits, "monotonic", lambda: now)
    rates = RateLimit(2)

    def spend() -> int:
        """How many requests go through now."""
        for number in range(1000):
            try:
                rates.count("key")
            except TooManyRequests:
                return number
        raise AssertionError("no limit")

    assert spend() == 20
    now += 3
    assert spend() == 6
    now += 1e6
    assert spend() == 20
    for _ in range(1000):
        RateLimit(0).count("key")


def test_slots_are_limited_for_all_and_for_each_and_given_back() -> None:
    limit = ConcurrencyLimit(3, 2)
    with limit.slot("a"), limit.slot("a"):
        with pytest.raises(Overloaded), limit.slot("a"):
            pass
        with limit.slot("b"), pytest.raises(Overloaded), limit.slot("c"):
            pass
    with limit.slot("a"), limit.slot("a"), limit.slot("b"):
        pass
    assert limit._taken == {}


@on_sqlite
def test_streams_are_limited_for_each_key(admin: TestClient, study: str) -> None:
    admin.app.state.streams = Streams(5, 0)  # type: ignore[attr-defined]
    problem(admin.get(f"/v1/studies/{study}/events/live"), 503, "overloaded")


async def trickle(pieces: list[tuple[float, bytes]], seconds: float) -> bytes:
    """What an application gets of a body whose pieces come after these pauses."""
    body, left = bytearray(), list(pieces)

    async def receive() -> dict[str, Any]:
        pause, piece = left.pop(0)
        await anyio.sleep(pause)
        return {"type": "http.request", "body": piece, "more_body": bool(left)}

    async def application(_scope: Any, receive: Any, _send: Any) -> None:
        while (message := await receive())["more_body"]:
            body.extend(message["body"])
        body.extend(message["body"])

    await BodyTimed(application, seconds)({"type": "http"}, receive, None)  # type: ignore[arg-type]
    return bytes(body)


def test_a_body_that_trickles_is_refused_and_a_large_one_has_its_time() -> None:
    with pytest.raises(BodyTooSlow):
        anyio.run(trickle, [(0.0, b"x"), (60.0, b"y")], 0.1)
    with pytest.raises(BodyTooSlow):
        anyio.run(trickle, [(0.03, b"x")] * 1000, 0.2)
    assert anyio.run(trickle, [(0.0, b"x" * 10_000_000), (0.3, b"y")], 0.1)[-1:] == b"y"
