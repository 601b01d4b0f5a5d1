"""Plants mutants for some minutes, and prints how many of them the tests have killed."""

import argparse
import os
import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from secrets import randbelow
from time import monotonic

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import pytest
from rich.console import Console

from tests.mutation import recording
from tests.mutation.mutants import FOLDERS, sampled
from tests.mutation.running import OPTIONS, MutantRun

console = Console(highlight=False, markup=False, soft_wrap=True)
LEAST = 0.85  # share of the mutants that the tests are to kill
EQUIVALENT = Path(__file__).with_name("equivalent.txt")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    seed = randbelow(10**6) if options.seed is None else options.seed
    files = recording.selected()
    if options.record or not recording.DATA.exists():
        recording.record(files)
    chosen = [mutant for mutant in sampled(seed) if mutant.path.startswith(tuple(options.only))]
    end = monotonic() + 60 * options.minutes
    part, parts = options.part
    run = MutantRun(chosen[: options.mutants][part - 1 :: parts], recording.recorded(), end)
    console.print(f"seed {seed}, {len(chosen)} places, {options.minutes:g} minutes")
    ended = pytest.main([*OPTIONS, "-k", recording.CHOSEN, *files], plugins=[run])
    return 0 if tell(run) and ended in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) else 1


def tell(run: MutantRun) -> bool:
    """Print what became of them; whether the tests may well kill as many as they are to kill."""
    equivalent = set(EQUIVALENT.read_text().splitlines())
    left = [mutant for mutant in (*run.survived, *run.unreached) if mutant.name not in equivalent]
    killed, tried = len(run.killed), len(run.killed) + len(left)
    for folder in FOLDERS:
        of_folder = [sum(mutant.path.startswith(folder) for mutant in mutants) for mutants in (run.killed, left)]
        console.print(f"{folder}: {of_folder[0]} killed, {of_folder[1]} survived")
    for mutant in left:
        console.print(f"    survived{' (no test runs it)' if mutant in run.unreached else ''}: {mutant}")
    share, error = _share(killed, tried)
    same = len(run.survived) + len(run.unreached) - len(left)
    console.print(
        f"{tried} mutants: {killed} killed, {len(left)} survived, {same} more are equivalent: {share:.1%} ± {error:.1%}"
    )
    return share + error >= LEAST


def _share(killed: int, tried: int) -> tuple[float, float]:
    """The share of killed mutants, and the half-width of its 95 % interval."""
    share = killed / max(1, tried)
    return share, 1.96 * sqrt(share * (1 - share) / max(1, tried))


def _part(words: str) -> tuple[int, int]:
    part, _, parts = words.partition("/")
    return int(part), int(parts)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="for the mutants (default: 10)")
    parser.add_argument("--mutants", type=int, help="at most so many")
    parser.add_argument("--part", type=_part, default=(1, 1), metavar="K/N", help="every Nth of them, from the Kth")
    parser.add_argument("--only", nargs="+", default=FOLDERS, metavar="FOLDER", help="or file, within the repository")
    parser.add_argument("--seed", type=int, help="of an earlier run, to repeat it")
    parser.add_argument("--record", action="store_true", help="note anew which tests run which lines")
    return parser


if __name__ == "__main__":
    sys.exit(main())
