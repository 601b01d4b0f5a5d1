"""Runs tests against mutants: collected once, and then in a fork of this process for each mutant.

A fork replaces the code of the functions that a mutant changes, wherever they were imported to, so nothing is loaded
again. This is a pytest plugin; `python -m tests.mutation` starts it.
"""

import gc
import os
import resource
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep
from types import CodeType, FunctionType

import pytest

from tests.mutation.mutants import ROOT, Mutant
from tests.mutation.recording import Recording

KILLED, SURVIVED, NOT_REPLACED = 1, 0, 3
# Without the plugin that prints, which the options of every day in pyproject.toml need.
OPTIONS = ("-n", "0", "-p", "no:cacheprovider", "-p", "no:terminal", "-o", "addopts=--import-mode=importlib")
MOST_TESTS = 40  # of a mutant
MOST_CPU_SECONDS = 120  # of a mutant: then it is one that never ends
MOST_SECONDS = 900.0  # of a mutant that waits for something, on a busy machine


@dataclass
class MutantRun:
    """What became of each mutant, until the time is over."""

    mutants: Sequence[Mutant]
    recording: Recording
    end: float
    killed: list[Mutant] = field(default_factory=list)
    survived: list[Mutant] = field(default_factory=list)
    unreached: list[Mutant] = field(default_factory=list)  # no test runs the line
    not_replaced: list[Mutant] = field(default_factory=list)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        for mutant in self.mutants:
            if monotonic() > self.end:
                break
            tests = [items[test] for test in self.recording.tests_of(mutant.path, mutant.line) if test in items]
            if not tests:
                self.unreached.append(mutant)
                continue
            status = _status_of(mutant, most_telling(tests))
            outcomes = {SURVIVED: self.survived, NOT_REPLACED: self.not_replaced}
            outcomes.get(status, self.killed).append(mutant)
            _tell(mutant, status, len(tests))
        return True


def most_telling(tests: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Those that run the least other code, and as many of the rest, evenly chosen."""
    half = MOST_TESTS // 2
    specific, rest = tests[:half], tests[half:]
    return [*specific, *rest[:: max(1, -(-len(rest) // half))]]


def _tell(mutant: Mutant, status: int, tests: int) -> None:
    word = {SURVIVED: "SURVIVED", NOT_REPLACED: "not replaced"}.get(status, "killed")
    sys.__stdout__.write(f"{word:12} {tests:4} tests  {mutant}\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


def _status_of(mutant: Mutant, tests: Sequence[pytest.Item]) -> int:
    child = os.fork()
    if child == 0:
        os.setsid()
        _run(mutant, tests)
    end = monotonic() + MOST_SECONDS
    while monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return KILLED


def _run(mutant: Mutant, tests: Sequence[pytest.Item]) -> None:
    """In the fork: never returns."""
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_SECONDS, MOST_CPU_SECONDS))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    try:
        if not replace_code(mutant):
            os._exit(NOT_REPLACED)
        tests[0].config.pluginmanager.register(_FirstFailure())
        for test, following in zip(tests, [*tests[1:], None], strict=True):
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
    except BaseException:
        os._exit(KILLED)
    os._exit(SURVIVED)


class _FirstFailure:
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os._exit(KILLED)


def replace_code(mutant: Mutant) -> int:
    """Give every function of the mutant's file the code it has there; how many functions changed."""
    file = str(ROOT / mutant.path)
    codes = {_place(code): code for code in _codes(compile(mutant.source, file, "exec"))}
    changed = 0
    gc.unfreeze()  # what tests/conftest.py froze would not be found
    for function in [found for found in gc.get_objects() if isinstance(found, FunctionType)]:
        if function.__code__.co_filename == file:
            code = codes.get(_place(function.__code__))
            if code is not None and code != function.__code__:
                function.__code__ = code
                changed += 1
    return changed


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _place(code: CodeType) -> tuple[str, int, tuple[str, ...]]:
    return code.co_qualname, code.co_firstlineno, code.co_freevars
