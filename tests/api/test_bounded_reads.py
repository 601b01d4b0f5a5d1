"""Reads whose size or work a caller chooses: more than a bound is refused before anything is computed."""

import pytest

from app.services.use_cases.candidates import MOST_CELLS
from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.conftest import on_sqlite

pytestmark = on_sqlite


def test_a_filter_has_a_limited_number_of_conditions(lab: Lab) -> None:
    """Five requests with 4,000 conditions each stopped all long work."""
    lab.begin()
    path = f"{lab.path}/candidates"
    assert lab.client.get(path, params={"where": ["temperature>=20"] * 20}).status_code == 200
    problem(lab.client.get(path, params={"where": ["temperature>=20"] * 21}), 422, "invalid-input")


def test_a_page_has_a_limited_number_of_cells(lab: Lab) -> None:
    """A page of 10,000 candidates with 2,000 columns took 3 GB."""
    columns, rows = 2_000, 700
    header = ",".join(["key", *(f"c{number}" for number in range(columns))])
    lines = "\n".join(f"k{row}," + ",".join([str(row)] * columns) for row in range(rows))
    lab.begin(f"{header}\n{lines}\n")
    shown = []
    while len(shown) < rows:
        page = lab.get("candidates", limit=10_000, offset=len(shown))
        assert 0 < len(page["candidates"]) * len(lab.client.get(lab.path).json()["columns"]) <= MOST_CELLS
        shown += [candidate["key"] for candidate in page["candidates"]]
    assert shown == [f"k{row}" for row in range(rows)]
    assert page["total"] == rows


@pytest.mark.parametrize("limit", [1, 100])
def test_an_ordinary_page_is_not_refused(lab: Lab, limit: int) -> None:
    lab.begin()
    assert len(lab.get("candidates", limit=limit)["candidates"]) == min(limit, 24)
