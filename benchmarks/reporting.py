"""Durable results a second, one by one and in bulk, beside a commit each of the raw driver; and polls of a summary."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import httpx
import psycopg

from app.storage.dialects import sqlite_driver
from benchmarks.asking import client_of
from benchmarks.reporters import LIST, Figures, polls, processor_seconds, reports
from benchmarks.storing import PEERS, rate_of
from tests import postgres
from tests.server import Server, running

COMMITS, BULK, SECONDS = 300, 100_000, 5.0
CLIENTS, WORKERS = (1, 8, 32), (1, 2)
POLLERS = 200
SETTLED = 3.0  # seconds until the compute workers have loaded what they need, which would count as the reports' time


def reporting(folder: Path, seconds: float = SECONDS) -> dict[str, Figures]:
    with postgres.running_server() as server:
        raw = postgres.create_database(server, "raw")
        ours = {workers: postgres.create_database(server, f"reports{workers}") for workers in WORKERS}
        return {
            **_database("SQLite", folder / "sqlite", dict.fromkeys(WORKERS), lambda: _raw_sqlite(folder), seconds),
            **_peers(folder, seconds),
            **_database("PostgreSQL", folder / "postgresql", ours, lambda: _raw_postgresql(raw), seconds),
        }


def _database(
    name: str, folder: Path, addresses: Mapping[int, str | None], raw: Callable[[], float], seconds: float
) -> dict[str, Figures]:
    """Single reports by rising numbers of clients and workers, each beside the raw driver at that moment; then bulk."""
    figures: dict[str, Figures] = {}
    for workers in WORKERS:
        with _begun(folder / str(workers), addresses[workers], workers) as (server, client):
            for clients in CLIENTS:
                measured, commits = reports(server, "s", clients, seconds), raw()
                beside = {"commits of the raw driver": commits, "of the raw driver": measured["a second"] / commits}
                figures[f"reports, {name}, {workers} workers, {clients} clients"] = {**measured, **beside}
            if workers == 1:
                figures |= {f"{what}, {name}": part for what, part in _others(server, client, seconds).items()}
    return figures


def _others(server: Server, client: httpx.Client, seconds: float) -> dict[str, Figures]:
    path = "/v1/studies/s/summary"
    etag = client.get("/studies/s/summary").raise_for_status().headers["ETag"]
    return {
        f"summary, {POLLERS} pollers, 304": polls(server, path, etag, POLLERS, seconds),
        f"summary, {POLLERS} pollers, 200": polls(server, path, None, POLLERS, seconds),
        f"{BULK} results in one call": _bulk(server, client, "many"),
        f"{BULK} results in one call, with a note each": _bulk(server, client, "notes", note="by robot"),
    }


def _bulk(server: Server, client: httpx.Client, study: str, **more: str) -> Figures:
    """A whole table in one call into an empty study; its JSON is written before the clock starts."""
    _create(client, study)
    lines = [{"candidate": f"K{n % 1000}", "value": (n * 7919 % BULK) / 3, **more} for n in range(BULK)]
    body = json.dumps({"observations": lines}).encode()
    headers, before = {"Content-Type": "application/json"}, processor_seconds(server.process.pid)
    path = f"/studies/{study}/observations"
    rate = _rate(BULK, lambda: client.post(path, content=body, headers=headers).raise_for_status())
    used = processor_seconds(server.process.pid) - before
    return {"a second": rate, "a second of the processor": BULK / used}


def _peers(folder: Path, seconds: float) -> dict[str, Figures]:
    rates = {peer: rate_of(peer, folder, seconds) for peer in PEERS}
    return {f"results stored, {peer}, SQLite": {"a second": rate} for peer, rate in rates.items() if rate is not None}


@contextmanager
def _begun(folder: Path, address: str | None, workers: int) -> Iterator[tuple[Server, httpx.Client]]:
    """A server with a study, and a client of it."""
    settings = {"NEXTBATCH_MAX_REQUESTS_PER_SECOND": "0"}
    with running(folder, address, workers, **settings) as server, client_of(server) as client:
        _create(client, "s")
        sleep(SETTLED)
        yield server, client


def _create(client: httpx.Client, study: str) -> None:
    client.put(f"/studies/{study}", json={"repeats": "allowed"}).raise_for_status()
    headers = {"Content-Type": "text/csv"}
    client.put(f"/studies/{study}/candidates", content=LIST, headers=headers).raise_for_status()


def _rate(count: int, work: Callable[[], Any]) -> float:
    started = perf_counter()
    work()
    return count / (perf_counter() - started)


def _raw_sqlite(folder: Path) -> float:
    connection: Any = sqlite_driver().connect(str(folder / "raw.sqlite3"), isolation_level=None)
    for setting in ("journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, value REAL)")

    def commit() -> None:
        for number in range(COMMITS):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO t (value) VALUES (?)", (number / 7,))
            connection.execute("COMMIT")

    rate = _rate(COMMITS, commit)
    connection.close()
    return rate


def _raw_postgresql(address: str) -> float:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS t (n SERIAL PRIMARY KEY, value DOUBLE PRECISION)")

        def commit() -> None:
            for number in range(COMMITS):
                connection.execute("INSERT INTO t (value) VALUES (%s)", (number / 7,))

        return _rate(COMMITS, commit)
