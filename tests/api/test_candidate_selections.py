"""Some candidates by their keys, and tables without some of their columns."""

from fastapi.testclient import TestClient

from tests.api.conftest import problem


def test_candidates_are_chosen_by_their_keys(admin: TestClient, filled: str) -> None:
    path = f"/v1/studies/{filled}/candidates"
    every = [candidate["key"] for candidate in admin.get(path).json()["candidates"]]
    chosen = [every[-1], every[0]]
    page = admin.get(path, params={"key": [*chosen, "nobody"]}).json()
    assert page["total"] == 2
    assert [candidate["key"] for candidate in page["candidates"]] == [every[0], every[-1]]  # in the order of the list
    problem(admin.get(path, params={"key": ["x"] * 10_001}), 422, "invalid-input")


def test_a_table_leaves_out_the_columns_it_is_told_to(admin: TestClient, filled: str) -> None:
    path = f"/v1/studies/{filled}/candidates"
    columns = [column["name"] for column in admin.get(f"/v1/studies/{filled}").json()["columns"]]
    features = [name for name in columns if name != "key"]
    whole = admin.get(path, params={"format": "csv"}).text.splitlines()
    less = admin.get(path, params={"format": "csv", "omit": features[0]}).text.splitlines()
    position = whole[0].split(",").index(features[0])
    assert less == [",".join(cell for i, cell in enumerate(line.split(",")) if i != position) for line in whole]
