"""Promise 18: those who look cannot hinder those who write."""

import asyncio
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import httpx

from tests.reliability import bench, fleet
from tests.reliability.fleet import Fleet
from tests.reliability.planting import planted_in_servers
from tests.reliability.promise import Budget, Count, Promise, on_each_database

SERVERS, STREAMS, POLLERS, WRITERS = 2, 100, 100, 50
LOOKS = ("summary", "candidates?limit=20", "observations?limit=20", "batches", "trace")


@dataclass
class Seen:
    client: httpx.AsyncClient
    servers: Fleet
    random: Random
    looks: int = 0
    events: int = 0
    violations: list[str] = field(default_factory=list)

    def place(self, path: str) -> str:
        return f"{self.random.choice(self.servers.addresses)}/v1/studies/busy/{path}"

    async def poll(self) -> None:
        """As a page does that is open all day."""
        while True:
            answer = await self.client.get(self.place(self.random.choice(LOOKS)))
            self.looks += 1
            self._must(answer.is_success, f"a dashboard is answered {answer.status_code} {answer.text[:300]}")
            await asyncio.sleep(1)

    async def follow(self) -> None:
        async with self.client.stream("GET", self.place("events/live")) as answer:
            self._must(answer.is_success, f"a stream is answered {answer.status_code}")
            async for line in answer.aiter_lines():
                self.events += line.startswith("data:")

    async def write(self) -> None:
        body = {"candidate": self.random.choice(bench.CANDIDATES), "value": self.random.random()}
        answer = await self.client.post(self.place("observations"), json=body)
        self._must(answer.status_code == 201, f"a writer is answered {answer.status_code} {answer.text[:300]}")

    def _must(self, true: bool, words: str) -> None:
        if not true:
            self.violations.append(words)


def _prove(budget: Budget, seed: int, address: str) -> Count:
    with TemporaryDirectory() as folder, fleet.running(address, Path(folder), SERVERS) as servers:
        bench.begin_study(servers, "busy")
        count = asyncio.run(_crowd(budget, seed, servers))
        return count + Count(0, tuple(servers.bugs()))


async def _crowd(budget: Budget, seed: int, servers: Fleet) -> Count:
    """A case is a round in which every writer writes once."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)  # an idle one may end as it is used
    async with httpx.AsyncClient(headers=servers.headers, timeout=60, limits=limits) as client:
        seen = Seen(client, servers, Random(seed))
        crowd = [asyncio.create_task(seen.follow()) for _ in range(STREAMS)]
        crowd += [asyncio.create_task(seen.poll()) for _ in range(POLLERS)]
        writes = 0
        for _ in budget:
            await asyncio.gather(*(seen.write() for _ in range(WRITERS)))
            writes += WRITERS
        for one in crowd:
            one.cancel()
        ends = await asyncio.gather(*crowd, return_exceptions=True)
        broken = [f"a dashboard broke: {end!r}" for end in ends if not isinstance(end, asyncio.CancelledError)]
        details = {"looks": seen.looks, "events followed": seen.events}
        return Count(writes, (*seen.violations, *broken), details)


PROMISE = Promise(
    number=18,
    words="Dashboards cannot harm writers",
    tested=(
        f"{STREAMS} live streams, {POLLERS} pages that poll and {WRITERS} writers at {SERVERS} processes: nobody is "
        "turned away."
    ),
    unit="writes",
    full=100_000,
    prove=on_each_database(_prove),
    teeth={"writers that do not wait": partial(planted_in_servers, "writers that do not wait")},
    short=1,
    bite=5,  # writers meet by chance
    share=1,
)
