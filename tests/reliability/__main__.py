"""Tries to break every promise for some minutes; prints the table and writes it into docs/guarantees.md."""

import argparse
import os
import sys
from collections.abc import Sequence
from secrets import randbelow

from rich.console import Console

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

from tests.reliability import lanes
from tests.reliability.guarantees import DOCUMENT, row, written
from tests.reliability.promise import Count, Promise, every_promise

console = Console(highlight=False, width=160)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    promises = [promise for promise in every_promise() if not options.only or promise.number in options.only]
    seed = randbelow(10**6) if options.seed is None else options.seed
    console.print(f"seed {seed}, {options.minutes:g} minutes, {len(promises)} promises")
    counts = _prove(promises, options.minutes * 60, seed, keep=not options.dry)
    violations = sum(len(count.violations) for _, count in counts)
    console.print(f"{sum(count.cases for _, count in counts):,} cases, {violations} violations")
    return min(violations, 1)


def _prove(promises: Sequence[Promise], seconds: float, seed: int, *, keep: bool) -> list[tuple[Promise, Count]]:
    """Each row is kept as soon as it is known: a run that is ended early has shown what it has shown."""
    shares, counts = sum(promise.share for promise in promises), []
    with lanes.opened() as processes:
        for promise in promises:
            counts.append((promise, _proved(processes, promise, seconds * promise.share / shares, seed)))
            _tell(*counts[-1])
            if keep:
                DOCUMENT.write_text(written(DOCUMENT.read_text(), [row(*counts[-1])]))
    return counts


def _proved(processes: lanes.Lanes, promise: Promise, seconds: float, seed: int) -> Count:
    """A harness that breaks has shown nothing: that counts as a violation, and the others go on."""
    try:
        return processes.prove(promise, seconds, seed)
    except Exception as error:
        console.print_exception()
        return Count(0, (f"the harness broke: {error!r}",))


def _tell(promise: Promise, count: Count) -> None:
    console.print(row(promise, count), markup=False, soft_wrap=True)
    for violation in count.violations[:20]:
        console.print(f"    VIOLATION: {violation}", markup=False, soft_wrap=True)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="for all promises together (default: 30)")
    parser.add_argument("--only", type=int, nargs="+", metavar="NUMBER", help="of the promises to try")
    parser.add_argument("--seed", type=int, help="of an earlier run, to repeat it")
    parser.add_argument("--dry", action="store_true", help="leave docs/guarantees.md as it is")
    return parser


if __name__ == "__main__":
    sys.exit(main())
