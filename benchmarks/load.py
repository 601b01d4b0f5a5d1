"""How a server does under a steady mix of reports, asks, reads and open streams, at rising rates.

    python -m benchmarks.load [--rates 10 20 40 80] [--seconds 20] [--streams 20] [--databases sqlite postgresql]
    python -m benchmarks.load --soak 60 --rates 10      # minutes at one rate: memory and open files as it goes

The requests are sent from the same machine. Beside the reports stand single commits of the raw driver.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import httpx
import numpy as np
import psycopg

from app.storage.dialects import sqlite_driver
from benchmarks.traffic import Measured, prepare, send_steadily, watched
from tests import postgres
from tests.server import Server, running

COMMITS = 500
HEADER = (
    "| database | offered /s | answered /s | shed | failed | report p50 | report p99 | read p50 | read p99 "
    "| ask p50 | ask p99 | CPU | MiB |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|"
)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    with TemporaryDirectory(prefix="nextbatch-load-") as folder:
        for name in options.databases:
            with _database(name, Path(folder)) as (address, commits):
                print(f"\n{name}: a commit of the raw driver: p50 {commits[0]:.2f} ms, p99 {commits[1]:.2f} ms\n")
                with running(Path(folder) / name, address, NEXTBATCH_MAX_REQUESTS_PER_SECOND="0") as server:
                    asyncio.run(_soak(server, options) if options.soak else _rise(name, server, options))
    return 0


async def _rise(name: str, server: Server, options: argparse.Namespace) -> None:
    print(HEADER)
    async with _client(server) as client:
        await prepare(client)
        async with watched(client, options.streams):
            for rate in options.rates:
                before = _cpu(server)
                measured = await send_steadily(client, rate, options.seconds, seed=round(rate))
                print(_row(name, rate, measured, server, _cpu(server) - before), flush=True)


async def _soak(server: Server, options: argparse.Namespace) -> None:
    """A minute after the other at the first rate."""
    print("| minute | answered | shed | failed | report p99 | MiB | open files |\n|---|---|---|---|---|---|---|")
    async with _client(server) as client:
        await prepare(client)
        async with watched(client, options.streams):
            for minute in range(options.soak):
                measured = await send_steadily(client, options.rates[0], 60, seed=minute)
                of = measured.outcomes
                cells = (minute + 1, of["answered"], of["shed"], of["failed"] + of["lost"])
                p99, size = _milliseconds(measured, "report", 0.99), f"{_memory(server):.0f}"
                print(f"| {' | '.join(map(str, (*cells, p99, size, _files(server))))} |", flush=True)


def _row(name: str, rate: float, measured: Measured, server: Server, cpu: float) -> str:
    of, total = measured.outcomes, measured.outcomes.total()
    cells = [name, f"{rate:g}", f"{of['answered'] / measured.seconds:.1f}", f"{100 * of['shed'] / total:.1f} %"]
    cells.append(f"{100 * (of['failed'] + of['lost']) / total:.1f} %")
    cells += [_milliseconds(measured, kind, q) for kind in ("report", "read", "ask") for q in (0.5, 0.99)]
    cells += [f"{cpu / total:.0f}", f"{_memory(server):.0f}"]
    return f"| {' | '.join(cells)} |"


def _milliseconds(measured: Measured, kind: str, quantile: float) -> str:
    times = measured.times[kind]
    return f"{np.quantile(times, quantile):.0f}" if times else "–"


def _memory(server: Server) -> float:
    """MiB that the server and its workers have in memory."""
    statuses = [(process / "status").read_text() for process in server.processes()]
    return sum(int(status.split("VmRSS:")[1].split()[0]) for status in statuses) / 1024


def _cpu(server: Server) -> float:
    """Milliseconds of processor time that the server has used: hardly a matter of who else uses the machine."""
    stats = [(process / "stat").read_text().rpartition(")")[2].split() for process in server.processes()]
    return sum(1000 * (int(fields[11]) + int(fields[12])) for fields in stats) / os.sysconf("SC_CLK_TCK")


def _files(server: Server) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


def _client(server: Server) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=200)
    headers = {"Authorization": f"Bearer {server.key}"}
    return httpx.AsyncClient(base_url=server.address, headers=headers, timeout=60, limits=limits)


@contextmanager
def _database(name: str, folder: Path) -> Iterator[tuple[str | None, tuple[float, float]]]:
    """Its address, and p50 and p99 of a durable commit through its driver."""
    if name == "sqlite":
        yield None, _commits(_sqlite(folder / "raw.sqlite3"), "?")
        return
    with postgres.running_server() as server:
        with psycopg.connect(postgres.create_database(server, "raw"), autocommit=True) as connection:
            commits = _commits(connection, "%s")
        yield postgres.create_database(server, "load"), commits


def _sqlite(path: Path) -> Any:
    connection = sqlite_driver().connect(str(path), isolation_level=None)
    for setting in ("journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {setting}")
    return connection


def _commits(connection: Any, mark: str) -> tuple[float, float]:
    connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, value DOUBLE PRECISION)")
    times = []
    for number in range(COMMITS):
        begun = perf_counter()
        connection.execute(f"INSERT INTO t VALUES ({mark}, {mark})", (number, number / 7))  # noqa: S608
        times.append(1000 * (perf_counter() - begun))
    return float(np.quantile(times, 0.5)), float(np.quantile(times, 0.99))


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__.splitlines()[0])
    parser.add_argument("--rates", type=float, nargs="+", default=[10, 20, 40, 80, 160], help="requests a second")
    parser.add_argument("--seconds", type=float, default=20, help="at each rate")
    parser.add_argument("--streams", type=int, default=20, help="open all the while")
    parser.add_argument("--databases", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite", "postgresql"])
    parser.add_argument("--soak", type=int, default=0, metavar="MINUTES", help="at the first rate, a line a minute")
    return parser


if __name__ == "__main__":
    sys.exit(main())
