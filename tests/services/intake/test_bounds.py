"""What is small to send and large to expand is refused before it is expanded."""

import json
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@given(st.text(alphabet='"\\,:[{a', max_size=60).map(str.encode), st.integers(1, 9))
def test_values_are_counted_alike_piece_by_piece_and_at_once(body: bytes, piece: int) -> None:
    """A text, or an escape in it, may begin in one piece and end in another."""
    whole = json_text._marks(json_text._TEXT.sub(b"", body))
    with patch.object(json_text, "PIECE", piece):
        assert json_text._values_outside_texts(body) == whole


def test_a_text_may_contain_any_number_of_commas_and_a_list_may_not() -> None:
    commas = b"," * (MOST_JSON_VALUES + 10)
    assert json_text.loads(b'["' + commas + b'"]') == [commas.decode()]
    with pytest.raises(JsonLimits):
        json_text.loads(b"[0" + commas.replace(b",", b",0") + b"]")
