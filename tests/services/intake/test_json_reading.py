"""Candidates as JSON rows."""

import pytest

from app.domain.candidates import Column
from app.domain.errors import InvalidCandidates
from app.services.intake.columns import Declared
from app.services.intake.json_reading import read_json_rows
from app.services.intake.limits import IntakeLimits


def mistakes_in(rows, declared=None, limits=None):
    with pytest.raises(InvalidCandidates) as refused:
        read_json_rows(rows, declared, limits)
    return [(finding.code, finding.row, finding.column) for finding in refused.value.findings]


def test_json_says_itself_what_a_value_is():
    table = read_json_rows([{"key": "A", "x": 1, "s": "1", "b": True}, {"key": 7, "b": False, "s": "2", "x": 2.5}])
    assert table.columns[1:] == (
        Column("x", "number", "feature"),
        Column("s", "text", "feature", ("1", "2")),
        Column("b", "boolean", "feature"),
    )
    assert (table.keys, table.numbers.tolist()) == (["A", "7"], [[1.0, 1.0], [2.5, 0.0]])


def test_null_is_a_missing_value():
    rows = [{"x": 1, "n": None}, {"x": None, "n": 2}]
    assert mistakes_in(rows, Declared(roles={"n": "attribute"})) == [("missing-value", 2, "x")]
    assert read_json_rows([{"x": 1, "n": None}, {"x": 2}], Declared(roles={"n": "attribute"})).attributes == {
        "n": [None] * 2
    }


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 10**400, -(10**5000)], ids=["nan", "inf", "wide", "wider"]
)
def test_numbers_must_be_finite(value):
    assert mistakes_in([{"x": value}, {"x": 1}]) == [("not-finite", 1, "x")]


@pytest.mark.parametrize("value", ["\ud800", "a\0b"])
def test_broken_texts_are_refused(value):
    assert mistakes_in([{"x": value}]) == [("broken-text", 1, "x")]


def test_one_text_among_many_numbers_is_a_mistake():
    assert mistakes_in([*({"x": number} for number in range(20)), {"x": "many"}]) == [("not-a-number", 21, "x")]


@pytest.mark.parametrize(
    ("rows", "mistake"),
    [
        ({}, ("not-a-list", None, None)),
        ([], ("no-candidates", None, None)),
        ([{}], ("no-features", 1, None)),
        ([1], ("not-an-object", 1, None)),
        ([{"x": [1]}], ("nested-value", 1, "x")),
        ([{"x": 1}, {"x": 1, "y": 2}], ("unknown-column", 2, "y")),
        ([{"x": 1}, {"x": 1, "\ud800": 2}], ("unknown-column", 2, None)),
        ([{"key": 1.5, "x": 1}, {"key": None, "x": 2}], ("key-empty", 2, "key")),
    ],
)
def test_what_is_no_row_is_named(rows, mistake):
    assert mistakes_in(rows) == [mistake]


def test_json_is_for_small_sets():
    assert mistakes_in([{"x": 1}] * 3, limits=IntakeLimits(json_rows=2)) == [("too-many-rows", None, None)]
