"""LibreOffice is used where it is, and the promise says plainly where it is not."""

from pathlib import Path
from random import Random

import pytest

from tests.api.lab import Lab
from tests.reliability import libreoffice
from tests.reliability.libreoffice import LANGUAGES, LibreOffice, in_language
from tests.reliability.promises import right_candidate

# A stand-in that copies its files as LibreOffice would name them.
STAND_IN = """#!/bin/sh
while [ "$1" != "--outdir" ]; do shift; done
folder=$2; shift 2; mkdir -p "$folder"
for file in "$@"; do cp "$file" "$folder/$(basename "$file")"; done
"""


def test_without_libreoffice_the_promise_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with libreoffice.found() as office:
        assert office is None
        counted = right_candidate._saved_by_office(Lab(None), office, {}, Random(1))  # type: ignore[arg-type]  # unused
    assert counted.details == {"of them saved by LibreOffice, which is not on this machine": 0}


@pytest.mark.parametrize("language", LANGUAGES)
def test_sheets_pass_through_the_program_in_the_signs_of_their_language(language: str, tmp_path: Path) -> None:
    program = tmp_path / "soffice"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    table = in_language([["key", "value"], ["A.1", "83.1"]], language, ["value"])
    [saved] = LibreOffice(str(program), tmp_path).saved([table], language, "csv")
    expected = b"A.1,83.1" if language.startswith("en") else b"A.1;83,1"
    assert saved.splitlines()[1] == expected
