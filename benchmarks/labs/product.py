"""Ours as people use it: the public Python client against a running server."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Literal
from uuid import uuid4

import numpy as np

from app.arrays import IndexArray
from app.engine.auto import Observed
from benchmarks.labs.policies import Policy
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.tables import Table
from nextbatch import Client, Study, SyncConnection
from tests.server import running

Noise = Literal["auto", "none"]


@dataclass(frozen=True)
class Service:
    """A running server and a client of it."""

    client: Client
    process: int

    def begin(self, table: Table, seed: int, noise: Noise) -> Study[SyncConnection]:
        """A study of the table; nothing else is set."""
        name = f"{table.name}-{uuid4().hex[:8]}"
        study = self.client.create_study(name, direction=table.direction, seed=seed, noise=noise)
        study.upload(_rows(table), text=[column.name for column in table.columns if column.kind == "text"])
        return study

    def processor(self) -> float:
        """Seconds of processor time of the server and of this process, which is the client."""
        user, system = Path(f"/proc/{self.process}/stat").read_text().split()[13:15]
        return process_time() + (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def peak(self) -> float:
        """The server's largest memory so far, in bytes."""
        status = dict(line.split(":", 1) for line in Path(f"/proc/{self.process}/status").read_text().splitlines())
        return float(status["VmHWM"].split()[0]) * 1024


@contextmanager
def serving() -> Iterator[Service]:
    """A server on an empty database, for as long as the block lasts."""
    with (
        TemporaryDirectory(prefix="nextbatch-labs-") as folder,
        running(Path(folder)) as server,
        Client(server.address, server.key) as client,
    ):
        yield Service(client, server.process.pid)


class Nextbatch(Policy):
    """A study on the server in auto mode, beginning with its own first batch or with the one given."""

    def __init__(
        self, service: Service, table: Table, protocol: Protocol, seed: int, first: IndexArray | None = None
    ) -> None:
        self._service, self._first, self._told = service, first, 0
        self._study = service.begin(table, seed, "auto" if protocol.noisy else "none")

    def ask(self, observed: Observed, size: int) -> IndexArray:
        """The first batch may be larger, as the server likes."""
        if observed.size == 0 and self._first is not None:
            return self._first
        self._report(observed)
        batch = self._study.ask(min_size=size, max_size=size if observed.size else None)
        return np.array([int(one.key) for one in batch for _ in range(one.replicates)], dtype=np.int64)

    def recommend(self, observed: Observed) -> int:
        self._report(observed)
        found = self._study.certificate().certificate
        if found is None:
            raise LookupError("no certificate")
        return int(found.key)

    def processor(self) -> float:
        return self._service.processor()

    def _report(self, observed: Observed) -> None:
        """What is new."""
        pairs = zip(observed.numbers[self._told :], observed.values[self._told :], strict=True)
        if lines := [{"key": str(number), "value": float(value)} for number, value in pairs]:
            self._study.report(lines)
        self._told = observed.size


def _rows(table: Table) -> list[dict[str, float | str]]:
    """A row for each candidate; its key is its number."""
    names = ["key", *(column.name for column in table.columns)]
    keys = map(str, range(len(table.truth)))
    return [dict(zip(names, row, strict=True)) for row in zip(keys, *table.cells(), strict=True)]
