"""What a CSV file may look like."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.candidates import Column
from app.domain.errors import InvalidCandidates
from app.services.intake.columns import Declared
from app.services.intake.limits import IntakeLimits


def test_a_table_has_keys_numbers_texts_and_booleans(read):
    table = read("key,t,solvent,dry\nA,20,DMF,yes\nB,30.5,THF,No\nC,-1e-3,DMF,TRUE\n")

    assert table.columns == (
        Column("key", "text", "key"),
        Column("t", "number", "feature"),
        Column("solvent", "text", "feature", ("DMF", "THF")),
        Column("dry", "boolean", "feature"),
    )
    assert table.keys == ["A", "B", "C"]
    assert table.numbers.tolist() == [[20.0, 1.0], [30.5, 0.0], [-0.001, 1.0]]
    assert table.codes.tolist() == [[0], [1], [0]]
    assert (table.numbers.dtype.str, table.codes.dtype.str) == ("<f8", "<i4")
    assert table.numbers.flags.c_contiguous
    assert table.warnings == ()


def test_a_list_with_semicolons_may_have_decimal_commas(read):
    table = read("key;t;p\nA;20,5;1\nB;-1,5e-3;2\n")
    assert table.numbers.tolist() == [[20.5, 1.0], [-0.0015, 2.0]]


def test_a_column_with_decimal_commas_and_points_is_refused(read):
    with pytest.raises(InvalidCandidates) as refused:
        read("key;t\nA;20,5\nB;30.5\nC;1,5\n")
    assert [(finding.code, finding.row) for finding in refused.value.findings] == [("mixed-decimal-signs", 3)]


def test_without_a_key_column_the_keys_are_the_row_numbers(read):
    assert read("x\n1\n2\n").keys is None


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_separators_line_ends_and_byte_order_marks_are_recognised(read, separator, line_end, mark):
    text = line_end.join(separator.join(row) for row in (["key", "x", "y"], ["a", "1", "2"], ["b", "3", "5"]))
    table = read(mark + text.encode())
    assert (table.keys, table.numbers.tolist()) == (["a", "b"], [[1.0, 2.0], [3.0, 5.0]])


def test_a_separator_inside_a_quoted_name_does_not_count(read):
    assert [column.name for column in read('"a,b,c";x\n1;2\n3;4\n').columns] == ["a,b,c", "x"]


def test_quoted_cells_may_hold_separators_quotes_and_newlines(read):
    table = read('name,x\n"a, ""b""\nc",1\nd,2\n')
    assert table.columns[0].levels == ('a, "b"\nc', "d")


def test_rows_are_counted_as_a_spreadsheet_does_even_after_a_newline_in_a_cell(mistakes):
    assert mistakes('name,x\n"a\n\nb",1\nc\n') == [("ragged-row", 3, "x")]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_every_finite_number_is_read_exactly(read, values):
    table = read("x\n" + "\n".join(map(repr, values)) + "\n")
    assert table.numbers.tobytes() == np.array(values).reshape(-1, 1).tobytes()


def test_a_column_that_turns_out_to_be_text_late_is_text_as_written(read):
    cells = ["1.50"] * 1_000 + ["b"] * 1_000
    assert read("x,y\n" + "".join(f"{cell},1\n" for cell in cells)).columns[0].levels == ("1.50", "b")


def test_empty_rows_at_the_end_are_no_candidates(read):
    assert len(read("x,y\n1,2\n3,4\n\n,\n\n")) == 2


def test_an_empty_row_between_candidates_is_named(mistakes):
    assert mistakes("x,y\n1,2\n,\n\n3,4\n") == [("empty-row", 3, None), ("empty-row", 4, None)]


def test_ragged_rows_are_named_with_the_first_missing_column(mistakes):
    assert mistakes("x,y,z\n1,2,3\n1,2\n1,2,3,4\n1\n") == [
        ("ragged-row", 3, "z"),
        ("ragged-row", 4, "z"),
        ("ragged-row", 5, "y"),
    ]


@pytest.mark.parametrize(
    ("content", "mistake"),
    [
        (b"", ("no-header", 1, None)),
        (b"\n\n", ("no-header", 1, None)),
        (b"x,y\n", ("no-candidates", None, None)),
        (b"x,y\n\n\n", ("no-candidates", None, None)),
        (b"x\n1\n\xff\n", ("not-utf-8", 3, None)),
        (b"x\n1\n2\xed\xa0\x80\n", ("not-utf-8", 3, None)),
        (b"x\n1\n2\n\0\n", ("broken-text", 4, None)),
        (b'x\n1\n"2\n', ("broken-csv", 3, None)),
        (b'x\n1\n"2"3\n', ("broken-csv", 3, None)),
        ("x\n1\n".encode("utf-16"), ("not-utf-8", 1, None)),
        (b"x,x\n1,2\n", ("name-twice", 1, "x")),
        (b"x,\n1,2\n", ("name-empty", 1, None)),
        (b"x, y\n1,2\n", ("name-outer-space", 1, None)),
        (b"x,a\x07b\n1,2\n", ("name-control-character", 1, None)),
        (b"x," + b"a" * 201 + b"\n1,2\n", ("name-too-long", 1, None)),
        (b"key\nA\n", ("no-features", None, None)),
        (b"x\n" + b"a" * 200_000 + b"\n", ("broken-csv", 2, None)),
    ],
)
def test_what_cannot_be_read_is_named_by_row_and_rule(mistakes, content, mistake):
    assert mistakes(content) == [mistake]


def test_a_broken_character_far_down_is_named_by_its_row(mistakes):
    content = b"x\n" + b"1\n" * 300_000 + b"\xe9\n" + b"1\n" * 10
    assert mistakes(content) == [("not-utf-8", 300_002, None)]


def test_limits_name_what_they_limit(mistakes):
    content = "x,y\n" + "1,2\n" * 5
    assert mistakes(content, limits=IntakeLimits(rows=4)) == [("too-many-rows", None, None)]
    assert mistakes(content, limits=IntakeLimits(columns=1)) == [("too-many-columns", 1, None)]
    assert mistakes(content, limits=IntakeLimits(cells=9)) == [("too-many-cells", None, None)]
    assert len(mistakes("x\na\nb\nc\n", limits=IntakeLimits(levels=2))) == 1
    assert mistakes("x\na\nbcd\n", limits=IntakeLimits(cell_length=2)) == [("cell-too-long", 3, "x")]


def test_the_first_hundred_mistakes_are_shown_and_all_are_counted(read):
    with pytest.raises(InvalidCandidates) as refused:
        read("x,y\n" + ",1\n" * 250)
    assert (len(refused.value.findings), refused.value.total) == (100, 250)


def test_declared_columns_must_be_there(mistakes):
    assert mistakes("x\n1\n", Declared(key="id", kinds={"z": "text"})) == [
        ("unknown-column", None, "id"),
        ("unknown-column", None, "z"),
    ]


PLANTED = "planted-value"


@pytest.mark.parametrize(
    "cell", [PLANTED, f"{PLANTED}\ud800".encode("utf-8", "surrogatepass"), PLANTED + "\0", f'"{PLANTED}']
)
def test_errors_never_echo_a_cell(read, cell):
    cell = cell.encode() if isinstance(cell, str) else cell
    with pytest.raises(InvalidCandidates) as refused:
        read(b"key,x\n" + b"".join(b"k%d,1\n" % row for row in range(50)) + cell + b"," + cell + b"\n")
    assert PLANTED not in f"{refused.value!r} {refused.value} {refused.value.findings}"
