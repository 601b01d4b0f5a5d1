"""Sheets saved by LibreOffice, as people save them: opened in their country's locale, written as CSV or .xlsx.

LibreOffice is used only if it is on the machine (`soffice`), and only by `make prove`; no test needs it.
"""

import csv
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

Table = list[list[str]]
COMMA, SEMICOLON = 44, 59
TEXT_QUOTE, UTF_8, FIRST_ROW = 34, 76, 1
LANGUAGES = {"en-US": 1033, "de-DE": 1031, "fr-FR": 1036, "en-GB": 2057, "pt-BR": 1046}
WITH_POINTS = ("en-US", "en-GB")
PATIENCE = 120  # seconds, after which LibreOffice is taken for dead


@dataclass(frozen=True)
class LibreOffice:
    """A LibreOffice with a profile of its own, so that several can run at the same time."""

    program: str
    folder: Path

    def saved(self, tables: Sequence[Table], language: str, suffix: str) -> list[bytes]:
        """The tables, opened and saved again in one go; `suffix` is csv or xlsx."""
        points = language in WITH_POINTS
        separator = COMMA if points else SEMICOLON
        for number, table in enumerate(tables):
            (self.folder / f"{number}.csv").write_text(_text(table, chr(separator)), newline="")
        reading = f"CSV:{self._options(separator, language)}"
        writing = f"csv:Text - txt - csv (StarCalc):{self._options(separator, language)}"
        outcome = self.folder / suffix
        subprocess.run(
            [
                self.program,
                "--headless",
                f"-env:UserInstallation={(self.folder / 'profile').as_uri()}",
                f"--infilter={reading}",
                "--convert-to",
                writing if suffix == "csv" else suffix,
                "--outdir",
                str(outcome),
                *(str(self.folder / f"{number}.csv") for number in range(len(tables))),
            ],
            check=True,
            capture_output=True,
            timeout=PATIENCE,
        )
        return [(outcome / f"{number}.{suffix}").read_bytes() for number in range(len(tables))]

    @staticmethod
    def _options(separator: int, language: str) -> str:
        """Separator, quotes, character set, first row, columns, language, quote texts, detect dates and the like."""
        return f"{separator},{TEXT_QUOTE},{UTF_8},{FIRST_ROW},,{LANGUAGES[language]},false,true"


@contextmanager
def found() -> Iterator[LibreOffice | None]:
    """The LibreOffice of this machine, if there is one."""
    program = shutil.which("soffice")
    if program is None:
        yield None
        return
    with TemporaryDirectory(prefix="nextbatch-soffice-") as folder:
        yield LibreOffice(program, Path(folder))


def in_language(table: Table, language: str, columns: Sequence[str]) -> Table:
    """The table as people of that country type it: with decimal commas in these columns, where they use commas."""
    if language in WITH_POINTS:
        return table
    numbers = {position for position, name in enumerate(table[0]) if name in columns}
    return [
        table[0],
        *(
            [cell.replace(".", ",") if place in numbers else cell for place, cell in enumerate(row)]
            for row in table[1:]
        ),
    ]


def any_language(random: Random) -> str:
    return random.choice(list(LANGUAGES))


def _text(table: Table, separator: str) -> str:
    text = StringIO(newline="")
    csv.writer(text, delimiter=separator).writerows(table)
    return text.getvalue()
