"""Reads whose size or work a caller chooses: more than a bound is refused before anything is computed."""

import pytest

from app.domain.limits import MOST_PAGE_CELLS
from app.services.memory import PER_SUGGESTION
from app.services.resources import Resources
from app.services.use_cases import candidates, events
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
        assert 0 < len(page["candidates"]) * len(lab.client.get(lab.path).json()["columns"]) <= MOST_PAGE_CELLS
        shown += [candidate["key"] for candidate in page["candidates"]]
    assert shown == [f"k{row}" for row in range(rows)]
    assert page["total"] == rows


@pytest.mark.parametrize("role", ["feature", "attribute"])
def test_a_page_of_long_texts_counts_their_bytes(lab: Lab, resources: Resources, role: str) -> None:
    """A page of 10,000 candidates with forty texts of a thousand characters took 800 MB, and counted as 168."""
    rows, length = 6_000, 1_000
    content = "key,t,note\n" + "".join(f"K{row},{row},{row:x>{length}}\n" for row in range(rows))
    lab.client.put(lab.path, json={}).raise_for_status()
    params, headers = {role: "note"}, {"Content-Type": "text/csv"}
    lab.client.put(f"{lab.path}/candidates", content=content, params=params, headers=headers).raise_for_status()
    reserved = list[int]()
    reserve = resources.memory.reserve
    resources.memory.reserve = lambda size: reserved.append(size) or reserve(size)  # type: ignore[method-assign]
    assert len(lab.get("candidates", limit=rows)["candidates"]) == rows
    assert 2 * rows * length < reserved.pop() < 5 * rows * length
    lab.get("candidates", limit=10)
    assert reserved.pop() < 20 * 5 * length
    object.__setattr__(resources.settings, "cache_bytes", 1_000_000)  # then each page has arrays of its own
    lab.get("candidates", limit=11)
    assert (reserved.pop() > rows * length) == (role == "attribute")


def test_a_page_has_a_limited_number_of_bytes_of_text(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three pages of 320 MB of text took 2 GB, and clients that read slowly kept them."""
    monkeypatch.setattr(candidates, "MOST_PAGE_TEXT_BYTES", 1_000)
    content = "key,t,note\n" + "".join(f"K{row},{row},{row:x>100}\n" for row in range(25))
    lab.client.put(lab.path, json={}).raise_for_status()
    params, headers = {"attribute": "note"}, {"Content-Type": "text/csv"}
    lab.client.put(f"{lab.path}/candidates", content=content, params=params, headers=headers).raise_for_status()
    pages = [lab.get("candidates", limit=1_000, offset=offset) for offset in (0, 10, 20)]
    assert [len(page["candidates"]) for page in pages] == [10, 10, 5]
    assert {page["total"] for page in pages} == {25}


@pytest.mark.parametrize("limit", [1, 100])
def test_an_ordinary_page_is_not_refused(lab: Lab, limit: int) -> None:
    lab.begin()
    assert len(lab.get("candidates", limit=limit)["candidates"]) == min(limit, 24)


def test_a_bench_takes_its_share_of_the_memory(lab: Lab, resources: Resources) -> None:
    """60,000 pending suggestions took 200 MB, for everyone who looked at them, and nothing counted them."""
    lab.begin().batch(min_size=3, max_size=3)
    reserved, reserve = list[int](), resources.memory.reserve
    resources.memory.reserve = lambda size: reserved.append(size) or reserve(size)  # type: ignore[method-assign]
    assert len(lab.get("suggestions")["suggestions"]) == 3
    assert lab.get("suggestions", state="observed")["suggestions"] == []
    assert reserved == [3 * PER_SUGGESTION, 0]
    assert resources.memory.reserved == 0


def test_a_list_has_a_limited_number_of_cells_however_it_is_described(lab: Lab) -> None:
    """A description of 100 parameters with a sample of a million took 3.4 GB."""
    lab.client.put(lab.path, json={}).raise_for_status()
    parameters = {f"p{number}": {"low": 0, "high": 1} for number in range(100)}
    refused = lab.client.put(f"{lab.path}/candidates", json={"parameters": parameters, "sample": 1_000_000})
    problem(refused, 422, "invalid-candidates")
    assert refused.json()["errors"][0]["code"] == "too-many-cells"


def test_a_list_has_a_limited_number_of_features(lab: Lab, resources: Resources) -> None:
    object.__setattr__(resources.settings, "max_cells", 300)
    lab.client.put(lab.path, json={}).raise_for_status()
    path, csv = f"{lab.path}/candidates", {"Content-Type": "text/csv"}
    many = "key,t\n" + "".join(f"K{number},L{number}\n" for number in range(20))  # 20 levels: 400 features
    refused = lab.client.put(path, content=many, headers=csv)
    problem(refused, 422, "invalid-candidates")
    assert refused.json()["errors"][0]["code"] == "too-many-features"
    few = "key,t\n" + "".join(f"K{number},L{number}\n" for number in range(15))
    assert lab.client.put(path, content=few, headers=csv).status_code == 201
    refused = lab.client.post(path, content="key,t\nA1,L1\nA2,L2\nA3,L3\nA4,L4\nA5,L5\nA6,L6\n", headers=csv)
    problem(refused, 422, "invalid-candidates")
    assert refused.json()["errors"][0]["code"] == "too-many-features"


def test_a_page_of_events_has_a_limited_number_of_bytes(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """An event may hold 32 MB, and a page a thousand of them."""
    monkeypatch.setattr(events, "MOST_PAGE_BYTES", 200)
    lab.begin().work(2, max_size=2)
    shown, after, pages = [], 0, 0
    while after is not None:
        page = lab.get("events", after=after, limit=1000)
        shown += [event["seq"] for event in page["events"]]
        after, pages = page["next"], pages + 1
    assert shown == list(range(1, len(shown) + 1))
    assert len(shown) == lab.client.post(f"{lab.path}/verify").json()["events"]
    assert pages > 2
