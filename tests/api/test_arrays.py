"""Numbers of all candidates as packed arrays: the same that the pages of candidates tell one by one."""

import numpy as np
import pytest
from httpx2 import Response

from app.arrays import Array
from tests.api.conftest import problem
from tests.api.lab import SOLVENTS, Lab

LIST = "key,temperature,solvent,dry,price\n" + "".join(
    f"K{n},{20 + 5 * n},{SOLVENTS[n % 3]},{'true' if n % 2 else 'false'},{n / 4 if n != 3 else ''}\n" for n in range(12)
)


def arrays(answer: Response, rows: int = 12) -> list[Array]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/octet-stream"
    return list(np.frombuffer(answer.content, dtype="<f4").reshape(-1, rows))


def upload(lab: Lab) -> None:
    params, headers = {"attribute": "price"}, {"Content-Type": "text/csv"}
    lab.client.put(f"{lab.path}/candidates", content=LIST, params=params, headers=headers).raise_for_status()


@pytest.fixture
def worked(lab: Lab) -> Lab:
    lab.client.put(lab.path, json={}).raise_for_status()
    upload(lab)
    lab.send({"observations": [{"key": f"K{n}", "value": float(n)} for n in range(4)]}).raise_for_status()
    lab.switch_off("K5").raise_for_status()
    return lab


def test_arrays_hold_what_the_pages_tell(worked: Lab) -> None:
    page = worked.client.get(f"{worked.path}/candidates", params={"posterior": True}).json()
    columns = {"column": ["solvent", "price", "dry"], "posterior": ["mean", "counts"], "similarity": True}
    path = f"{worked.path}/arrays"
    answer = worked.client.get(path, params=columns)
    solvent, price, dry, mean, counts, x, y, available = arrays(answer)
    levels = next(c["levels"] for c in worked.client.get(worked.path).json()["columns"] if c["name"] == "solvent")
    told = page["candidates"]
    assert [levels[int(code)] for code in solvent] == [one["features"]["solvent"] for one in told]
    assert [None if np.isnan(cell) else cell for cell in price] == [one["attributes"]["price"] for one in told]
    assert dry.astype(bool).tolist() == [one["features"]["dry"] for one in told]
    np.testing.assert_allclose(mean, [one["mean"] for one in page["posterior"]], rtol=1e-6)
    assert counts.tolist() == [one["counts"] for one in page["posterior"]]
    assert available.astype(bool).tolist() == [one["available"] for one in told]
    assert len(set(zip(x.tolist(), y.tolist(), strict=True))) == 12
    again = worked.client.get(path, params=columns, headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_long_list_is_cut_and_an_empty_one_is_empty(lab: Lab) -> None:
    lab.client.put(lab.path, json={}).raise_for_status()
    assert lab.client.get(f"{lab.path}/arrays", params={"posterior": "mean", "similarity": True}).content == b""
    upload(lab)
    cut = arrays(lab.client.get(f"{lab.path}/arrays", params={"column": "temperature", "limit": 5}), rows=5)
    assert [array.tolist() for array in cut] == [[20.0, 25.0, 30.0, 35.0, 40.0], [1.0] * 5]


def test_a_name_that_nothing_has_is_refused(worked: Lab) -> None:
    for wrong in ({"column": "key"}, {"column": "pressure"}, {"posterior": "median"}):
        problem(worked.client.get(f"{worked.path}/arrays", params=wrong), 422, "invalid-input")


def test_candidates_are_read_by_their_places(worked: Lab) -> None:
    found = worked.client.get(f"{worked.path}/candidates", params={"number": [7, 2, 99]}).json()
    assert [one["key"] for one in found["candidates"]] == ["K2", "K7"]
