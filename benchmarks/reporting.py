"""Durable results a second, one by one and in bulk, against the least any durable store needs: a commit each."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
import psycopg

from app.storage.dialects import sqlite_driver
from benchmarks.asking import Figures, client_of
from tests import postgres
from tests.server import running

POSTS, THREADS, BULK = 300, 8, 100_000
LIST = "key,t\n" + "".join(f"K{n},{n}\n" for n in range(1_000))


def reporting(folder: Path) -> dict[str, Figures]:
    with postgres.running_server() as server:
        address = postgres.create_database(server, "reports")
        raw = postgres.create_database(server, "raw")
        return {
            "results a second, SQLite": _rates(folder / "sqlite", None, lambda: _raw_sqlite(folder)),
            "results a second, PostgreSQL": _rates(folder / "postgresql", address, lambda: _raw_postgresql(raw)),
        }


def _rates(folder: Path, address: str | None, raw: Callable[[], float]) -> Figures:
    with running(folder, address) as server, client_of(server) as client:
        client.put("/studies/s", json={}).raise_for_status()
        headers = {"Content-Type": "text/csv"}
        client.put("/studies/s/candidates", content=LIST, headers=headers).raise_for_status()

        def post(number: int) -> httpx.Response:
            line = {"candidate": f"K{number % 1000}", "value": number / 7, "ref": str(number)}
            return client.post("/studies/s/observations", json=line).raise_for_status()

        commits = raw()
        one = _rate(POSTS, lambda: [post(number) for number in range(POSTS)])
        with ThreadPoolExecutor(THREADS) as pool:
            many = _rate(POSTS, lambda: list(pool.map(post, range(POSTS, 2 * POSTS))))
        lines = [{"candidate": f"K{n % 1000}", "value": n / 3} for n in range(BULK)]
        body = {"observations": lines}
        bulk = _rate(BULK, lambda: client.post("/studies/s/observations", json=body).raise_for_status())
    return {
        "commits of the raw driver": commits,
        "one by one": one,
        "raw / one by one": commits / one,
        f"{THREADS} at once": many,
        f"{BULK} in one call": bulk,
        "in bulk / one by one": bulk / one,
    }


def _rate(count: int, work: Callable[[], Any]) -> float:
    started = perf_counter()
    work()
    return count / (perf_counter() - started)


def _raw_sqlite(folder: Path) -> float:
    connection: Any = sqlite_driver().connect(str(folder / "raw.sqlite3"), isolation_level=None)
    for setting in ("journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, value REAL)")

    def commit() -> None:
        for number in range(POSTS):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO t VALUES (?, ?)", (number, number / 7))
            connection.execute("COMMIT")

    rate = _rate(POSTS, commit)
    connection.close()
    return rate


def _raw_postgresql(address: str) -> float:
    with _connected(address) as connection:
        connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, value DOUBLE PRECISION)")

        def commit() -> None:
            for number in range(POSTS):
                connection.execute("INSERT INTO t VALUES (%s, %s)", (number, number / 7))

        return _rate(POSTS, commit)


@contextmanager
def _connected(address: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(address, autocommit=True) as connection:
        yield connection
