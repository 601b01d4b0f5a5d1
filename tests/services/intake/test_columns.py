"""What a column's cells make of it, and what is wrong with them."""

import pytest

from app.domain.errors import InvalidCandidates
from app.services.intake.columns import Declared

TWENTY = "".join(f"{number},1\n" for number in range(20))


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("NaN", "not-finite"),
        ("inf", "not-finite"),
        ("-Infinity", "not-finite"),
        ("1e400", "not-finite"),
        ("1_000", "not-a-number"),
        ("١٢", "not-a-number"),
        ("12o", "not-a-number"),
        ("", "missing-value"),
        ("  ", "missing-value"),
        ('"1,5"', "decimal-comma"),
        ('"1,234"', "ambiguous-number"),
        ("20 °C", "not-a-number"),
        ("<5", "not-a-number"),
        ("n/a", "not-a-number"),
    ],
)
def test_a_cell_that_spoils_a_column_of_numbers_is_named(mistakes, cell, code):
    assert mistakes(f"x,y\n{TWENTY}{cell},2\n") == [(code, 22, "x")]


def test_a_column_of_decimal_commas_is_refused_where_no_semicolon_explains_it(mistakes):
    assert mistakes("x\ty\n1,5\t1\n2,5\t2\n") == [("decimal-comma", 2, "x"), ("decimal-comma", 3, "x")]


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1 234.5", 1234.5),
        ("1\u202f234.5", 1234.5),
        ("1'234.5", 1234.5),
        ("−5", -5.0),
        ('"1.234,5"', 1234.5),
        ('"1 234,5"', 1234.5),
        ('"1,234,567"', 1234567.0),
        ('"1,234.5"', 1234.5),
    ],
)
def test_a_number_is_understood_as_people_write_it_if_it_can_mean_only_one(read, cell, number):
    assert read(f"x,y\n{TWENTY}{cell},2\n").numbers[-1].tolist() == [number, 2.0]


def test_decimal_commas_are_understood_where_the_column_is_known_to_hold_numbers(read):
    table = read("x\ty\n1,5\t1\n1,234\t2\n", Declared(kinds={"x": "number"}))
    assert table.numbers.tolist() == [[1.5, 1.0], [1.234, 2.0]]


def test_beside_semicolons_a_point_may_separate_thousands(read, mistakes):
    assert read("x;y\n1.234,5;1\n2 345;2\n").numbers.tolist() == [[1234.5, 1.0], [2345.0, 2.0]]
    assert read("x;y\n1.25;1\n2.345;2\n").numbers.tolist() == [[1.25, 1.0], [2.345, 2.0]]
    assert mistakes("x;y\n1.234;1\n2.345;2\n") == [("ambiguous-number", 2, "x"), ("ambiguous-number", 3, "x")]
    late = "".join(f"{number};1\n" for number in range(600))
    assert mistakes(f"x;y\n{late}1.234;1\n") == [("ambiguous-number", 602, "x")]


def test_a_column_of_texts_with_some_numbers_is_text_with_a_warning(read, codes):
    table = read("grade,y\n1,1\n2,2\nA,3\n")
    assert table.columns[0].levels == ("1", "2", "A")
    assert codes(table.warnings) == ["mixed-types"]


def test_a_declared_kind_overrides_what_the_cells_look_like(read):
    table = read("batch,on\n007,1\n8,0\n", Declared(kinds={"batch": "text", "on": "boolean"}))
    assert table.columns[0].levels == ("007", "8")
    assert (table.columns[1].kind, table.numbers.tolist()) == ("boolean", [[1.0], [0.0]])


def test_a_declared_number_must_be_one_in_every_row(mistakes):
    assert mistakes("x\na\n1\nb\n", Declared(kinds={"x": "number"})) == [
        ("not-a-number", 2, "x"),
        ("not-a-number", 4, "x"),
    ]


def test_a_declared_boolean_must_be_one_in_every_row(mistakes):
    declared = Declared(kinds={"x": "boolean", "y": "boolean"})
    assert mistakes("x,y\nyes,1\nmaybe,2\n", declared) == [("not-a-boolean", 3, "x"), ("not-a-boolean", 3, "y")]


def test_zero_and_one_are_numbers_and_a_mixture_of_yes_and_text_is_text(read):
    table = read("a,b\n0,yes\n1,perhaps\n")
    assert [column.kind for column in table.columns] == ["number", "text"]


def test_attributes_are_carried_along_and_may_be_missing(read):
    declared = Declared(roles={"note": "attribute", "cost": "attribute", "old": "attribute", "none": "attribute"})
    table = read("x,note,cost,old,none\n1,a,2.5,yes,\n2,,,,\n3,b,3,no,\n", declared)
    assert table.attributes == {
        "note": ["a", None, "b"],
        "cost": [2.5, None, 3.0],
        "old": [True, None, False],
        "none": [None, None, None],
    }
    assert table.numbers.tolist() == [[1.0], [2.0], [3.0]]


def test_the_key_may_have_any_name(read):
    table = read("id,key\nA,1\nB,2\n", Declared(key="id"))
    assert (table.keys, table.columns[1].role) == (["A", "B"], "feature")
    assert read("id,x\n01,1\n1,2\n", Declared(roles={"id": "key"})).keys == ["01", "1"]


def test_a_repeated_key_names_both_rows(mistakes, read):
    content = "key,x\nB,1\nA,2\nC,3\nD,4\nA,5\n"
    assert mistakes(content) == [("key-twice", 6, "key")]
    with pytest.raises(InvalidCandidates) as refused:
        read(content)
    assert refused.value.findings[0].message.startswith("Rows 3 and 6 have the same key.")


@pytest.mark.parametrize(
    ("key", "code"), [("", "key-empty"), (" A", "key-outer-space"), ("A\x07", "key-control-character")]
)
def test_a_key_is_a_printable_text(mistakes, key, code):
    assert mistakes(f"key,x\nB,1\n{key},2\n") == [(code, 3, "key")]


def test_two_key_columns_are_refused(mistakes):
    assert ("several-keys", None, None) in mistakes("a,b,x\n1,2,3\n", Declared(key="a", roles={"b": "key"}))
