"""Candidates as a .npy array."""

import struct
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.errors import InvalidCandidates
from app.services.intake.cell_types import encode_texts
from app.services.intake.columns import Declared
from app.services.intake.findings import Findings
from app.services.intake.keys import check_keys, check_packed_keys, keys_from_lines
from app.services.intake.limits import IntakeLimits
from app.services.intake.npy_reading import read_npy
from app.storage.packed_strings import PackedStrings, pack_strings


@pytest.fixture
def saved(tmp_path):
    def saved(array):
        path = tmp_path / "candidates.npy"
        np.save(path, array)
        return path

    return saved


def mistakes_in(path, **options):
    with pytest.raises(InvalidCandidates) as refused:
        read_npy(path, **options)
    return [(finding.code, finding.row, finding.column) for finding in refused.value.findings]


ARRAY = np.array([[1, 0], [3, 1], [5, 0]])


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", ">f2", "<i8", ">i4", "u1", "i1", "<u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_plain_number_becomes_little_endian_doubles_in_c_order(saved, dtype, order):
    table = read_npy(saved(np.array(ARRAY, dtype=dtype, order=order)))
    assert table.numbers.tolist() == ARRAY.tolist()
    assert (table.numbers.dtype.str, table.numbers.flags.c_contiguous) == ("<f8", True)
    assert [column.name for column in table.columns] == ["x1", "x2"]


def test_doubles_in_c_order_are_used_where_they_lie(saved):
    numbers = read_npy(saved(ARRAY.astype("<f8"))).numbers
    assert not numbers.flags.writeable
    assert isinstance(numbers.base, np.memmap)


def test_booleans_names_keys_and_attributes_are_kept_apart(saved):
    array = np.array([[1.0, 0, np.nan], [2.0, 1, 7.0]])
    declared = Declared(kinds={"on": "boolean"}, roles={"cost": "attribute"})
    table = read_npy(saved(array), ["A", "B"], ["t", "on", "cost"], declared)
    assert (table.keys, table.attributes) == (["A", "B"], {"cost": [None, 7.0]})
    assert [column.kind for column in table.columns] == ["number", "boolean", "number"]
    assert table.numbers.tolist() == [[1.0, 0.0], [2.0, 1.0]]
    assert [column.kind for column in read_npy(saved(array[:, :2] > 0)).columns] == ["boolean"] * 2


def test_bad_cells_are_named_in_every_block(saved):
    array = np.ones((40_000, 3))
    array[5, 0], array[20_000, 1], array[39_999, 2] = np.nan, np.inf, -np.inf
    assert mistakes_in(saved(array)) == [
        ("not-finite", 6, "x1"),
        ("not-finite", 20_001, "x2"),
        ("not-finite", 40_000, "x3"),
    ]


@pytest.mark.parametrize("value", [2**53, 2**53 + 1, -(2**53), -(2**53) - 1, np.uint64(2**53)])
def test_integers_that_a_double_rounds_are_refused(saved, value):
    kind = np.asarray(value).dtype
    assert mistakes_in(saved(np.array([[1], [value]], dtype=kind))) == [("not-exact", 2, "x1")]


@pytest.mark.parametrize("kind", ["i8", "u8"])
def test_the_largest_integer_that_a_double_holds_is_taken(saved, kind):
    read_npy(saved(np.array([[1], [2**53 - 1]], dtype=kind)))


@pytest.mark.parametrize(
    ("array", "code"),
    [
        (np.array([[1, "a"]], dtype=object), "npy-header"),
        (np.array([["a"]]), "npy-dtype"),
        (np.array([[1j]]), "npy-dtype"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "npy-dtype"),
        (np.array([1.0, 2.0]), "npy-shape"),
        (np.ones((1, 1, 1)), "npy-shape"),
        (np.array(1.0), "npy-shape"),
        (np.zeros((1,), dtype=[("a", "f8")]), "npy-header"),
        (np.ones((0, 3)), "no-candidates"),
        (np.ones((3, 0)), "no-features"),
    ],
)
def test_only_two_dimensional_arrays_of_numbers_are_read(tmp_path, array, code):
    buffer = BytesIO()
    np.save(buffer, array, allow_pickle=True)
    path = tmp_path / "candidates.npy"
    path.write_bytes(buffer.getvalue())
    if code == "npy-header" and array.dtype == object:
        code = "npy-dtype"
    assert [code for code, _, _ in mistakes_in(path)] == [code]


def header(text, version=(1, 0)):
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "not-npy"),
        (b"PK\x03\x04" + b"\0" * 100, "not-npy"),
        (b"\x93NUMPY\x01", "not-npy"),
        (b"\x93NUMPY\x01\x00", "npy-header"),
        (b"\x93NUMPY\x09\x00", "npy-version"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "npy-header"),
        (header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }"), "npy-size"),
        (header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999, 999999999999), }"), "npy-size"),
        (header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2), }"), "npy-header"),
        (header(b"__import__('os').system('true')"), "npy-header"),
    ],
)
def test_a_broken_or_hostile_header_is_refused(tmp_path, content, code):
    path = tmp_path / "candidates.npy"
    path.write_bytes(content)
    assert [code for code, _, _ in mistakes_in(path)] == [code]


def test_keys_and_names_must_be_as_many_as_rows_and_columns(saved):
    path = saved(ARRAY)
    assert mistakes_in(path, keys=["A"]) == [("key-count", None, None)]
    assert mistakes_in(path, names=["a"]) == [("name-count", None, None)]
    assert mistakes_in(path, keys=["A", "B", "A"]) == [("key-twice", 3, None)]
    assert mistakes_in(path, names=["a", "key"]) == [("npy-numbers-only", None, "key")]


def test_keys_come_one_per_line(tmp_path):
    path = tmp_path / "keys.txt"
    path.write_bytes(b"\xef\xbb\xbfA\r\nB\n")
    assert keys_from_lines(path) == ["A", "B"]


def test_key_lines_that_are_not_utf_8_are_named(tmp_path):
    path = tmp_path / "keys.txt"
    path.write_bytes(b"A\n\xff\n")
    with pytest.raises(InvalidCandidates) as refused:
        keys_from_lines(path)
    assert refused.value.findings[0].row == 2


@settings(deadline=None)
@given(st.lists(st.text("ab. \t\x7fä\u2028", max_size=4), min_size=1, max_size=10))
def test_keys_that_stay_packed_have_the_same_mistakes_as_others(keys):
    limits, packed_findings, findings = IntakeLimits(key_length=3), Findings(), Findings()
    check_packed_keys(PackedStrings(*pack_strings(keys)), 1, limits, packed_findings)
    check_keys(encode_texts(keys), None, 1, limits, findings)
    assert _mistakes(packed_findings) == _mistakes(findings)


def _mistakes(findings):
    try:
        findings.stop_if_any()
    except InvalidCandidates as refused:
        return sorted((finding.row, finding.code, finding.message) for finding in refused.findings)
    return []
