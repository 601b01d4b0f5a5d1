"""The sheet of a batch: printed, filled in by people and spreadsheets, and read back."""

import csv
from io import StringIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.conftest import on_sqlite

HEADER = "suggestion,replicate,key,value,failed,note,measured_by,measured_at,ref\n"


@pytest.fixture
def bench(lab: Lab) -> Lab:
    lab.begin().batch(min_size=4, max_size=4)
    return lab


def sheet(lab: Lab, **params: str) -> str:
    return lab.client.get(f"{lab.path}/batches/1/sheet", params=params).text


def test_mistakes_are_told_in_the_order_of_the_rows(bench: Lab) -> None:
    refused = bench.sheet("key,value,measured_at\nDMF-20,1,yesterday\nTHF-20,much,\n,3,\nMeOH-20,more,\n")
    assert [error["row"] for error in refused.json()["errors"]] == [2, 3, 4, 5]


@pytest.mark.parametrize("decimal", ["point", "comma"])
@pytest.mark.parametrize("bom", ["true", "false"])
def test_a_filled_in_sheet_comes_back(bench: Lab, decimal: str, bom: str) -> None:
    delimiter = ";" if decimal == "comma" else ","
    text = sheet(bench, decimal=decimal, bom=bom)
    assert text.startswith("\ufeff") is (bom == "true")
    header, *rows = csv.reader(StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter)
    assert len(rows) == 4
    filled = StringIO(newline="")
    writer = csv.writer(filled, delimiter=delimiter)
    writer.writerow(header)
    for number, row in enumerate(rows[:3]):
        row[header.index("value")] = f"{number},25" if decimal == "comma" else f"{number}.25"
        row[header.index("note")] = 'said "odd";\nand, then, fine'
        writer.writerow(row)
    writer.writerow(rows[3])
    answer = bench.sheet(filled.getvalue())
    assert (answer.status_code, answer.json()["recorded"]) == (201, 3)
    assert [one["value"] for one in bench.observations()] == [0.25, 1.25, 2.25]
    assert {one["note"] for one in bench.observations()} == {'said "odd";\nand, then, fine'}
    assert bench.get("batches/1")["state"] == "open"


def test_a_sheet_tells_failures_and_abandonments(bench: Lab) -> None:
    key = bench.get("batches/1")["suggestions"][1]["key"]
    text = "suggestion,value,failed,abandoned\n1-1,,vial broke,\n1-2,,!explodes,\n1-3,,,no time\n1-4,2.5,,\n"
    assert bench.sheet(text).status_code == 201
    assert [one["state"] for one in bench.get("batches/1")["suggestions"]] == [
        "failed",
        "failed",
        "abandoned",
        "observed",
    ]
    assert [one["key"] for one in bench.get("candidates", available="false")["candidates"]] == [key]


def test_a_sheet_by_key_is_historical_data(lab: Lab) -> None:
    text = "key,value,measured_at,ref\nTHF-20,0.5,2025-01-01T12:00+01:00,a\nTHF-30,0.25,2025-01-01T12:00Z,b\n"
    assert lab.begin().sheet(text).json()["recorded"] == 2
    assert lab.observations()[0]["measured_at"] == "2025-01-01T11:00:00.000000Z"
    assert lab.sheet(text).json()["recorded"] == 0


WRONG = {
    "no header": ("B1-S1,0.5\n", 1, "header"),
    "a column twice": ("key,value,value\nTHF-20,1,2\n", 1, "header"),
    "ragged": ("suggestion,value\n1-1,0.5,7\n", 2, "ragged"),
    "a decimal comma in doubt": ('suggestion,value\n1-1,"1,234"\n', 2, "ambiguous-number"),
    "no number": ("suggestion,value\n1-1,0.5\n1-2,good\n", 3, "number"),
    "not finite": ("suggestion,value\n1-1,1e400\n", 2, "number"),
    "no suggestion": ("suggestion,value\nfirst,1\n", 2, "suggestion"),
    "an unknown suggestion": ("suggestion,value\n1-1,0.5\nB9-S9,1\n", 3, "unknown-suggestion"),
    "an unknown candidate": ("key,value\nnobody,1\n", 2, "unknown-candidate"),
    "neither": ("suggestion,key,value\n,,1\n", 2, "which"),
    "a time without a zone": ("key,value,measured_at\nTHF-20,1,2025-01-01\n", 2, "time"),
    "a time before the calendar": ("key,value,measured_at\nTHF-20,1,0001-01-01T00:00+23:00\n", 2, "time"),
    "a replicate out of reach": (f"suggestion,replicate,value\n1-1,{'9' * 5000},1\n", 2, "replicate"),
    "a long reference": (f"key,value,ref\nTHF-20,1,{'x' * 201}\n", 2, "text"),
    "two things said": ("suggestion,value,failed\n1-1,1,broke\n", 2, "several"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_mistake_in_a_sheet_names_its_row_and_stores_nothing(bench: Lab, what: str) -> None:
    text, row, rule = WRONG[what]
    finding = problem(bench.sheet(text), 422, "invalid-input")["errors"][0]
    assert (finding["row"], finding["code"]) == (row, rule)
    assert bench.observations() == []


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"a\0b", b'suggestion,value\n"B1-S1,0.5\n', HEADER.encode()])
def test_what_is_no_filled_in_sheet_is_refused(bench: Lab, content: bytes) -> None:
    problem(bench.sheet(content), 422, "invalid-input")


CELLS = st.one_of(
    st.sampled_from(
        ["B1-S1", "B1-S2", "B9-S9", "THF-20", "0.5", "0,5", "-0.0", "1e999", "NaN", "", "x", '"', "'=1", "２"]
    ),
    st.text(max_size=8),
)
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=10).map(",".join), max_size=5).map("\n".join)
BODIES = st.one_of(st.binary(max_size=200), ROWS.map(lambda rows: (HEADER + rows).encode("utf-8", "surrogatepass")))


@given(body=BODIES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_get_a_clean_answer(bench: Lab, body: bytes) -> None:
    answer = bench.sheet(body)
    assert answer.status_code < 500, answer.text


@on_sqlite
def test_a_sheet_cannot_smuggle_a_formula(lab: Lab) -> None:
    lab.begin("key,t\n'=1+1,1\n@b,2\n").batch()
    assert all(not line.split(",")[2].startswith(("=", "@")) for line in sheet(lab).splitlines()[1:])
