"""A bad network in front of servers: it loses, cuts, delays and doubles what passes."""

import asyncio
import socket
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from random import Random
from threading import Thread
from urllib.parse import urlsplit


@dataclass
class Proxy:
    """Every request goes to one of the servers on a connection of its own; a share of them meets a fault."""

    servers: Sequence[str]
    share: float
    random: Random
    faults: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            request = await _request(reader)
            faulty = self.random.random() < self.share
            self.faults += faulty
            fault = self.random.choice((self._lost, self._cut, self._late, self._twice, self._refused))
            answer = await (fault(request) if faulty else self._passed(request))
            writer.write(answer)
            await writer.drain()
        writer.close()

    async def _passed(self, request: bytes) -> bytes:
        """To any server, and its whole answer."""
        place = urlsplit(self.random.choice(self.servers))
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        try:
            writer.write(request)
            return await reader.read(-1)
        finally:
            writer.close()

    async def _lost(self, request: bytes) -> bytes:
        await self._passed(request)
        return b""

    async def _cut(self, request: bytes) -> bytes:
        answer = await self._passed(request)
        return answer[: self.random.randrange(len(answer) or 1)]

    async def _late(self, request: bytes) -> bytes:
        await asyncio.sleep(self.random.uniform(0, 0.3))
        answer = await self._passed(request)
        await asyncio.sleep(self.random.uniform(0, 0.3))
        return answer

    async def _twice(self, request: bytes) -> bytes:
        answers = await asyncio.gather(self._passed(request), self._passed(request))
        return self.random.choice(answers)

    async def _refused(self, _request: bytes) -> bytes:
        return b""


async def _request(reader: asyncio.StreamReader) -> bytes:
    """One request, with its connection to be closed after it: so the answer ends where the connection does."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    lengths = [int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")]
    body = await reader.readexactly(sum(lengths))
    return b"\r\n".join([*lines[:-2], b"Connection: close", b"", b""]) + body


@contextmanager
def bad_network(servers: Sequence[str], share: float, seed: int) -> Iterator[tuple[str, Proxy]]:
    """Its address, and what it did."""
    proxy, loop = Proxy(servers, share, Random(seed)), asyncio.new_event_loop()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread = Thread(target=_run, args=(loop, asyncio.start_server(proxy.serve, sock=listener)))
        thread.start()
        try:
            yield address, proxy
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


def _run(loop: asyncio.AbstractEventLoop, starting: Coroutine[None, None, asyncio.Server]) -> None:
    asyncio.set_event_loop(loop)
    server = loop.run_until_complete(starting)
    loop.run_forever()
    server.close()
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
