"""Requests that keep threads busy, and clients that leave. Each gives what was found wrong."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from time import perf_counter, sleep

import httpx

from app.domain.access import Scope
from app.domain.errors import Overloaded
from tests.reliability.attacks import spreadsheets
from tests.reliability.attacks.watching import CSV, MOST_SECONDS, Target

WORK_SECONDS = 15  # the deadline of long work on the attacked server: longer than others wait for a thread
BATCH_SECONDS = 6  # in which a batch would be computed for a client that has left
SLACK_SECONDS = 15  # for a thread to notice, and for a busy machine
CROWD = 16  # more than there are threads for long work
LONG_ASK = {"min_size": 100, "max_size": 100, "wait": 60}  # a hundred parts of the list take seconds to find
LEFT_AFTER = 0.4  # seconds
ROWS = 30_000
GIVEN_UP = "the ask of a client that left given up"
# Rounding each number to twelve digits takes a while: about a minute in all.
SLOW = {"parameters": {f"p{n}": {"low": 1, "high": 9, "scale": "log"} for n in range(100)}, "sample": 150_000}


def begin(server: Target) -> None:
    """A study whose first batch takes seconds."""
    with server.admin() as client:
        rows = "".join(f"K{number},L{number % 3000},{number % 97},{number % 89}\n" for number in range(ROWS))
        content = f"key,catalyst,x,y\n{rows}"
        client.put("/studies/slow/candidates", content=content, headers=CSV).raise_for_status()


def one_key_with_all_its_work(server: Target) -> list[str]:
    """One key sends more long work than there are threads; another key's long read is answered all the same."""
    with _crowd(server):
        sleep(2)
        return _long_read(server)


def longest_filters(server: Target) -> list[str]:
    """Filters of as many conditions as are allowed, from many clients of one key: refused only if no thread is free."""
    where = {"where": ["catalyst=L7"] * 20, "limit": 10_000}

    def send(_number: int) -> str:
        with server.client() as client:
            answer = client.get("/studies/slow/candidates", params=where)
            return "" if answer.is_success else str(answer.json().get("detail", answer.status_code))

    with ThreadPoolExecutor(CROWD) as pool:
        sent = [pool.submit(send, number) for number in range(CROWD)]
        found = _long_read(server)
        refused = [answer for answer in (one.result() for one in sent) if answer and answer != Overloaded.detail]
        return found + [f"a filter was refused: {answer}" for answer in refused]


def spreadsheets_without_end(server: Target) -> list[str]:
    """Sheets of kilobytes that declare billions of cells, from two keys that leave at once: nothing goes on."""
    clients = [server.client(LEFT_AFTER), server.admin()]

    def send(number: int) -> None:
        with suppress(httpx.HTTPError, RuntimeError):
            path, sheet = "/studies/honest/observations", spreadsheets.distant_formula()
            sent = {"params": {"dry_run": True}, "content": sheet, "headers": spreadsheets.HEADERS}
            clients[number % 2].post(path, timeout=LEFT_AFTER, **sent)

    with ThreadPoolExecutor(CROWD) as pool:
        list(pool.map(send, range(CROWD)))
    for client in clients:
        client.close()
    end = perf_counter() + WORK_SECONDS + SLACK_SECONDS
    while server.in_progress("long") and perf_counter() < end:
        sleep(0.1)
    going_on = server.in_progress("long")
    return _long_read(server) + ([f"{going_on} sheets are read for nobody"] if going_on else [])


def work_beyond_its_deadline(server: Target) -> list[str]:
    """Work that takes a minute is given up after its seconds."""
    started = perf_counter()
    with server.client() as client:
        answer = client.post("/candidates/check", json=SLOW)
    took, code = perf_counter() - started, answer.json().get("code")
    found = [] if (answer.status_code, code) == (503, "computation-too-long") else [f"answered {answer.status_code}"]
    return found + ([f"answered after {took:.1f} s"] if took > WORK_SECONDS + SLACK_SECONDS else [])


def clients_that_leave(server: Target) -> list[str]:
    """Asks of clients that leave at once: none of them gets a batch, and the next ask is answered."""
    with server.client() as client:
        before = len(client.get("/studies/slow/batches").json()["batches"])
    for number in range(4):
        with server.client(LEFT_AFTER) as client, suppress(httpx.TimeoutException):
            client.post("/studies/slow/batches", json=LONG_ASK | {"worker": f"leaver-{number}"})
        _measure_until_given_up(server)
    sleep(BATCH_SECONDS)
    with server.client() as client:
        issued = len(client.get("/studies/slow/batches").json()["batches"]) - before
    return [f"{issued} batches were computed for clients that had left"] if issued else []


def _measure_until_given_up(server: Target) -> None:
    """How long the server goes on after a client has left; told, not judged, since it depends on the machine."""
    left = perf_counter()
    while server.in_progress("asks") and perf_counter() < left + SLACK_SECONDS:
        sleep(0.01)
    took = perf_counter() - left
    server.slowest[GIVEN_UP] = max(took, server.slowest.get(GIVEN_UP, 0.0))


@contextmanager
def _crowd(server: Target) -> Iterator[None]:
    """Clients of one key that send slow work, and leave when the block ends."""
    client = server.client(3 * MOST_SECONDS)

    def send(_number: int) -> None:
        with suppress(httpx.HTTPError, RuntimeError):
            client.post("/candidates/check", json=SLOW)

    with ThreadPoolExecutor(CROWD) as pool:
        for number in range(CROWD):
            pool.submit(send, number)
        try:
            yield
        finally:
            client.close()


def _long_read(server: Target) -> list[str]:
    """What is wrong with the answer to an honest reader."""
    with server.honest(3 * MOST_SECONDS) as client:
        status = client.get("/studies/honest/candidates").status_code
    return [] if status == 200 else [f"another key's long read was answered {status}"]


# What a key must be allowed to do to get so far.
ATTACKS: Mapping[Callable[[Target], list[str]], Scope] = {
    one_key_with_all_its_work: Scope.MANAGE,
    clients_that_leave: Scope.ASK,
    work_beyond_its_deadline: Scope.MANAGE,
    longest_filters: Scope.READ,
    spreadsheets_without_end: Scope.REPORT,
}
