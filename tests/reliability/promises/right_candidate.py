"""Promise 30: what a technician sends lands where it belongs: each value is on its own candidate, or refused."""

import csv
from collections.abc import Callable
from contextlib import AbstractContextManager
from io import BytesIO, StringIO
from random import Random
from typing import Any
from unittest.mock import patch

from openpyxl import Workbook

from app.services.intake import measured_values
from app.services.use_cases.report_matching import ReportMatcher
from tests.api.lab import Lab
from tests.reliability import lab, libreoffice
from tests.reliability.libreoffice import LibreOffice, Table
from tests.reliability.promise import Budget, Count, Promise, on_each_database

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
NUMBERS = ("value", "temperature")
SHEETS_PER_OFFICE = 4
STUDIES_PER_OFFICE = 4
IDENTITY = ("suggestion", "key", "temperature", "solvent")
CANDIDATES = "key,temperature,solvent\n" + "".join(
    f"K{number:02d},{20 + 2.5 * number},{('DMF', 'THF', 'MeOH', 'NMP')[number % 4]}\n" for number in range(40)
)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _prove(budget: Budget, seed: int, address: str) -> Count:
    random, total = Random(seed), Count(0)
    with lab.opened(address) as opened, libreoffice.found() as office:
        for number in budget:
            here = Lab(opened.client, f"study-{number}").begin(CANDIDATES, objective="yield", unit="%")
            here.batch(min_size=20, max_size=20)
            owners: dict[float, str] = {}
            for mutate in random.sample(MUTATIONS, len(MUTATIONS)):
                table = mutate(_filled_in(here, owners, random), random)
                total += _judged(here, mutate.__name__, *_as_file(table, random), owners)
            if budget.cases is None and number % STUDIES_PER_OFFICE == 0:  # only in `make prove`: LibreOffice is slow
                total += _saved_by_office(here, office, owners, random)
    return total


def _saved_by_office(here: Lab, office: LibreOffice | None, owners: dict[float, str], random: Random) -> Count:
    """Mutated sheets of other rows each, opened and saved by LibreOffice in some language."""
    if office is None:
        return Count(0, (), {"of them saved by LibreOffice, which is not on this machine": 0})
    language, suffix = libreoffice.any_language(random), random.choice(("csv", "xlsx"))
    mutations = random.sample([mutate for mutate in MUTATIONS if mutate not in LOCALES], SHEETS_PER_OFFICE)
    header, *rows = _filled_in(here, owners, random, share=0.8)
    tables = [
        libreoffice.in_language(mutate([header, *rows[part::SHEETS_PER_OFFICE]], random), language, NUMBERS)
        for part, mutate in enumerate(mutations)
    ]
    total = Count(0, (), {"of them saved by LibreOffice": len(tables)})
    files = office.saved(tables, language, suffix)
    for mutate, content in zip(mutations, files, strict=True):
        name = f"{mutate.__name__}, saved by LibreOffice as {suffix} ({language})"
        media_type = "text/csv" if suffix == "csv" else XLSX
        total += _judged(here, name, content, media_type, owners, as_shown=suffix == "csv")
    return total


def _filled_in(here: Lab, owners: dict[float, str], random: Random, share: float = 0.15) -> Table:
    """The sheet of the batch with values in some rows, no two alike; `owners` learns the candidate of each."""
    text = here.client.get(f"{here.path}/batches/1/sheet").text
    header, *rows = list(csv.reader(StringIO(text, newline="")))
    value, key = header.index("value"), header.index("key")
    if random.random() < 0.7:  # people also send only what is new
        rows = [row for row in rows if not row[value]]
    for row in rows:
        if not row[value] and random.random() < share:
            row[value] = f"{random.randrange(10, 99)}.{random.randrange(10_000, 99_999)}"
        if row[value]:
            owners[float(row[value])] = row[key]
    return [header, *rows]


def _as_file(table: Table, random: Random) -> tuple[bytes, str]:
    """The table as a file, and its media type."""
    return (_as_xlsx(table), XLSX) if random.random() < 0.3 else (_as_csv(table, random).encode(), "text/csv")


def _owners_of(value: float, owners: dict[float, str], as_shown: bool) -> list[str]:
    """For whom a value was measured. `as_shown`: LibreOffice saves a percentage with the two decimals that it shows."""
    if value in owners or not as_shown:
        return [owners[value]] if value in owners else []
    return [key for measured, key in owners.items() if round(measured, 2) == value]


def _judged(
    here: Lab, name: str, content: bytes, media_type: str, owners: dict[float, str], *, as_shown: bool = False
) -> Count:
    """Send one sheet, and find what was stored for another candidate than the one it was measured for."""
    answer = here.client.post(f"{here.path}/observations", content=content, headers={"Content-Type": media_type})
    wrong = [] if answer.status_code in (200, 201, 409, 422) else [f"answered {answer.status_code} {answer.text}"]
    for observation in here.observations():
        value, key = observation["value"], observation["key"]
        measured_for = _owners_of(value, owners, as_shown)
        if not measured_for:
            wrong.append(f"{value} was never measured")
        elif key not in measured_for:
            wrong.append(f"{value} of {' or '.join(measured_for)} is stored for {key}")
    told = answer.json().get("errors", []) if answer.status_code >= 400 else []
    if not all(finding.get("row") or finding["code"] == "no-observations" for finding in told):
        wrong.append(f"refused without a row: {answer.text}")
    violations = tuple(f"{name}: {words}" for words in wrong)
    return Count(1, violations, {"of them refused": int(answer.status_code >= 400)})


def _as_csv(table: Table, random: Random) -> str:
    comma = any("," in cell for row in table[1:] for cell in row)
    text = StringIO(newline="")
    csv.writer(text, delimiter=";" if comma else random.choice(",;\t")).writerows(table)
    return text.getvalue()


def _as_xlsx(table: Table) -> bytes:
    """As a spreadsheet program keeps it: cells that look like numbers are numbers."""
    workbook, file = Workbook(), BytesIO()
    for row in table:
        workbook.active.append([_typed(cell) for cell in row])
    workbook.save(file)
    return file.getvalue()


def _typed(cell: str) -> Any:
    try:
        return float(cell) if cell else None
    except ValueError:
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
]
LOCALES = (in_another_locale, mixed_locales)  # LibreOffice has a locale of its own


def _keys_ignored() -> AbstractContextManager[object]:
    """A suggestion is believed, whatever key and conditions stand beside it."""
    return patch.object(ReportMatcher, "_contradicts_itself", lambda *_: False)


def _commas_dropped() -> AbstractContextManager[object]:
    """83,1 is read as 831."""
    read_number = measured_values.read_number
    return patch.object(measured_values, "read_number", lambda cell, *unit: read_number(cell.replace(",", ""), *unit))


PROMISE = Promise(
    number=30,
    words="What a technician sends lands where it belongs",
    tested=(
        "Filled-in sheets, as CSV and .xlsx, whose rows are sorted, doubled or truncated, whose columns are sorted or "
        "shifted alone, renamed or left out, with ids retyped or turned into dates, units and decimal signs changed: "
        "every value is stored for its own candidate, or refused with its row. Some are saved by LibreOffice in five "
        "languages, if it is on the machine. (Values sorted alone cannot be told.)"
    ),
    unit="sheets",
    full=10_000,
    prove=on_each_database(_prove),
    teeth={"keys that are not compared": _keys_ignored, "decimal commas dropped": _commas_dropped},
    short=2,
    bite=8,
    parallel=True,
    share=1,
)
