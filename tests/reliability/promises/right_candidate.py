"""Promise 30: what a technician sends lands where it belongs: each value is on its own candidate, or refused."""

import csv
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import StringIO
from random import Random
from typing import Any
from unittest.mock import patch

from app.services.intake import measured_values, sheet_reading, xlsx
from app.services.use_cases.report_matching import ReportMatcher
from tests.api.lab import Lab
from tests.reliability import lab, libreoffice
from tests.reliability.libreoffice import LibreOffice, Table
from tests.reliability.promise import Budget, Count, Promise, on_each_database
from tests.reliability.spoilt_sheets import (
    MUTATIONS,
    OF_FILES,
    XLSX,
    as_file,
    complete_rows,
    cut_off,
    measured_in,
)

NUMBERS = ("value", "temperature")
SHEETS_PER_OFFICE = 4
STUDIES_PER_OFFICE = 4
CANDIDATES = "key,temperature,solvent\n" + "".join(
    f"K{number:02d},{20 + 2.5 * number},{('DMF', 'THF', 'MeOH', 'NMP')[number % 4]}\n" for number in range(40)
)


@dataclass(frozen=True)
class Sheet:
    """A spoilt sheet: its file, and the values that people see in it."""

    name: str
    content: bytes
    media_type: str
    measured: Sequence[float | None]  # None is no number
    as_shown: bool = False  # LibreOffice saves a percentage with the two decimals that it shows


def _prove(budget: Budget, seed: int, address: str) -> Count:
    random, total = Random(seed), Count(0)
    with lab.opened(address) as opened, libreoffice.found() as office:
        for number in budget:
            here = Lab(opened.client, f"study-{number}").begin(CANDIDATES, objective="yield", unit="%")
            here.batch(min_size=20, max_size=20)
            owners: dict[float, str] = {}
            for mutate in random.sample(MUTATIONS, len(MUTATIONS)):
                table = mutate(_filled_in(here, owners, random), random)
                content, media_type = as_file(table, random)
                if mutate is cut_off:
                    content = content[: random.randrange(len(content))]
                    table = complete_rows(content) if media_type == "text/csv" else []
                total += _judged(here, Sheet(mutate.__name__, content, media_type, measured_in(table)), owners)
            if budget.cases is None and number % STUDIES_PER_OFFICE == 0:  # only in `make prove`: LibreOffice is slow
                total += _saved_by_office(here, office, owners, random)
    return total


def _saved_by_office(here: Lab, office: LibreOffice | None, owners: dict[float, str], random: Random) -> Count:
    """Mutated sheets of other rows each, opened and saved by LibreOffice in some language."""
    if office is None:
        return Count(0, (), {"of them saved by LibreOffice, which is not on this machine": 0})
    language, suffix = libreoffice.any_language(random), random.choice(("csv", "xlsx"))
    mutations = random.sample([mutate for mutate in MUTATIONS if mutate not in OF_FILES], SHEETS_PER_OFFICE)
    header, *rows = _filled_in(here, owners, random, share=0.8)
    tables = [mutate([header, *rows[part::SHEETS_PER_OFFICE]], random) for part, mutate in enumerate(mutations)]
    total = Count(0, (), {"of them saved by LibreOffice": len(tables)})
    typed = [libreoffice.in_language(table, language, NUMBERS) for table in tables]
    files = office.saved(typed, language, suffix)
    media_type = "text/csv" if suffix == "csv" else XLSX
    for mutate, table, content in zip(mutations, tables, files, strict=True):
        name = f"{mutate.__name__}, saved by LibreOffice as {suffix} ({language})"
        sheet = Sheet(name, content, media_type, measured_in(table), as_shown=suffix == "csv")
        total += _judged(here, sheet, owners)
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
            row[value] = _new_value(owners, random)
        if row[value]:
            owners[float(row[value])] = row[key]
    return [header, *rows]


def _new_value(owners: dict[float, str], random: Random) -> str:
    """One that nothing has yet, so that it tells for whom it was measured."""
    while True:
        text = f"{random.randrange(10, 99)}.{random.randrange(10_000, 99_999)}"
        if float(text) not in owners:
            return text


def _is(value: float, measured: float, sheet: Sheet) -> bool:
    return value == measured or (sheet.as_shown and value == round(measured, 2))


def _owners_of(value: float, owners: dict[float, str], sheet: Sheet) -> list[str]:
    """For whom a value was measured."""
    if value in owners:
        return [owners[value]]
    return [key for measured, key in owners.items() if _is(value, measured, sheet)]


def _judged(here: Lab, sheet: Sheet, owners: dict[float, str]) -> Count:
    """Send one sheet, and find what was stored for another candidate, twice, or not although it was accepted."""
    headers = {"Content-Type": sheet.media_type}
    answer = here.client.post(f"{here.path}/observations", content=sheet.content, headers=headers)
    wrong = [] if answer.status_code in (200, 201, 409, 422) else [f"answered {answer.status_code} {answer.text}"]
    stored = Counter((found["value"], found["key"]) for found in here.observations())
    for (value, key), times in stored.items():
        measured_for = _owners_of(value, owners, sheet)
        if not measured_for:
            wrong.append(f"{value} was never measured")
        elif key not in measured_for:
            wrong.append(f"{value} of {' or '.join(measured_for)} is stored for {key}")
        elif times > 1:
            wrong.append(f"{value} of {key} is stored {times} times")
    if answer.status_code < 400:
        wrong += _missing(sheet, [value for value, _ in stored])
    else:
        wrong += [] if _names_rows(answer.json(), sheet) else [f"refused without a row: {answer.text}"]
    violations = tuple(f"{sheet.name}: {words}" for words in wrong)
    return Count(1, violations, {"of them refused": int(answer.status_code >= 400)})


def _missing(sheet: Sheet, stored: Sequence[float]) -> list[str]:
    """The values of an accepted sheet that are not stored."""
    return [
        f"it was accepted, but {measured or 'what is no number'} is not stored"
        for measured in sheet.measured
        if measured is None or not any(_is(value, measured, sheet) for value in stored)
    ]


def _names_rows(problem: dict[str, Any], sheet: Sheet) -> bool:
    """Whether each finding has a row. A spreadsheet file that was cut off has none that can be read."""
    rowless = {"no-observations"} | ({"xlsx"} if sheet.name == cut_off.__name__ else set())
    return all(finding.get("row") or finding["code"] in rowless for finding in problem.get("errors", []))


def _keys_ignored() -> AbstractContextManager[object]:
    """A suggestion is believed, whatever key and conditions stand beside it."""
    return patch.object(ReportMatcher, "_contradicts_itself", lambda *_: False)


def _commas_dropped() -> AbstractContextManager[object]:
    """83,1 is read as 831."""
    read_number = measured_values.read_number
    return patch.object(measured_values, "read_number", lambda cell, *unit: read_number(cell.replace(",", ""), *unit))


def _rows_lost() -> AbstractContextManager[object]:
    """The last row of every sheet is left out."""
    rows = sheet_reading._rows
    return patch.object(sheet_reading, "_rows", lambda *given: (rows(*given)[0][:-1], []))


def _shown_percent_scales() -> AbstractContextManager[object]:
    """83.1 shown as `83.1 %` is read as 8310 %."""
    return patch.object(xlsx, "_is_percentage", lambda _, number_format: "%" in number_format)


PROMISE = Promise(
    number=30,
    words="What a technician sends lands where it belongs",
    tested=(
        "Filled-in sheets, as CSV and .xlsx, whose rows are sorted, doubled or left out, whose columns are sorted or "
        "shifted alone, renamed or left out, with ids retyped, ids or values turned into dates, units, decimal signs "
        "and number formats changed, or whose file is cut off anywhere: a sheet is accepted and each of its values is "
        "stored once, for its own candidate, or it is refused with the row. Some are saved by LibreOffice in five "
        "languages, if it is on the machine. (Values sorted alone cannot be told.)"
    ),
    unit="sheets",
    full=10_000,
    prove=on_each_database(_prove),
    teeth={
        "keys that are not compared": _keys_ignored,
        "decimal commas dropped": _commas_dropped,
        "the last row lost": _rows_lost,
        "a percent sign that is only shown taken for a percentage": _shown_percent_scales,
    },
    short=2,
    bite=8,
    parallel=True,
    share=1,
)
