"""What is small to send and large to expand is refused before it is expanded."""

import json
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.domain.errors import Invalid, JsonLimits, Malformed
from app.domain.limits import (
    MOST_JSON_MEMBERS,
    MOST_JSON_VALUES,
    MOST_SHEET_BYTES,
    MOST_SHEET_CELLS,
    MOST_SHEET_COLUMNS,
    MOST_SHEET_ROWS,
)
from app.services.intake import json_text
from app.services.intake.sheet_columns import SheetShape
from app.services.intake.sheet_reading import read_sheet

MEBIBYTE = 1 << 20


@contextmanager
def at_most(most: float) -> Iterator[None]:
    """The block takes at most so many MiB of memory."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] <= most * MEBIBYTE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "sheet",
    [
        b"key,value\n" + b"\n" * (MOST_SHEET_ROWS + 1),
        b"key,value\n" + b",,,,,,,,,,,,,,,,,,,\n" * (MOST_SHEET_CELLS // 20),
        b"key,value\n" + b"x" * MOST_SHEET_BYTES,
        b"key," * MOST_SHEET_COLUMNS + b"value\nA,1\n",
    ],
    ids=["rows", "cells", "bytes", "columns"],
)
def test_a_sheet_that_is_too_large_is_refused_before_it_is_read(sheet: bytes, tmp_path: Path) -> None:
    """20 MB of line feeds took 1.7 GB; a million columns called `key` were compared with one another for hours."""
    path = tmp_path / "sheet.csv"
    path.write_bytes(sheet)
    with at_most(100), pytest.raises(Invalid) as refused:
        read_sheet(path, SheetShape())
    assert [finding.code for finding in refused.value.findings] == ["sheet-too-large"]


def test_json_of_too_many_values_is_refused_before_it_is_read() -> None:
    """32 MB of `{}` took 1.2 GB."""
    objects = b"[" + b"{}," * (MOST_JSON_VALUES // 2) + b"{}]"
    with at_most(2 * len(objects) / MEBIBYTE), pytest.raises(JsonLimits, match="values"):
        json_text.loads(objects)


def test_commas_in_texts_are_no_values() -> None:
    text = ",:[{" * MOST_JSON_VALUES
    assert json_text.loads(json.dumps([text, '"', "\\"]).encode()) == [text, '"', "\\"]


def test_texts_that_are_never_closed_are_counted_in_linear_time() -> None:
    with pytest.raises((Malformed, JsonLimits)):
        json_text.loads(b"," * (MOST_JSON_VALUES + 1) + b'\\"' * 1_000_000)


def test_an_object_of_too_many_members_is_refused() -> None:
    members = {str(number): 0 for number in range(MOST_JSON_MEMBERS + 1)}
    with pytest.raises(JsonLimits, match="members"):
        json_text.loads(json.dumps(members).encode())
    members.pop("0")
    assert json_text.loads(json.dumps(members).encode()) == members
