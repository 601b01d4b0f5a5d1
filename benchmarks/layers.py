"""Where the processor's time of a report goes, layer by layer, in microseconds.

    python -m benchmarks.layers [--reports 2000] [--batch 200] [--clients 8] [--databases sqlite postgresql] [--profile]

The application runs in this process and is called without a socket, so that its threads can be told apart: *event
loop* is what a report takes before and after its transaction, *commit* is its transaction on the thread that commits.
HTTP itself and the sockets come on top. A report names its candidate by key, or by a suggestion of one batch of
`--batch`, as the client's `suggestion.report` does. Processor time depends less than rates do on who else uses the
machine, but caches are shared, so compare versions alternately. `--profile` prints the functions that take most of
either part.
"""

import argparse
import asyncio
import cProfile
import json
import os
import pstats
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time, thread_time
from typing import Any, NoReturn

import uvloop
from starlette.types import Message

from app.cli.serving import first_admin_key, prepare
from app.main import create_app
from app.settings import Settings
from benchmarks.reporters import LIST
from tests import postgres

CREATED = 201
SHOWN = 45  # functions of a profile
PLACE: dict[str, Any] = {
    **dict.fromkeys(("client", "server"), ("127.0.0.1", 1)),
    **dict.fromkeys(("query_string", "raw_path"), b""),
    "type": "http",
    "http_version": "1.1",
    "scheme": "http",
    "root_path": "",
    "state": {},
}


class Caller:
    """Calls the application as the server does, without a socket."""

    def __init__(self, app: Any, key: str) -> None:
        self.app, self.key = app, key
        self.sent = 0

    async def call(self, method: str, path: str, body: bytes, media_type: str, token: str | None = None) -> int:
        headers = {"host": "127.0.0.1", "authorization": f"Bearer {self.key}", "content-type": media_type}
        headers |= {"content-length": str(len(body))} | ({"idempotency-key": token} if token else {})
        scope = {
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "method": method,
            "path": path,
            **PLACE,
        }
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        status = 0

        async def receive() -> Message:
            return messages.pop() if messages else await _forever()

        async def send(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)

        await self.app(scope, receive, send)
        return status

    async def ask(self, size: int) -> None:
        body = json.dumps({"worker": "bench", "min_size": size, "max_size": size, "wait": 600}).encode()
        status = await self.call("POST", "/v1/studies/s/batches", body, "application/json")
        if status != CREATED:
            raise RuntimeError(f"an ask was answered with {status}")

    async def report(self, rank: int | None = None) -> None:
        """One more result: of a candidate, or of a suggestion of the first batch."""
        self.sent += 1
        named = {"candidate": f"K{self.sent * 7 % 1000}"} if rank is None else {"suggestion": f"B1-S{rank}"}
        line = {**named, "value": self.sent / 7, "measured_by": f"bench {self.sent}"}
        path = "/v1/studies/s/observations"
        status = await self.call("POST", path, json.dumps(line).encode(), "application/json", f"t{self.sent}")
        if status != CREATED:
            raise RuntimeError(f"a report was answered with {status}")

    async def report_many(self, reports: int, clients: int, *, suggested: bool = False) -> dict[str, float]:
        """So many clients at once: microseconds of a report, in the event loop and in the threads that commit."""
        ranks = iter(range(1, reports + 1))

        async def client() -> None:
            for rank in ranks:
                await self.report(rank if suggested else None)

        loop, whole = thread_time(), process_time()
        await asyncio.gather(*(client() for _ in range(clients)))
        loop, whole = thread_time() - loop, process_time() - whole
        return {"event loop": 1e6 * loop / reports, "commit": 1e6 * (whole - loop) / reports}


async def _forever() -> NoReturn:
    await asyncio.get_running_loop().create_future()
    raise AssertionError


@contextmanager
def _application(folder: Path, address: str | None) -> Iterator[Caller]:
    settings = Settings(data=folder, database_url=address, max_requests_per_second=0, compute_workers=0)
    database = prepare(settings)
    key = first_admin_key(database, settings.admin_key_file) or ""
    database.dispose()
    yield Caller(create_app(settings), key)


async def _measure(caller: Caller, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """The figures of reports by suggestion and by key; those by key are many more, and are what is profiled."""
    async with caller.app.router.lifespan_context(caller.app):
        await caller.call("PUT", "/v1/studies/s", b'{"repeats": "allowed", "max_batch": 1000}', "application/json")
        await caller.call("PUT", "/v1/studies/s/candidates", LIST.encode(), "text/csv")
        await caller.ask(options.batch)
        suggested = await caller.report_many(options.batch, options.clients, suggested=True)
        await caller.report_many(options.reports // 4, options.clients)
        with _profiled(caller.app.state.resources.commits) if options.profile else redirect_stdout(sys.stdout):
            by_key = await caller.report_many(options.reports, options.clients)
        return {"by key": by_key, "by suggestion": suggested}


@contextmanager
def _profiled(commits: Any) -> Iterator[None]:
    """Print, by their own processor time, the functions of the event loop and of the commits."""
    loop, thread = cProfile.Profile(thread_time), cProfile.Profile(thread_time)
    commit: Callable[..., Any] = commits._commit  # noqa: SLF001
    commits._commit = lambda *arguments: thread.runcall(commit, *arguments)  # noqa: SLF001
    loop.enable()
    yield
    loop.disable()
    for profile in (loop, thread):
        pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(SHOWN)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.layers", description="Processor time of a report.")
    parser.add_argument("--reports", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=200, help="suggestions that are reported")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"], choices=["sqlite", "postgresql"])
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args(arguments)
    print("| database | report | event loop µs | commit µs |\n|---|---|---|---|")
    with TemporaryDirectory(prefix="nextbatch-bench-") as folder, postgres.running_server() as server:
        for name in options.databases:
            address = postgres.create_database(server, "layers") if name == "postgresql" else None
            with (
                _application(Path(folder) / name, address) as caller,
                Path(os.devnull).open("w") as log,
                redirect_stdout(log),
            ):
                figures = uvloop.run(_measure(caller, options))
            for kind, part in figures.items():
                print(f"| {name} | {kind} | {part['event loop']:.0f} | {part['commit']:.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
