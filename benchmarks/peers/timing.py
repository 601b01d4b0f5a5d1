"""Seconds to record n results and to ask for q candidates, and the most memory, each in a process of its own."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from app.arrays import IndexArray
from app.engine import rng_at
from benchmarks.labs.policies import sign_of
from benchmarks.labs.product import Service, serving
from benchmarks.labs.tables import Table
from benchmarks.peers.catalogue import CATALOGUE, Listed
from benchmarks.peers.link import Link, PeerError, given

LIBRARY, SERVICE = "nextbatch, library", "nextbatch, HTTP"
EVERYBODY = (LIBRARY, SERVICE, *CATALOGUE)


@dataclass(frozen=True)
class Timing:
    """Wall and processor seconds; `peak` in bytes; `error` if it did not get that far."""

    who: str
    table: str
    candidates: int
    n: int
    q: int
    record: tuple[float, float] = (float("nan"), float("nan"))
    ask: tuple[float, float] = (float("nan"), float("nan"))
    peak: float = float("nan")
    error: str = ""

    @property
    def key(self) -> tuple[str, str, int, int]:
        return self.who, self.table, self.n, self.q


def timed(who: str, table: Table, n: int, q: int, patience: float) -> Timing:
    """Random candidates are recorded, then a batch is asked for; a small study warms the process up before."""
    rows = rng_at(0, f"timing {table.name}", 0).permutation(len(table.truth))[:n].astype(np.int64)
    study = Timing(who, table.name, len(table.truth), n, q)
    try:
        figures = _service(table, rows, q) if who == SERVICE else _worker(who, table, rows, q, patience)
    except PeerError as error:
        return replace(study, error=str(error).strip().splitlines()[-1])
    return replace(study, **figures)


def _worker(who: str, table: Table, rows: IndexArray, q: int, patience: float) -> dict[str, Any]:
    listed = CATALOGUE.get(who, Listed("nextbatch"))
    with Link(listed.adapter, Path(sys.executable) if who == LIBRARY else None, patience) as link:
        _asked(link, listed.variant, _small(table, rows), np.arange(10), 2)
        return _asked(link, listed.variant, table, rows, q)


def _asked(link: Link, variant: str, table: Table, rows: IndexArray, q: int) -> dict[str, Any]:
    link.start(variant=variant, noisy=False, seed=0, **given(table))
    values = (sign_of(table) * table.truth[rows]).tolist()
    record = _spent(lambda: link.call("tell", rows=rows.tolist(), values=values), lambda: link.processor)
    ask = _spent(lambda: link.call("ask", q=q), lambda: link.processor)
    return {"record": record, "ask": ask, "peak": link.peak}


def _service(table: Table, rows: IndexArray, q: int) -> dict[str, Any]:
    with serving() as service:
        _asked_over_http(service, _small(table, rows), np.arange(10), 2)
        return _asked_over_http(service, table, rows, q)


def _asked_over_http(service: Service, table: Table, rows: IndexArray, q: int) -> dict[str, Any]:
    study = service.begin(table, 0, "none")
    lines = [{"key": str(row), "value": float(table.truth[row])} for row in rows]
    record = _spent(lambda: study.report(lines), service.processor)
    ask = _spent(lambda: study.ask(min_size=q, max_size=q), service.processor)
    return {"record": record, "ask": ask, "peak": service.peak()}


def _small(table: Table, rows: IndexArray) -> Table:
    return table.permuted(rows[:50])


def _spent(work: Callable[[], Any], processor: Callable[[], float]) -> tuple[float, float]:
    began = perf_counter(), processor()
    work()
    return perf_counter() - began[0], processor() - began[1]
