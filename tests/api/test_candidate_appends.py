"""Adding candidates later: in the study's own columns, every key once, whoever else adds at the same time."""

from concurrent.futures import ThreadPoolExecutor

from fastapi.testclient import TestClient

from tests.api.conftest import CSV, Upload, problem

MORE = "solvent,key,dry,temperature\nwater,B1,true,70\nTHF,B2,false,60\n"


def test_more_candidates_follow_the_first(filled: str, upload: Upload, admin: TestClient) -> None:
    added = upload(MORE, method="POST")
    assert (added.status_code, added.json()["added"], added.json()["candidates"]) == (201, 2, 5)
    page = admin.get("/v1/studies/s/candidates").json()["candidates"]
    assert [one["key"] for one in page] == ["A1", "A2", "A3", "B1", "B2"]
    assert page[3]["features"] == {"temperature": 70.0, "solvent": "water", "dry": True}
    assert [one["number"] for one in page] == [0, 1, 2, 3, 4]


def test_new_texts_become_new_levels_and_are_pointed_out(filled: str, upload: Upload) -> None:
    added = upload(MORE, method="POST").json()
    levels = {column["name"]: column["levels"] for column in added["columns"]}
    assert levels["solvent"] == ["DMF", "THF", "water"]
    assert [warning["code"] for warning in added["warnings"]] == ["new-levels"]


def test_the_first_may_be_added_too(study: str, upload: Upload) -> None:
    assert upload(CSV, method="POST").json()["candidates"] == 3


def test_a_key_that_is_there_is_refused_with_its_row(filled: str, upload: Upload, admin: TestClient) -> None:
    clash = "key,temperature,solvent,dry\nB1,1,DMF,true\nA2,2,DMF,true\n"
    document = problem(upload(clash, method="POST"), 422, "invalid-candidates")
    assert [(error["code"], error["row"]) for error in document["errors"]] == [("key-twice", 3)]
    assert "another key, or delete the row" in document["errors"][0]["message"]
    assert admin.get("/v1/studies/s").json()["candidates"] == 3


def test_either_all_have_keys_or_none_has(filled: str, upload: Upload, admin: TestClient) -> None:
    problem(upload("temperature,solvent,dry\n1,DMF,true\n", method="POST"), 422, "invalid-candidates")
    admin.put("/v1/studies/numbered", json={})
    assert upload("t\n1\n2\n", study="numbered").status_code == 201
    problem(upload("key,t\nx,3\n", study="numbered", method="POST"), 422, "invalid-candidates")
    assert upload("t\n3\n4\n", study="numbered", method="POST").status_code == 201
    page = admin.get("/v1/studies/numbered/candidates").json()["candidates"]
    assert [one["key"] for one in page] == ["1", "2", "3", "4"]
    assert admin.get("/v1/studies/numbered/candidates/3").json()["features"] == {"t": 3.0}


def test_other_columns_are_refused(filled: str, upload: Upload) -> None:
    document = problem(upload("key,temperature,pressure\nB1,1,2\n", method="POST"), 422, "invalid-candidates")
    assert {error["column"] for error in document["errors"]} == {"solvent", "dry"}


def test_those_who_add_at_the_same_time_all_succeed(filled: str, upload: Upload, admin: TestClient) -> None:
    def add(number: int) -> int:
        rows = f"key,temperature,solvent,dry\nC{number},{number},S{number},true\nD{number},1,DMF,false\n"
        return upload(rows, method="POST").status_code

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(add, range(3))) == [201] * 3
    page = admin.get("/v1/studies/s/candidates").json()["candidates"]
    found = {one["key"]: one["features"]["solvent"] for one in page}
    assert len(page) == len(found) == 9
    assert {key: solvent for key, solvent in found.items() if key[0] == "C"} == {f"C{n}": f"S{n}" for n in range(3)}
