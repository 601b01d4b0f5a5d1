"""How a sheet is laid out: in an order that saves changeovers, and on a plate with a well for every measurement."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.domain.candidates import CellValue
from app.domain.errors import Finding, Invalid

WELL = "well"

Row = Sequence[CellValue]


@dataclass(frozen=True)
class SheetLayout:
    """The order of a sheet, and the plate that it is for: wells in rows A, B, … and columns 1, 2, …"""

    order_by: str | None = None
    rows: int | None = None
    columns: int | None = None

    def of(self, header: list[str], rows: Iterable[Row]) -> tuple[list[str], Iterator[Row]]:
        """The sheet in its order; on a plate, with the well of each measurement in front."""
        if self.order_by is None and self.rows is None:
            return header, iter(rows)
        measurements = _ordered(header, list(rows), self.order_by)
        if self.rows is None or self.columns is None:
            return header, iter(measurements)
        if len(measurements) > self.rows * self.columns:
            message = f"The plate has too few wells for the {len(measurements)} measurements. Use a larger one."
            raise Invalid([Finding("plate", message)])
        name = WELL if WELL not in {column.casefold() for column in header} else f"plate {WELL}"
        wells = _wells(self.rows, self.columns)
        return [name, *header], ([next(wells), *cells] for cells in measurements)


def _ordered(header: Sequence[str], measurements: list[Row], order_by: str | None) -> list[Row]:
    """By one column, so that equal values are next to each other; missing values come last."""
    if order_by is None:
        return measurements
    if order_by not in header:
        raise Invalid([Finding("order_by", "The sheet has no column of this name.")])
    position = header.index(order_by)
    return sorted(measurements, key=lambda cells: _rank(cells[position]))


def _rank(cell: CellValue) -> tuple[int, float, str]:
    """Numbers first, then texts, then what is missing."""
    if cell is None:
        return 2, 0.0, ""
    return (1, 0.0, cell) if isinstance(cell, str) else (0, float(cell), "")


def _wells(rows: int, columns: int) -> Iterator[str]:
    """Every well, row by row."""
    return (f"{_letters(row)}{column}" for row in range(rows) for column in range(1, columns + 1))


def _letters(row: int) -> str:
    """A to Z, then AA, AB, …"""
    return chr(ord("A") + row) if row < 26 else _letters(row // 26 - 1) + _letters(row % 26)
