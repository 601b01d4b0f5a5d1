"""Columns of text as arrays: they come back as they were, and a text is found at its row or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.storage import array_cache

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(st.lists(st.none() | words, max_size=30), st.data())
def test_texts_come_back_as_they_were(column: list[str | None], data: st.DataObject) -> None:
    ends, content = array_cache.pack_strings(column)
    assert array_cache.unpack_strings(ends, content, range(len(column))) == column
    rows = data.draw(st.lists(st.integers(0, len(column) - 1), max_size=10)) if column else []
    assert array_cache.unpack_strings(ends, content, rows) == [column[row] for row in rows]


@given(st.lists(words, unique=True, max_size=30), words)
def test_a_text_is_found_at_its_row_or_not_at_all(column: list[str], other: str) -> None:
    hashes, rows = array_cache.index_strings(column)
    ends, content = array_cache.pack_strings(column)
    assert [array_cache.find_string(hashes, rows, ends, content, text) for text in column] == list(range(len(column)))
    expected = column.index(other) if other in column else None
    assert array_cache.find_string(hashes, rows, ends, content, other) == expected


def test_two_texts_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_cache, "_hash", len)
    column = ["one", "two", "six", "four"]
    hashes, rows = array_cache.index_strings(column)
    ends, content = array_cache.pack_strings(column)
    assert [array_cache.find_string(hashes, rows, ends, content, text) for text in [*column, "ten"]] == [
        0,
        1,
        2,
        3,
        None,
    ]


def test_the_arrays_are_little_endian() -> None:
    ends, content = array_cache.pack_strings(["a", None])
    hashes, rows = array_cache.index_strings(["a"])
    assert [array.dtype.str for array in (ends, content, hashes, rows)] == ["<i8", "|u1", "<u8", "<i4"]
