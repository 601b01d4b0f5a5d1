"""The keys of candidates, the lab's own names for them: present, printable and unique."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.services.intake.cell_types import Flaw, TextCells
from app.services.intake.columns import name_flaw
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import IntakeLimits


def keys_from_lines(path: Path) -> list[str]:
    """The keys in a UTF-8 text file, one per line; the last line may end without a line feed."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = error.object[: error.start].count(b"\n") + 1
        raise refuse("not-utf-8", "This line is not UTF-8. Save the keys as text in UTF-8.", row=row) from None
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def check_key_count(keys: Sequence[str], rows: int, findings: Findings) -> None:
    """Keys in a file of their own are as many as the rows they name."""
    if len(keys) != rows:
        message = (
            f"Keys and rows differ in number: {len(keys):,} and {rows:,}. Give one key per row, in the same order."
        )
        findings.error("key-count", message)


def check_keys(
    texts: TextCells, column: str | None, first_row: int, limits: IntakeLimits, findings: Findings
) -> list[str]:
    """The keys, one per row; a repeated key is an error that names both rows."""
    for flaw, rows in texts.rows_by_flaw(lambda key: _key_flaw(key, limits)).items():
        findings.errors_in_rows(f"key-{flaw.code}", f"The key {flaw.message}", rows + first_row, column)
    if len(texts.levels) < len(texts.codes):
        _report_repeated_keys(texts, column, first_row, findings)
    return [texts.levels[code] for code in texts.codes.tolist()]


def _key_flaw(key: str, limits: IntakeLimits) -> Flaw | None:
    """What is wrong with a key. Each must have an address, and these two mean folders there."""
    if key in (".", ".."):
        return Flaw("dots", "is only dots, so no address can name it. Choose another.")
    return name_flaw(key, limits.key_length)


def _report_repeated_keys(texts: TextCells, column: str | None, first_row: int, findings: Findings) -> None:
    _, first_positions = np.unique(texts.codes, return_index=True)
    repeats = np.setdiff1d(np.arange(len(texts.codes)), first_positions)
    for position in repeats.tolist():
        code = texts.codes[position]
        if not texts.levels[code]:
            continue  # an empty key is an error already
        earlier, later = first_positions[code] + first_row, position + first_row
        message = f"Rows {earlier} and {later} have the same key. Rename one of them, or delete one row."
        findings.error("key-twice", message, row=later, column=column)
