"""Promise 14: no update is lost: of all who saw one version, one changes it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from tests.reliability import bench, fleet
from tests.reliability.planting import planted_in_servers
from tests.reliability.promise import Budget, Count, Promise, on_each_database

SERVERS, WRITERS = 2, 64
KEPT_OPEN = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=None)
"""One client for all threads must not close what another thread is about to use."""

STUDY, OBSERVATION = "/v1/studies/counter", "/v1/studies/counter/observations/1"

Send = Callable[..., httpx.Response]


def _prove(budget: Budget, _seed: int, address: str) -> Count:
    """In each round all writers read a number, and write what they read plus one."""
    violations, attempts, refused = [], 0, 0
    with TemporaryDirectory() as folder, fleet.running(address, Path(folder), SERVERS) as servers:
        bench.begin_study(servers, "counter", max_batch=1)
        with ThreadPoolExecutor(WRITERS) as pool, _client(servers) as client:
            places = cycle(servers.addresses)
            senders = [partial(_send, client, next(places)) for _ in range(WRITERS)]
            senders[0]("POST", f"{STUDY}/observations", json={"candidate": "K1", "value": 1.0})
            for number in budget:
                seen, write = ((_study, _write_study), (_observation, _write_observation))[number % 2]
                before = seen(senders[0])[0]
                done = sum(pool.map(lambda send, seen=seen, write=write: write(send, *seen(send)), senders))
                after = seen(senders[0])[0]
                if not 1 <= done == after - before:
                    violations.append(f"{done} times one more made {after} of {before} ({write.__name__})")
                attempts, refused = attempts + WRITERS, refused + WRITERS - done
        violations += servers.bugs()
    return Count(attempts, tuple(violations), {"refused as stale": refused})


def _client(servers: fleet.Fleet) -> httpx.Client:
    return httpx.Client(headers=servers.headers, timeout=60, limits=KEPT_OPEN)


def _send(client: httpx.Client, address: str, method: str, path: str, **request: object) -> httpx.Response:
    """A read again, if its connection was kept so long that the server closed it at the same moment."""
    try:
        return client.request(method, f"{address}{path}", **request)
    except httpx.TransportError:
        if method != "GET":
            raise
        return client.request(method, f"{address}{path}", **request)


def _study(send: Send) -> tuple[int, str]:
    answer = send("GET", STUDY).raise_for_status()
    return answer.json()["configuration"]["max_batch"], answer.headers["ETag"]


def _write_study(send: Send, number: int, version: str) -> bool:
    return _is_done(send("PATCH", STUDY, json={"max_batch": number + 1}, headers={"If-Match": version}))


def _observation(send: Send) -> tuple[int, str]:
    answer = send("GET", OBSERVATION).raise_for_status()
    return int(answer.json()["observations"][-1]["value"]), answer.headers["ETag"]


def _write_observation(send: Send, number: int, version: str) -> bool:
    body = {"value": number + 1.0, "reason": "one more"}
    return _is_done(send("POST", f"{OBSERVATION}/corrections", json=body, headers={"If-Match": version}))


def _is_done(answer: httpx.Response) -> bool:
    if answer.status_code != 412:
        answer.raise_for_status()
    return answer.is_success


PROMISE = Promise(
    number=14,
    words="No update is lost",
    tested=(
        f"{WRITERS} writers at {SERVERS} processes read a version, and write the next with If-Match: as many are taken "
        "as the number grew, all others are told that they are stale."
    ),
    unit="updates",
    full=100_000,
    prove=on_each_database(_prove),
    teeth={"versions are not compared": partial(planted_in_servers, "versions are not compared")},
    short=2,
    share=0.8,
)
