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
from tests.reliability import lab
from tests.reliability.promise import Budget, Count, Promise, on_each_database

Table = list[list[str]]
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
IDENTITY = ("suggestion", "key", "temperature", "solvent")
CANDIDATES = "key,temperature,solvent\n" + "".join(
    f"K{number:02d},{20 + 2.5 * number},{('DMF', 'THF', 'MeOH', 'NMP')[number % 4]}\n" for number in range(40)
)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _prove(budget: Budget, seed: int, address: str) -> Count:
    random, violations, sheets, refused = Random(seed), [], 0, 0
    with lab.opened(address) as opened:
        for number in budget:
            here = Lab(opened.client, f"study-{number}").begin(CANDIDATES, objective="yield", unit="%")
            here.batch(min_size=20, max_size=20)
            owners: dict[float, str] = {}
            for mutate in random.sample(MUTATIONS, len(MUTATIONS)):
                table = _filled_in(here, owners, random)
                wrong, status = _sent(here, mutate(table, random), owners, random)
                violations += [f"{mutate.__name__}: {words}" for words in wrong]
                sheets, refused = sheets + 1, refused + (status >= 400)
    return Count(sheets, tuple(violations), {"of them refused": refused})


def _filled_in(here: Lab, owners: dict[float, str], random: Random) -> Table:
    """The sheet of the batch with values in some rows, no two alike; `owners` learns the candidate of each."""
    text = here.client.get(f"{here.path}/batches/1/sheet").text
    header, *rows = list(csv.reader(StringIO(text, newline="")))
    value, key = header.index("value"), header.index("key")
    if random.random() < 0.7:  # people also send only what is new
        rows = [row for row in rows if not row[value]]
    for row in rows:
        if not row[value] and random.random() < 0.15:
            row[value] = f"{random.randrange(10, 99)}.{random.randrange(10_000, 99_999)}"
        if row[value]:
            owners[float(row[value])] = row[key]
    return [header, *rows]


def _sent(here: Lab, table: Table, owners: dict[float, str], random: Random) -> tuple[list[str], int]:
    """What was stored for another candidate than the one it was measured for."""
    if random.random() < 0.3:
        answer = here.client.post(f"{here.path}/observations", content=_as_xlsx(table), headers={"Content-Type": XLSX})
    else:
        answer = here.sheet(_as_csv(table, random))
    wrong = [] if answer.status_code in (200, 201, 409, 422) else [f"answered {answer.status_code} {answer.text}"]
    for observation in here.observations():
        owner = owners.get(observation["value"])
        if owner is not None and owner != observation["key"]:
            wrong.append(f"{observation['value']} of {owner} is stored for {observation['key']}")
        if owner is None:
            wrong.append(f"{observation['value']} was never measured")
    told = answer.json().get("errors", []) if answer.status_code >= 400 else []
    if not all(finding.get("row") or finding["code"] == "no-observations" for finding in told):
        wrong.append(f"refused without a row: {answer.text}")
    return wrong, answer.status_code


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
        "every value is stored for its own candidate, or refused with its row. (Values sorted alone cannot be told.)"
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
