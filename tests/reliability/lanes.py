"""Several processes that try to break one promise at the same time, each with a seed and databases of its own."""

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context

from tests.databases import Databases, some_databases
from tests.reliability.promise import Budget, Count, Promise, every_promise

APART = 1_000_000  # seeds of one lane and of the next; harnesses count up from theirs


@dataclass(frozen=True)
class Lanes:
    number: int
    pool: Executor
    databases: Databases

    def prove(self, promise: Promise, seconds: float, seed: int) -> Count:
        if not promise.parallel or self.number == 1:
            return promise.prove(Budget(seconds=seconds), seed, self.databases)
        server = self.databases.postgres_server
        seeds = [seed + APART * lane for lane in range(self.number)]
        tries = [self.pool.submit(_try, promise.number, seconds, one, server) for one in seeds]
        return sum((one.result() for one in tries), Count(0))


@contextmanager
def opened(number: int | None = None) -> Iterator[Lanes]:
    """As many as there are cores."""
    number = number or os.cpu_count() or 1
    with some_databases() as databases, ProcessPoolExecutor(number, get_context("spawn")) as pool:
        yield Lanes(number, pool, databases)


def _try(number: int, seconds: float, seed: int, postgres_server: str) -> Count:
    promise = next(promise for promise in every_promise() if promise.number == number)
    with some_databases(postgres_server) as databases:
        count = promise.prove(Budget(seconds=seconds), seed, databases)
    return replace(count, violations=tuple(f"seed {seed}: {words}" for words in count.violations))
