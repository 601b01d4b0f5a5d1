"""Columns of text as arrays: they come back as they were, and a text is found at its row or not at all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.storage import packed_strings
from app.storage.packed_strings import (
    PackedStrings,
    find_string,
    index_strings,
    numbers_containing,
    pack_strings,
    rows_containing,
    unpack_strings,
)

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(st.lists(st.none() | words, max_size=30), st.data())
def test_texts_come_back_as_they_were(column: list[str | None], data: st.DataObject) -> None:
    ends, content = pack_strings(column)
    assert unpack_strings(ends, content, range(len(column))) == column
    rows = data.draw(st.lists(st.integers(0, len(column) - 1), max_size=10)) if column else []
    assert unpack_strings(ends, content, rows) == [column[row] for row in rows]


@given(st.lists(words, unique=True, max_size=30), words)
def test_a_text_is_found_at_its_row_or_not_at_all(column: list[str], other: str) -> None:
    hashes, rows = index_strings(column)
    ends, content = pack_strings(column)
    assert [find_string(hashes, rows, ends, content, text) for text in column] == list(range(len(column)))
    expected = column.index(other) if other in column else None
    assert find_string(hashes, rows, ends, content, other) == expected


def test_two_texts_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_strings, "_hash", len)
    column = ["one", "two", "six", "four"]
    hashes, rows = index_strings(column)
    ends, content = pack_strings(column)
    assert [find_string(hashes, rows, ends, content, text) for text in [*column, "ten"]] == [
        0,
        1,
        2,
        3,
        None,
    ]


def test_the_arrays_are_little_endian() -> None:
    ends, content = pack_strings(["a", None])
    hashes, rows = index_strings(["a"])
    assert [array.dtype.str for array in (ends, content, hashes, rows)] == ["<i8", "|u1", "<u8", "<i4"]


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\r\nab"), max_size=40))
def test_lines_are_packed_as_python_splits_them(text: str) -> None:
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    packed = PackedStrings.of_lines(np.frombuffer(text.encode(), dtype=np.uint8))
    assert packed == lines
    assert packed[-1] == lines[-1]
    assert packed[1:] == lines[1:]
    ends, content = pack_strings(lines)
    assert pack_strings(packed)[0].tolist() == ends.tolist()
    assert pack_strings(packed)[1].tobytes() == content.tobytes()
    assert [array.tolist() for array in index_strings(packed)] == [array.tolist() for array in index_strings(lines)]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "", "ä"]), min_size=1, max_size=12))
def test_repeats_name_the_first_row_of_a_text(column: list[str]) -> None:
    packed = PackedStrings(*pack_strings(column))
    expected = [(column.index(text), row) for row, text in enumerate(column) if column.index(text) != row]
    assert list(packed.repeats()) == expected


@pytest.mark.parametrize("piece", [1, 3, 1 << 22])
@settings(deadline=None)
@given(st.lists(st.text("aAb.", max_size=3), max_size=12) | st.lists(words, max_size=5), st.text("aAb.ß", max_size=2))
def test_a_part_is_found_in_the_texts_that_have_it(piece: int, column: list[str], part: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_strings, "_PIECE", piece)
        found = rows_containing(*pack_strings(column), part)
    assert found.tolist() == [part.casefold() in text.casefold() for text in column]


@settings(deadline=None)
@given(st.integers(1, 2000), st.integers(1, 1200), st.text("0123459x", max_size=3))
def test_a_part_is_found_in_the_numbers_that_have_it(first: int, count: int, part: str) -> None:
    found = numbers_containing(first, count, part)
    assert found.tolist() == [part in str(number) for number in range(first, first + count)]
