"""The candidates' own names: present, printable and unique."""

from collections.abc import Sequence

import numpy as np

from app.services.intake.cells import Texts
from app.services.intake.findings import Findings
from app.services.intake.limits import Limits
from app.services.intake.names import flaw


def check_keys(texts: Texts, column: str | None, first_row: int, limits: Limits, findings: Findings) -> list[str]:
    """The keys, one per row; a repeated one is an error that names both rows."""
    for (code, message), rows in texts.flawed(lambda key: flaw(key, limits.key_length)).items():
        findings.errors_in_rows(f"key-{code}", f"the key {message}", rows + first_row, column)
    if len(texts.levels) < len(texts.codes):
        _name_repeated(texts, column, first_row, findings)
    return [texts.levels[code] for code in texts.codes.tolist()]


def _name_repeated(texts: Texts, column: str | None, first_row: int, findings: Findings) -> None:
    _, first = np.unique(texts.codes, return_index=True)
    repeats = np.setdiff1d(np.arange(len(texts.codes)), first)
    for position in repeats.tolist():
        if texts.levels[texts.codes[position]]:
            findings.error(
                "key-twice",
                f"rows {first[texts.codes[position]] + first_row} and {position + first_row} have the same key;"
                " keep one or rename it",
                row=position + first_row,
                column=column,
            )


def check_count(keys: Sequence[str], rows: int, findings: Findings) -> None:
    """Keys that came apart from the rows must be as many."""
    if len(keys) != rows:
        findings.error("key-count", f"{len(keys)} keys for {rows} rows; give one per row, in the same order")
