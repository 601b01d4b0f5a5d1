"""The mutation tool itself: it changes what it says, in every place where a function is known, and nothing else."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from types import FunctionType

import pytest

from app.domain.errors import Overloaded
from app.services.memory import MemoryBudget
from tests.mutation.mutants import ROOT, Mutant, mutants_of, sampled
from tests.mutation.running import OPTIONS, replace_code

FILE = ROOT / "app/services/memory.py"


@pytest.fixture
def restored() -> Iterator[None]:
    """The code of the file's functions is again what it was."""
    gc.unfreeze()
    functions = [found for found in gc.get_objects() if isinstance(found, FunctionType)]
    codes = [(found, found.__code__) for found in functions if found.__code__.co_filename == str(FILE)]
    yield
    for function, code in codes:
        function.__code__ = code


def mutant(before: str, after: str) -> Mutant:
    return next(found for found in mutants_of(FILE) if before in found.change[0] and after in found.change[1])


def is_refused(budget: MemoryBudget, size: int) -> bool:
    try:
        with budget.reserve(1), budget.reserve(size):
            return False
    except Overloaded:
        return True


@pytest.mark.usefixtures("restored")
def test_a_mutant_replaces_code_that_others_have_imported() -> None:
    budget = MemoryBudget(100)
    assert not is_refused(budget, 74)
    assert replace_code(mutant("self._reserved + size > most", "self._reserved + size >= most")) == 1
    assert is_refused(budget, 74)


@pytest.mark.usefixtures("restored")
def test_a_mutant_that_changes_nothing_is_told() -> None:
    same = mutant("self._reserved + size > most", "self._reserved + size >= most")
    same.__dict__["source"] = FILE.read_text()
    assert replace_code(same) == 0


def test_mutants_are_in_bodies_of_functions_and_change_one_statement() -> None:
    lines = FILE.read_text().splitlines()
    first_body = next(number for number, line in enumerate(lines, 1) if "def __init__" in line) + 1
    found = list(mutants_of(FILE))
    assert len(found) >= 8
    assert min(one.line for one in found) >= first_body  # not the constants above
    assert all(one.change[0] != one.change[1] for one in found)


def test_a_sample_has_one_mutant_of_each_place_and_depends_on_the_seed() -> None:
    first, again, other = (sampled(seed, [FILE]) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    places = [(one.line, one.column) for one in first]
    assert sorted(places) == sorted({(one.line, one.column) for one in mutants_of(FILE)})


def test_pytest_takes_the_options_of_the_run() -> None:
    """An option that was added in pyproject.toml had ended every run before its first mutant."""
    command = [sys.executable, "-m", "pytest", *OPTIONS, "--collect-only", "tests/mutation"]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0
