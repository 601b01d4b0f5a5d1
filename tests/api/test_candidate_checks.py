"""A list can be checked before there is a study: what it would be, what seems odd, what is wrong in which row."""

from fastapi.testclient import TestClient

from tests.api.conftest import CSV, problem
from tests.conftest import on_sqlite

pytestmark = on_sqlite  # nothing of it reaches a database
AS_CSV = {"Content-Type": "text/csv"}


def test_a_check_says_what_the_list_would_be_and_stores_nothing(admin: TestClient) -> None:
    answer = admin.post("/v1/candidates/check", params={"attribute": "dry"}, content=CSV, headers=AS_CSV)
    receipt = answer.json()
    assert (answer.status_code, receipt["stored"], receipt["candidates"]) == (200, False, 3)
    assert [(one["name"], one["role"]) for one in receipt["columns"]] == [
        ("key", "key"),
        ("temperature", "feature"),
        ("solvent", "feature"),
        ("dry", "attribute"),
    ]
    assert admin.get("/v1/studies").json()["studies"] == []


def test_the_key_is_found_however_its_header_is_written(admin: TestClient) -> None:
    for header in ("Key", "KEY"):
        answer = admin.post("/v1/candidates/check", content=f"{header},x\nA1,1\nA2,2\n", headers=AS_CSV)
        assert [column["role"] for column in answer.json()["columns"]] == ["key", "feature"]
    declared = admin.post(
        "/v1/candidates/check", params={"key": "code"}, content="Key,code,x\nA1,b,1\nA2,a,2\n", headers=AS_CSV
    )
    assert [column["role"] for column in declared.json()["columns"]] == ["feature", "key", "feature"]


def test_a_check_names_the_rows_that_are_wrong(admin: TestClient) -> None:
    content = "key,temperature\nA1,90\nA1,95\n"
    refused = problem(admin.post("/v1/candidates/check", content=content, headers=AS_CSV), 422, "invalid-candidates")
    assert [one["row"] for one in refused["errors"]] == [3]


def test_a_check_names_columns_that_tell_the_model_little(admin: TestClient) -> None:
    rows = "".join(f"{celsius},{celsius + 273.15},ligand {celsius % 7}\n" for celsius in range(20, 32))
    answer = admin.post("/v1/candidates/check", content=f"celsius,kelvin,ligand\n{rows}", headers=AS_CSV)
    warnings = [(warning["code"], warning["column"]) for warning in answer.json()["warnings"]]
    assert warnings == [("many-levels", "ligand"), ("nearly-duplicate-column", "kelvin")]
