"""Uploading candidates: every form, all or nothing, and the same again changes nothing."""

import io
from typing import Any

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, insert, select

from app.storage import tables
from app.storage.database import Database
from tests.api.conftest import CSV, Upload, problem

FEATURES = [[90.0, 1.0], [100.0, 0.0]]


def npy(rows: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, np.array(rows))
    return file.getvalue()


def frame(form: str) -> bytes:
    file = io.BytesIO()
    table = pl.DataFrame({"key": ["A1", "A2"], "x1": [90.0, 100.0], "x2": [1.0, 0.0]})
    table.write_parquet(file) if form == "parquet" else table.write_ipc(file)
    return file.getvalue()


FORMS: dict[str, tuple[str | bytes, str]] = {
    "CSV": ("key,x1,x2\nA1,90,1\nA2,100,0\n", "text/csv"),
    "JSON": (
        '{"candidates": [{"key": "A1", "x1": 90, "x2": 1}, {"key": "A2", "x1": 100, "x2": 0}]}',
        "application/json",
    ),
    "npy": (npy(FEATURES), "application/x-npy"),
    "Parquet": (frame("parquet"), "application/vnd.apache.parquet"),
    "Arrow": (frame("arrow"), "application/vnd.apache.arrow.file"),
    "a grid": ('{"parameters": {"x1": {"low": 90, "high": 100, "step": 10}}}', "application/json"),
}


@pytest.mark.parametrize(("content", "media_type"), FORMS.values(), ids=FORMS.keys())
def test_candidates_come_in_every_form(
    admin: TestClient, study: str, upload: Upload, content: str | bytes, media_type: str
) -> None:
    stored = upload(content, media_type)
    assert (stored.status_code, stored.json()["added"], stored.json()["stored"]) == (201, 2, True), stored.text
    page = admin.get("/v1/studies/s/candidates").json()
    assert [one["features"]["x1"] for one in page["candidates"]] == [90.0, 100.0]
    assert admin.get("/v1/studies/s").json()["candidates"] == 2


def test_an_array_brings_its_keys_in_a_form(admin: TestClient, study: str) -> None:
    files = {"features": ("f.npy", npy(FEATURES)), "keys": ("keys.txt", "left\nright/ü\n".encode())}
    params = {"column": ["temperature", "dry"]}
    stored = admin.put("/v1/studies/s/candidates", files=files, params=params)
    assert stored.status_code == 201, stored.text
    page = admin.get("/v1/studies/s/candidates").json()["candidates"]
    assert [(one["key"], one["features"]) for one in page] == [
        ("left", {"temperature": 90.0, "dry": 1.0}),
        ("right/ü", {"temperature": 100.0, "dry": 0.0}),
    ]


@pytest.mark.parametrize("names", [["keys"], ["features", "other"], ["features", "features"]])
def test_a_form_of_other_files_is_refused(admin: TestClient, study: str, names: list[str]) -> None:
    answer = admin.put("/v1/studies/s/candidates", files=[(name, ("f", npy(FEATURES))) for name in names])
    assert answer.status_code in (415, 422)
    assert admin.get("/v1/studies/s").json()["candidates"] == 0


def test_columns_have_the_roles_they_were_given(admin: TestClient, study: str, upload: Upload) -> None:
    csv = "id,t,batch,note\n7,90,1,\n8,100,2,b\n"
    stored = upload(csv, key="id", attribute=["note"], text=["batch"])
    columns = {column["name"]: (column["kind"], column["role"]) for column in stored.json()["columns"]}
    assert columns == {
        "id": ("text", "key"),
        "t": ("number", "feature"),
        "batch": ("text", "feature"),
        "note": ("text", "attribute"),
    }
    first = admin.get("/v1/studies/s/candidates/7").json()
    assert (first["features"], first["attributes"]) == ({"t": 90.0, "batch": "1"}, {"note": None})


def rows_stored(database: Database) -> dict[str, int]:
    with database.read() as connection:
        return {
            name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in tables.metadata.tables.items()
        }


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_dry_run_checks_everything_and_stores_nothing(
    study: str, upload: Upload, database: Database, method: str
) -> None:
    before = rows_stored(database)
    tried = upload(CSV, dry_run=True, method=method)
    assert (tried.status_code, tried.json()["stored"], tried.json()["added"]) == (200, False, 3)
    problem(upload("key,t\nA1,1\nA1,2\n", dry_run=True, method=method), 422, "invalid-candidates")
    assert rows_stored(database) == before


def test_a_bad_upload_stores_nothing_and_names_row_and_column(filled: str, upload: Upload, admin: TestClient) -> None:
    before = admin.get("/v1/studies/s/candidates").content
    document = problem(upload("key,t\nA1,1\nA1,2\n,3\n"), 422, "invalid-candidates")
    assert document["total"] == len(document["errors"]) == 2
    assert [(error["row"], error["column"]) for error in document["errors"]] == [(3, "key"), (4, "key")]
    assert admin.get("/v1/studies/s/candidates").content == before


def test_the_first_hundred_mistakes_are_named_and_all_are_counted(study: str, upload: Upload) -> None:
    document = problem(upload("key,t\n" + "A1,1\n" * 300), 422, "invalid-candidates")
    assert (len(document["errors"]), document["total"]) == (100, 299)


def test_the_same_list_again_changes_nothing(filled: str, upload: Upload, admin: TestClient) -> None:
    before = admin.get("/v1/studies/s")
    again = upload(CSV)
    assert (again.status_code, again.json()["stored"]) == (200, False)
    after = admin.get("/v1/studies/s")
    assert (after.content, after.headers["ETag"]) == (before.content, before.headers["ETag"])


def test_another_list_replaces_the_first_only_on_request_and_while_nothing_refers_to_it(
    filled: str, upload: Upload, admin: TestClient
) -> None:
    admin.patch("/v1/studies/s/candidates/A1", json={"available": False, "reason": "broken"})
    problem(upload("key,pressure\nA1,1\nB2,2\n"), 409, "candidates-exist")
    assert admin.get("/v1/studies/s").json()["candidates"] == 3
    assert upload("key,pressure\nA1,1\nB2,2\n", replace=True).status_code == 201
    page = admin.get("/v1/studies/s/candidates").json()["candidates"]
    assert [(one["key"], one["features"], one["available"]) for one in page] == [
        ("A1", {"pressure": 1.0}, True),
        ("B2", {"pressure": 2.0}, True),
    ]


def test_a_list_in_use_is_not_replaced(filled: str, upload: Upload, database: Database) -> None:
    batch = {"worker": "w", "state": "open", "size": 1, "basis_seq": 1, "seq": 2, "created_at": "now"}
    batch |= {"record": "{}", "computation": "{}"}
    with database.write() as connection:
        study_id = connection.execute(select(tables.studies.c.id)).scalar_one()
        connection.execute(insert(tables.batches).values(study_id=study_id, number=1, **batch))
    problem(upload("key,t\nB1,1\nB2,2\n"), 409, "candidates-in-use")
    assert upload(CSV).status_code == 200


def test_an_archived_study_takes_no_candidates(filled: str, upload: Upload, admin: TestClient) -> None:
    admin.patch("/v1/studies/s", json={"state": "archived"}, headers={"If-Match": "*"})
    for method in ("PUT", "POST"):
        refused = upload("key,temperature,solvent,dry\nB1,1,DMF,true\n", method=method)
        problem(refused, 409, "study-not-active")


def test_an_archived_studys_candidates_stay_as_they_are(filled: str, admin: TestClient) -> None:
    admin.patch("/v1/studies/s", json={"state": "archived"}, headers={"If-Match": "*"})
    switched = admin.patch("/v1/studies/s/candidates/A1", json={"available": False, "reason": "broken"})
    problem(switched, 409, "study-not-active")


def test_a_space_that_is_too_large_says_how_large_it_is(study: str, upload: Upload) -> None:
    axis = {"low": 0, "high": 9999, "step": 1}
    space = {"parameters": dict.fromkeys("abcde", axis)}
    document = problem(upload(str(space).replace("'", '"'), "application/json"), 422, "invalid-candidates")
    assert "about 10^20 combinations" in document["errors"][0]["message"]


def test_an_upload_names_columns_that_tell_the_model_little(study: str, upload: Upload) -> None:
    rows = "".join(f"{celsius},{celsius + 273.15}\n" for celsius in range(20, 32))
    stored = upload(f"celsius,kelvin\n{rows}", "text/csv")
    assert stored.status_code == 201
    assert [warning["code"] for warning in stored.json()["warnings"]] == ["nearly-duplicate-column"]
