"""The keys of candidates, the lab's own names for them: present, printable and unique."""

from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.arrays import IndexArray
from app.services.intake.cell_types import Flaw, TextCells
from app.services.intake.columns import name_flaw
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import IntakeLimits
from app.storage.packed_strings import PackedStrings


def keys_from_lines(path: Path) -> PackedStrings:
    """The keys in a UTF-8 text file, one per line; the last line may end without a line feed."""
    content = np.fromfile(path, dtype=np.uint8)
    if content[:3].tobytes() == BOM_UTF8:
        content = content[3:]
    try:
        if len(content) and content.max() > 127:
            content.tobytes().decode()
    except UnicodeDecodeError as error:
        row = error.object[: error.start].count(b"\n") + 1
        raise refuse("not-utf-8", "This line is not UTF-8. Save the keys as text in UTF-8.", row=row) from None
    return PackedStrings.of_lines(content)


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


def check_packed_keys(keys: PackedStrings, first_row: int, limits: IntakeLimits, findings: Findings) -> None:
    """As `check_keys`, for keys that stay packed: only those that are not plain ASCII are read one by one."""
    rows_by_flaw: dict[Flaw, list[int]] = {}
    for row in _unusual_rows(keys, limits).tolist():
        if flaw := _key_flaw(keys[row], limits):
            rows_by_flaw.setdefault(flaw, []).append(row + first_row)
    for flaw, rows in rows_by_flaw.items():
        findings.errors_in_rows(f"key-{flaw.code}", f"The key {flaw.message}", np.array(rows), None)
    for earlier, later in keys.repeats():
        if keys[later]:  # an empty key is an error already
            _report_repeated_key(earlier + first_row, later + first_row, None, findings)


def _unusual_rows(keys: PackedStrings, limits: IntakeLimits) -> IndexArray:
    """The keys that may have a flaw: other than 1 to some printable characters of ASCII without a space or a dot."""
    unusual = (keys.lengths < 1) | (keys.lengths > limits.key_length)
    places = np.flatnonzero((keys.content <= ord(" ")) | (keys.content == ord(".")) | (keys.content > ord("~")))
    unusual[np.searchsorted(keys.ends, places, "right")] = True
    return np.flatnonzero(unusual)


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
        _report_repeated_key(first_positions[code] + first_row, position + first_row, column, findings)


def _report_repeated_key(earlier: int, later: int, column: str | None, findings: Findings) -> None:
    message = f"Rows {earlier} and {later} have the same key. Rename one of them, or delete one row."
    findings.error("key-twice", message, row=later, column=column)
