"""Filled-in sheets as people spoil them, and as the files that programs make of them."""

import csv
import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from io import BytesIO, StringIO
from random import Random
from typing import Any

from openpyxl import Workbook

from tests.reliability.libreoffice import Table

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
IDENTITY = ("suggestion", "key", "temperature", "solvent")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
SHOWN_PERCENT = ' "%"'
"""Ends a cell of a spreadsheet whose number format shows a percent sign that scales nothing."""
PERCENT = " 0%"
"""Ends a cell of a spreadsheet that is formatted as a percentage, so that it holds a hundredth."""


def as_file(table: Table, random: Random) -> tuple[bytes, str]:
    """The table as a file, and its media type."""
    is_formatted = any(cell.endswith((SHOWN_PERCENT, PERCENT)) for row in table for cell in row)
    if is_formatted or random.random() < 0.3:
        return _as_xlsx(table), XLSX
    return _as_csv(table, random).encode(), "text/csv"


def measured_in(table: Table) -> list[float | None]:
    """The values of a table, however they are written; None for a cell that is no number."""
    titles = [name.casefold() for name in table[0]] if table else []
    position = next((place for place, name in enumerate(titles) if name.startswith(("value", "yield"))), None)
    return [] if position is None else [_number(row[position]) for row in table[1:] if row[position]]


def _number(cell: str) -> float | None:
    plain = cell.removesuffix(SHOWN_PERCENT).removesuffix(PERCENT).removesuffix("%").replace(",", ".").strip()
    try:
        return float(plain)
    except ValueError:
        return None


def complete_rows(content: bytes) -> Table:
    """The rows of a CSV file that was cut off, if every row is as long as the header; else nothing."""
    text = content.decode(errors="ignore")
    first = text.partition("\n")[0]
    rows = list(csv.reader(StringIO(text, newline=""), delimiter=max(",;\t", key=first.count)))
    return rows if len({len(row) for row in rows}) == 1 else []


def _as_csv(table: Table, random: Random) -> str:
    comma = any("," in cell for row in table[1:] for cell in row)
    text = StringIO(newline="")
    csv.writer(text, delimiter=";" if comma else random.choice(",;\t")).writerows(table)
    return text.getvalue()


def _as_xlsx(table: Table) -> bytes:
    """As a spreadsheet program keeps it: cells that look like numbers are numbers."""
    workbook, file = Workbook(), BytesIO()
    for number, row in enumerate(table, start=1):
        for place, cell in enumerate(row, start=1):
            written = workbook.active.cell(number, place, _typed(cell))
            if cell.endswith(SHOWN_PERCENT):
                written.number_format = '0.0" %"'
            elif cell.endswith(PERCENT):
                written.number_format = "0.00%"
    workbook.save(file)
    return file.getvalue()


def _typed(cell: str) -> Any:
    if cell.endswith(PERCENT):
        return float(Decimal(cell.removesuffix(PERCENT)) / 100)
    for kind in (float, dt.date.fromisoformat):
        try:
            return kind(cell.removesuffix(SHOWN_PERCENT)) if cell else None
        except ValueError:
            continue
    return cell


def _column(table: Table, name: str) -> list[str]:
    return [row[table[0].index(name)] for row in table[1:]]


def _with_column(table: Table, name: str, cells: list[str]) -> Table:
    position = table[0].index(name)
    rows = [[*row[:position], cell, *row[position + 1 :]] for row, cell in zip(table[1:], cells, strict=True)]
    return [table[0], *rows]


def one_column_sorted(table: Table, random: Random) -> Table:
    name = random.choice(IDENTITY)
    return _with_column(table, name, sorted(_column(table, name), reverse=random.random() < 0.5))


def one_column_shifted(table: Table, random: Random) -> Table:
    name = random.choice(IDENTITY)
    cells = _column(table, name)
    by = random.randrange(1, max(2, len(cells)))
    return _with_column(table, name, cells[by:] + cells[:by])


def rows_sorted(table: Table, random: Random) -> Table:
    return [table[0], *random.sample(table[1:], len(table) - 1)]


def retyped(table: Table, random: Random) -> Table:
    ids = [
        random.choice((text.lower(), text.replace("-", " "), f" {text}", text.replace("S", "")))
        for text in _column(table, "suggestion")
    ]
    solvents = [random.choice((text, text.lower(), f"{text} ")) for text in _column(table, "solvent")]
    return _with_column(_with_column(table, "suggestion", ids), "solvent", solvents)


def retyped_wrongly(table: Table, random: Random) -> Table:
    """One id, key or condition is that of another row, or a slip of the finger."""
    name = random.choice(IDENTITY)
    cells = _column(table, name)
    if cells:
        cells[random.randrange(len(cells))] = random.choice([*cells, f"{cells[0]}1"])
    return _with_column(table, name, cells)


def ids_as_dates(table: Table, random: Random) -> Table:
    dates = [f"{number:02d}-{random.choice(MONTHS)}" for number in range(1, len(table))]
    return _with_column(table, "suggestion", dates)


def in_another_locale(table: Table, _random: Random) -> Table:
    for name in ("value", "temperature"):
        table = _with_column(table, name, [cell.replace(".", ",") for cell in _column(table, name)])
    return table


def mixed_locales(table: Table, random: Random) -> Table:
    cells = [cell.replace(".", random.choice(".,")) for cell in _column(table, "value")]
    return _with_column(table, "value", cells)


def columns_renamed(table: Table, random: Random) -> Table:
    names = {"value": ("Value", "Yield", "yield (%)", "YIELD [%]"), "key": ("Key", "KEY"), "solvent": ("Solvent",)}
    return [[random.choice(names.get(name, (name,))) for name in table[0]], *table[1:]]


def rows_doubled(table: Table, random: Random) -> Table:
    return [*table, *table[-2:]]


def truncated(table: Table, random: Random) -> Table:
    return table[: random.randrange(1, len(table) + 1)]


def with_units(table: Table, _random: Random) -> Table:
    table = _with_column(table, "temperature", [f"{cell} °C" for cell in _column(table, "temperature")])
    return _with_column(table, "value", [cell and f"{cell} %" for cell in _column(table, "value")])


def columns_left_out(table: Table, random: Random) -> Table:
    dropped = table[0].index(random.choice(IDENTITY))
    return [[*row[:dropped], *row[dropped + 1 :]] for row in table]


def values_as_dates(table: Table, random: Random) -> Table:
    """A spreadsheet program took 3.10 for the third of October."""
    dates = ["2026-10-03", f"03-{random.choice(MONTHS)}", "03.10.2026", "2026-10-03T00:00:00"]
    return _with_column(table, "value", [cell and random.choice([cell, *dates]) for cell in _column(table, "value")])


def percent_formats(table: Table, random: Random) -> Table:
    """Cells that show a percent sign, which scales what they hold or does not."""
    ends = [cell and cell + random.choice((SHOWN_PERCENT, PERCENT)) for cell in _column(table, "value")]
    return _with_column(table, "value", ends)


def cut_off(table: Table, _random: Random) -> Table:
    """As it is: the file ends somewhere in the middle, when it is made."""
    return table


MUTATIONS: list[Callable[[Table, Random], Table]] = [
    one_column_sorted,
    one_column_shifted,
    rows_sorted,
    retyped,
    retyped_wrongly,
    ids_as_dates,
    in_another_locale,
    mixed_locales,
    columns_renamed,
    rows_doubled,
    truncated,
    with_units,
    columns_left_out,
    values_as_dates,
    percent_formats,
    cut_off,
]
OF_FILES = (in_another_locale, mixed_locales, percent_formats, cut_off)
"""What LibreOffice, with its own locale and format, would undo."""
