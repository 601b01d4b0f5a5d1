"""CSV that leaves the service, and comes back."""

import csv
from io import StringIO

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from app.services.intake.columns import Declared
from app.services.intake.csv_writing import csv_text, escape_formula, unescape_formula

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
FORMULAS = st.builds(str.__add__, st.sampled_from(["", "'", "''", "=", "+", "-", "@", "\t", "\r", "'="]), TEXTS)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "'=1", "''=1"])
def test_a_text_that_could_be_a_formula_gets_an_apostrophe(text):
    assert "".join(csv_text(["t"], [[text]])).removeprefix("t\r\n").strip('"\r\n').startswith("'")


def test_numbers_are_written_by_their_shortest_exact_text_and_never_escaped():
    written = "".join(csv_text(["a", "b", "c", "d"], [[-0.1, 1e300, True, None], [5e-324, -3, False, "x"]]))
    assert written == "a,b,c,d\r\n-0.1,1e+300,true,\r\n5e-324,-3,false,x\r\n"


@given(FORMULAS)
def test_escaping_can_be_undone_for_every_text(text):
    assert unescape_formula(escape_formula(text)) == text


@given(FORMULAS)
def test_no_escaped_text_begins_like_a_formula(text):
    assert not escape_formula(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_a_long_table_comes_in_pieces():
    pieces = list(csv_text(["x"], ([number] for number in range(2_500))))
    assert len(pieces) == 3
    assert len(list(csv.reader(StringIO("".join(pieces))))) == 2_501


@given(st.lists(st.tuples(FORMULAS, st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_table_that_was_written_is_read_back_the_same(read, rows):
    assume(all(text.strip() for text, _ in rows))
    table = read("".join(csv_text(["=name", "x"], rows)), Declared(kinds={"=name": "text"}))
    levels = table.columns[0].levels
    assert [
        (levels[code], number) for (code,), (number,) in zip(table.codes, table.numbers.tolist(), strict=True)
    ] == rows
