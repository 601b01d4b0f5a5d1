"""A steady mix of requests at a given rate, sent when they are due, however long the answers take.

Latency counts from the moment a request was due: what waits for a slow server is part of what its users wait for.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from time import perf_counter

import httpx

STUDY = "/v1/studies/load"
CANDIDATES = 1_000
LIST = "key,t,s\n" + "".join(f"K{n},{n % 97},{'abc'[n % 3]}\n" for n in range(CANDIDATES))
MIX = {"report": 60, "read": 35, "ask": 5}  # of a hundred
READS = ("", "/summary", "/suggestions", "/observations?limit=100", "/candidates?limit=20", "/events?limit=20")
SHED = (429, 503)
WORKERS = 8

Send = Callable[[httpx.AsyncClient, Random, int], Awaitable[httpx.Response]]


@dataclass
class Measured:
    """Milliseconds of the answers by kind, and what came of the others."""

    seconds: float
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    outcomes: Counter[str] = field(default_factory=Counter)


async def prepare(client: httpx.AsyncClient) -> None:
    """The study that everybody works on."""
    (await client.put(STUDY, json={"repeats": "allowed", "max_batch": 4})).raise_for_status()
    headers = {"Content-Type": "text/csv"}
    (await client.put(f"{STUDY}/candidates", content=LIST, headers=headers)).raise_for_status()


async def send_steadily(client: httpx.AsyncClient, rate: float, seconds: float, seed: int) -> Measured:
    """`rate` requests a second, evenly, for some seconds; ends when all are answered."""
    random, measured = Random(seed), Measured(seconds)  # noqa: S311
    kinds = random.choices(list(MIX), list(MIX.values()), k=round(rate * seconds))
    begun = perf_counter()
    async with asyncio.TaskGroup() as sending:
        for number, kind in enumerate(kinds):
            due = begun + number / rate
            await asyncio.sleep(due - perf_counter())
            sending.create_task(_send(client, kind, random, number, due, measured))
    measured.seconds = perf_counter() - begun
    return measured


@asynccontextmanager
async def watched(client: httpx.AsyncClient, streams: int) -> AsyncIterator[None]:
    """So many open streams, all the while."""
    watching = [asyncio.create_task(_watch(client)) for _ in range(streams)]
    try:
        yield
    finally:
        for one in watching:
            one.cancel()
        await asyncio.gather(*watching, return_exceptions=True)


async def _watch(client: httpx.AsyncClient) -> None:
    while True:
        with suppress(httpx.TransportError):
            async with client.stream("GET", f"{STUDY}/events/live", timeout=None) as events:
                async for _ in events.aiter_lines():
                    pass
        await asyncio.sleep(1)


async def _send(
    client: httpx.AsyncClient, kind: str, random: Random, number: int, due: float, measured: Measured
) -> None:
    try:
        answer = await SENDERS[kind](client, random, number)
    except httpx.TransportError:
        measured.outcomes["lost"] += 1
        return
    if answer.is_success:
        measured.outcomes["answered"] += 1
        measured.times[kind].append(1000 * (perf_counter() - due))
    else:
        measured.outcomes["shed" if answer.status_code in SHED else "failed"] += 1


async def _report(client: httpx.AsyncClient, random: Random, number: int) -> httpx.Response:
    line = {"candidate": f"K{random.randrange(CANDIDATES)}", "value": random.gauss(), "measured_by": f"bench {number}"}
    return await client.post(f"{STUDY}/observations", json=line)


async def _read(client: httpx.AsyncClient, random: Random, _number: int) -> httpx.Response:
    return await client.get(STUDY + random.choice(READS))


async def _ask(client: httpx.AsyncClient, random: Random, _number: int) -> httpx.Response:
    """A worker gives up what it has and asks for more."""
    worker = f"w{random.randrange(WORKERS)}"
    answer = await client.post(f"{STUDY}/batches", json={"worker": worker, "wait": 30})
    if answer.status_code in (200, 201):
        await client.post(f"{STUDY}/batches/{answer.json()['number']}/close")
    return answer


SENDERS: dict[str, Send] = {"report": _report, "read": _read, "ask": _ask}
