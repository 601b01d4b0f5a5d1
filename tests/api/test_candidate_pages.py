"""Reading candidates: sorted, filtered, searched and paged as a naive reader would, one by one, or as CSV."""

import csv
import io
from collections.abc import Callable
from operator import eq, ge, gt, le, lt
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.services.use_cases.candidates import first_in_order
from app.storage.database import Database
from tests.api.conftest import Upload, problem
from tests.conftest import on_sqlite

Row = dict[str, Any]

SIGNS: dict[str, Callable[[Any, Any], Any]] = {"=": eq, "<": lt, ">": gt, "<=": le, ">=": ge}
ROWS: list[Row] = [
    {
        "key": f"{'Ab'[n % 2]}/{n}ü",
        "t": float((n * 7) % 5),
        "solvent": ("DMF", "THF", "水")[n % 3],
        "dry": n % 4 == 0,
        "note": None if n % 5 == 0 else f"=n{n % 3}",
        "cost": None if n % 6 == 0 else n / 4,
        "available": n % 7 != 3,
    }
    for n in range(24)
]


def spelled(cell: Any) -> Any:
    return str(cell).lower() if isinstance(cell, bool) else cell


def as_csv(rows: list[Row]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    names = [name for name in rows[0] if name != "available"]
    writer.writerow(names)
    for row in rows:
        writer.writerow([spelled(row[name]) for name in names])
    return file.getvalue()


@pytest.fixture
def shelf(admin: TestClient, study: str, upload: Upload) -> TestClient:
    """A study whose candidates came in two uploads, some switched off."""
    assert upload(as_csv(ROWS[:15]), attribute=["note", "cost"]).status_code == 201
    assert upload(as_csv(ROWS[15:]), method="POST").status_code == 201
    for row in ROWS:
        if not row["available"]:
            change = {"available": False, "reason": "sold"}
            admin.patch(f"/v1/studies/s/candidates/{quote(row['key'], safe='')}", json=change).raise_for_status()
    return admin


conditions = st.one_of(
    st.tuples(st.sampled_from(["t", "cost"]), st.sampled_from(list(SIGNS)), st.sampled_from([0.0, 1.0, 2.5, 4.0])),
    st.tuples(st.just("solvent"), st.just("="), st.sampled_from(["DMF", "水", "nope", ""])),
    st.tuples(st.just("dry"), st.just("="), st.booleans()),
    st.tuples(st.just("note"), st.just("="), st.sampled_from(["=n1", "=n9"])),
)
queries = st.fixed_dictionaries(
    {
        "sort": st.sampled_from(
            ["", "t", "-t", "solvent", "-solvent", "dry", "-dry", "note", "-note", "cost", "-cost"]
        ),
        "available": st.none() | st.booleans(),
        "search": st.sampled_from(["", "a/", "B", "1", "Ü", "nope"]),
        "where": st.lists(conditions, max_size=2),
        "offset": st.integers(0, 30),
        "limit": st.integers(1, 30),
    }
)


def naive(query: Row) -> list[Row]:
    """The rows that a person with a list would find, in the order that person would put them."""

    def meets(row: Row) -> bool:
        return all(row[name] is not None and SIGNS[sign](row[name], value) for name, sign, value in query["where"])

    found = [row for row in ROWS if meets(row) and query["search"].casefold() in row["key"].casefold()]
    found = [row for row in found if query["available"] in (None, row["available"])]
    name = query["sort"].removeprefix("-")
    if not name:
        return found
    known = [row for row in found if row[name] is not None]
    ranks = sorted({row[name] for row in known}, reverse=query["sort"].startswith("-"))
    return sorted(known, key=lambda row: ranks.index(row[name])) + [row for row in found if row[name] is None]


def parameters(query: Row) -> Row:
    where = [f"{name}{sign}{spelled(value)}" for name, sign, value in query["where"]]
    return {name: value for name, value in query.items() if value is not None} | {"where": where}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=queries)
def test_a_page_has_what_a_naive_reader_would_find(shelf: TestClient, query: Row) -> None:
    answer = shelf.get("/v1/studies/s/candidates", params=parameters(query))
    assert answer.status_code == 200, answer.text
    wanted = naive(query)
    page = wanted[query["offset"] : query["offset"] + query["limit"]]
    got = [
        {"key": one["key"], **one["features"], **one["attributes"], "available": one["available"]}
        for one in answer.json()["candidates"]
    ]
    assert got == page
    assert answer.json()["total"] == len(wanted)


def test_everything_is_exported_as_csv_that_no_spreadsheet_runs(shelf: TestClient) -> None:
    answer = shelf.get("/v1/studies/s/candidates", params={"format": "csv", "sort": "-cost", "limit": 1})
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    wanted = naive({"sort": "-cost", "search": "", "available": None, "where": []})
    assert [row["key"] for row in rows] == [row["key"] for row in wanted]
    assert {row["note"] for row in rows} == {"", "'=n0", "'=n1", "'=n2"}
    assert {(row["available"], row["reason"]) for row in rows} == {("true", ""), ("false", "sold")}


@on_sqlite
@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize(
    "params",
    [
        {"sort": "nope"},
        {"sort": "key"},
        {"where": "nope=1"},
        {"where": "temperature"},
        {"where": "temperature=warm"},
        {"where": "solvent>a"},
        {"where": "dry=maybe"},
        {"offset": -1},
        {"limit": 10_001},
        {"limit": 0},
        {"available": "perhaps"},
    ],
)
def test_a_page_that_cannot_be_made_is_refused_before_the_first_byte(
    filled: str, admin: TestClient, params: dict[str, str], form: str
) -> None:
    answer = admin.get("/v1/studies/s/candidates", params={**params, "format": form})
    problem(answer, 422, "invalid-input")


@on_sqlite
def test_what_the_model_says_is_a_condition_too(study: str, upload: Upload, admin: TestClient) -> None:
    """Measured, on a bench or never; a column of the list with such a name keeps its meaning."""
    upload("key,t,pending\n" + "".join(f"K{n},{n},{n % 2}\n" for n in range(6)))
    reports = [{"candidate": f"K{n}", "value": float(n)} for n in range(3)]
    admin.post("/v1/studies/s/observations", json={"observations": reports}).raise_for_status()

    def keys(*where: str, posterior: bool = True) -> list[str]:
        params = {"where": list(where), "posterior": posterior}
        page = admin.get("/v1/studies/s/candidates", params=params).raise_for_status().json()
        assert page["total"] == len(page["candidates"])
        return [candidate["key"] for candidate in page["candidates"]]

    assert keys("counts>=1") == ["K0", "K1", "K2"]
    assert keys("counts=0", "t>3") == ["K4", "K5"]
    assert keys("pending=1") == ["K1", "K3", "K5"]
    exported = admin.get("/v1/studies/s/candidates", params={"where": "counts=0", "posterior": True, "format": "csv"})
    assert [row["key"] for row in csv.DictReader(io.StringIO(exported.text))] == ["K3", "K4", "K5"]
    for refused in ({"where": "counts=0"}, {"where": "counts=many", "posterior": True}):
        problem(admin.get("/v1/studies/s/candidates", params=refused), 422, "invalid-input")


def test_a_study_without_candidates_has_an_empty_page(study: str, admin: TestClient) -> None:
    assert admin.get("/v1/studies/s/candidates").json() == {"total": 0, "candidates": [], "posterior": None}
    exported = admin.get("/v1/studies/s/candidates", params={"format": "csv", "search": "x", "available": True})
    assert exported.text == "key,available,reason\r\n"


KEYS = [
    "a/b",
    "/a",
    "a/",
    "a//b",
    "ü€水",
    "a b",
    "50%",
    "a?b=c",
    "a#b",
    "a+b",
    "a;b",
    "..x",
    "grants",
    "a" * 200,
]


@on_sqlite
@pytest.mark.parametrize("key", KEYS)
def test_any_key_finds_its_candidate(study: str, upload: Upload, admin: TestClient, key: str) -> None:
    body = {"candidates": [{"key": key, "t": 1}, {"key": "other", "t": 2}]}
    assert admin.put("/v1/studies/s/candidates", json=body).status_code == 201
    address = f"/v1/studies/s/candidates/{quote(key, safe='')}"
    assert admin.get(address).json()["key"] == key
    changed = admin.patch(address, json={"available": False, "reason": "x"})
    assert (changed.json()["key"], changed.json()["available"]) == (key, False)


def test_a_key_that_is_nobodys_is_a_404(filled: str, admin: TestClient) -> None:
    for key in ("A9", "a1", "A1 ", "1", "0", "A1/"):
        problem(admin.get(f"/v1/studies/s/candidates/{key}"), 404, "candidate-not-found")


def test_a_candidate_is_switched_off_with_a_reason_and_on_again(filled: str, admin: TestClient) -> None:
    address = "/v1/studies/s/candidates/A2"
    problem(admin.patch(address, json={"available": False}), 422, "invalid-input")
    off = admin.patch(address, json={"available": False, "reason": "out of stock"}).json()
    assert (off["available"], off["reason"]) == (False, "out of stock")
    assert admin.get(address).json() == off
    other = admin.patch(address, json={"available": False, "reason": "really gone"}).json()
    assert other["reason"] == "really gone"
    on = admin.patch(address, json={"available": True, "reason": "back"}).json()
    assert (on["available"], on["reason"]) == (True, None)


def test_switching_to_what_it_is_adds_nothing_to_the_ledger(filled: str, admin: TestClient, database: Database) -> None:
    def events() -> int:
        with database.read() as connection:
            return connection.exec_driver_sql("SELECT count(*) FROM events").scalar_one()

    before = events()
    admin.patch("/v1/studies/s/candidates/A1", json={"available": True})
    assert events() == before
    off = {"available": False, "reason": "x"}
    for _ in range(2):
        admin.patch("/v1/studies/s/candidates/A1", json=off)
    assert events() == before + 1


@settings(deadline=None)
@given(st.lists(st.sampled_from([1.0, 2.0, 3.0, float("nan")]), max_size=12), st.none() | st.integers(0, 14))
def test_a_page_is_sorted_as_the_whole_list_is(ranks: list[float], most: int | None) -> None:
    whole = np.argsort(ranks, kind="stable")[:most]
    assert first_in_order(np.array(ranks), most).tolist() == whole.tolist()
