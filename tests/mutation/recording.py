"""Which tests run which lines: measured once by coverage, and kept until it is measured again."""

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest
from coverage import Coverage, CoverageData

from tests.mutation.mutants import FOLDERS, ROOT

DATA = ROOT / ".mutation/coverage"
TESTS = ("tests/api", "tests/services", "tests/storage")
# Left out: PostgreSQL (the same tests run on SQLite), lists of 100,000 rows, and what takes long for other reasons.
CHOSEN = "not postgresql and not 100k and not 100_000"
SLOW = ("any_request", "slow_senders", "full_disk", "threads", "openapi", "live")
SETTINGS = f"""[run]
source = {",".join(FOLDERS)}
concurrency = thread
data_file = {DATA}
"""


@dataclass(frozen=True)
class Recording:
    data: CoverageData

    def tests_of(self, path: str, line: int) -> list[str]:
        """The tests that run a line, most specific first."""
        tests = self._by_line(path).get(line, [])
        return sorted((test for test in tests if test), key=lambda test: self._sizes[test])

    def _by_line(self, path: str) -> dict[int, list[str]]:
        return self.data.contexts_by_lineno(str(ROOT / path))

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """How many lines each test runs."""
        sizes: dict[str, int] = defaultdict(int)
        for file in self.data.measured_files():
            for tests in self.data.contexts_by_lineno(file).values():
                for test in tests:
                    sizes[test] += 1
        return sizes


def selected() -> list[str]:
    """The files whose tests are run."""
    files = (file for folder in TESTS for file in (ROOT / folder).rglob("test_*.py"))
    return sorted(str(file.relative_to(ROOT)) for file in files if not any(word in file.name for word in SLOW))


def recorded() -> Recording:
    data = CoverageData(str(DATA))
    data.read()
    return Recording(data)


def record(files: Sequence[str]) -> None:
    """Run all tests once, on every core, and note the lines of each."""
    DATA.parent.mkdir(exist_ok=True)
    settings = DATA.with_name("settings.ini")
    settings.write_text(SETTINGS)
    cores = os.cpu_count() or 1
    coverage = (sys.executable, "-m", "coverage")
    pytest_options = ("-m", "pytest", "-p", __name__, "-n", "0", "-q", "-p", "no:cacheprovider", "-k", CHOSEN)
    recorders = [
        subprocess.Popen(
            (*coverage, "run", f"--rcfile={settings}", "--parallel-mode", *pytest_options, *files[core::cores]),
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
        )
        for core in range(cores)
    ]
    failed = [recorder.wait() for recorder in recorders]
    if any(failed):
        raise SystemExit("Some tests fail without any mutant: see to them first.")
    subprocess.run((*coverage, "combine", f"--rcfile={settings}"), cwd=ROOT, check=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """While this module is a plugin: whatever runs until a test is over belongs to it, in any thread."""
    running: Any = Coverage.current()
    if running is not None:
        running.switch_context(item.nodeid)
    result = yield
    if running is not None:
        running.switch_context("")
    return result
