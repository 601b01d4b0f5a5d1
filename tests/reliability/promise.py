"""A promise, a budget to try and break it, and what came of it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import count
from math import inf
from pkgutil import iter_modules
from time import monotonic

from tests.databases import DIALECTS, Databases
from tests.reliability import promises


@dataclass(frozen=True)
class Budget:
    """So many cases, or as many as fit into some seconds, but one at least: `for case in budget`."""

    cases: int | None = None
    seconds: float = inf

    def __iter__(self) -> Iterator[int]:
        end = monotonic() + self.seconds
        for case in count() if self.cases is None else range(self.cases):
            if case and monotonic() >= end:
                return
            yield case

    def divided(self, parts: int) -> "Budget":
        """The same number of cases, in a part of the time."""
        return replace(self, seconds=self.seconds / parts)


@dataclass(frozen=True)
class Count:
    """How often it was tried, what was found broken, and what else was counted on the way."""

    cases: int
    violations: tuple[str, ...] = ()
    details: dict[str, int] = field(default_factory=dict)
    slowest: dict[str, float] = field(default_factory=dict)  # in seconds: measured and told, never judged

    @property
    def bound(self) -> float:
        """With 95 % confidence a case breaks the promise more rarely than this (when none did)."""
        return 3 / self.cases if self.cases else 1.0

    def __add__(self, other: "Count") -> "Count":
        details = {
            name: self.details.get(name, 0) + other.details.get(name, 0) for name in self.details | other.details
        }
        slowest = {
            name: max(self.slowest.get(name, 0), other.slowest.get(name, 0)) for name in self.slowest | other.slowest
        }
        return Count(self.cases + other.cases, (*self.violations, *other.violations), details, slowest)


Prove = Callable[[Budget, int, Databases], Count]
Tooth = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True)
class Promise:
    number: int  # its row in the table of promises
    words: str
    tested: str  # how, in a sentence
    unit: str  # what a case is, in the plural
    full: int  # the cases of a full run
    prove: Prove
    teeth: Mapping[str, Tooth]
    short: int = 2  # the cases of the short form
    bite: int | None = None  # the cases in which a tooth must be found, if they are fewer
    share: float = 1.0  # of the minutes, relative to the others
    parallel: bool = False  # one try keeps one core busy: so many are made at the same time as there are cores


def on_each_database(prove: Callable[[Budget, int, str], Count]) -> Prove:
    """From a harness of one fresh database, given by its address, one that tries both kinds.

    What is broken on the first is found: the second would only take its time.
    """

    def prove_both(budget: Budget, seed: int, databases: Databases) -> Count:
        count = Count(0)
        for dialect in DIALECTS:
            if count.violations:
                break
            with databases.fresh(dialect) as address:
                count += prove(budget.divided(len(DIALECTS)), seed, address)
        return count

    return prove_both


def every_promise() -> list[Promise]:
    """Those of all modules in `promises`, by number."""
    modules = (import_module(f"{promises.__name__}.{found.name}") for found in iter_modules(promises.__path__))
    return sorted((module.PROMISE for module in modules), key=lambda promise: promise.number)
