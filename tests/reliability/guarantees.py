"""The table in docs/guarantees.md: one row a promise, of the last run that tried it."""

import re
from collections.abc import Sequence
from pathlib import Path

from tests.reliability.promise import Count, Promise

DOCUMENT = Path(__file__).parents[2] / "docs/guarantees.md"
BEGIN, END = "<!-- promises -->\n", "<!-- /promises -->"
HEADER = (
    "| # | promise | how it is tested | tried | broken | 95 % bound | full count |\n|---|---|---|---|---|---|---|\n"
)


def row(promise: Promise, count: Count) -> str:
    also = "".join(f", {value:,} {name}" for name, value in count.details.items())
    also += "".join(f"; {name} after {value:.1f} s at the slowest" for name, value in count.slowest.items())
    cells = (
        str(promise.number),
        promise.words,
        f"{promise.tested} Caught when planted: {', '.join(promise.teeth)}.",
        f"{count.cases:,} {promise.unit}{also}",
        str(len(count.violations)),
        f"{count.bound:.1g}",
        f"{promise.full:,} {promise.unit}",
    )
    return f"| {' | '.join(cells)} |"


def written(document: str, rows: Sequence[str]) -> str:
    """The document with these rows; those of promises that were not tried stay as they are."""
    before, table, after = re.split(f"{BEGIN}|{END}", document)
    by_number = {_number(line): line for line in (*table.splitlines()[2:], *rows)}
    lines = "".join(f"{by_number[number]}\n" for number in sorted(by_number))
    return f"{before}{BEGIN}{HEADER}{lines}{END}{after}"


def _number(line: str) -> int:
    return int(line.split("|")[1])
