"""What measurements cost and how long they take: columns, batches within a budget, what was spent."""

from typing import Any

import pytest

from tests.api.conftest import problem
from tests.api.lab import LIST, SOLVENTS, THEORY, Lab, keys, truth
from tests.conftest import on_sqlite

PRICE = dict(zip(SOLVENTS, (2.0, 5.0, 20.0), strict=True))
PRICED = "\n".join(
    line + (",price,minutes" if line.startswith("key") else f",{PRICE[line.partition('-')[0]]:g},{line.split(',')[1]}")
    for line in LIST.strip().splitlines()
)
CSV = {"Content-Type": "text/csv"}


def price(key: str) -> float:
    return PRICE[key.partition("-")[0]]


def minutes(key: str) -> float:
    return float(key.partition("-")[2])


def begin(lab: Lab, content: str = PRICED, **settings: Any) -> Lab:
    assert lab.client.put(lab.path, json=settings).status_code == 201
    params = {"cost": "price", "duration": "minutes"}
    uploaded = lab.client.put(f"{lab.path}/candidates", content=content, params=params, headers=CSV)
    assert uploaded.status_code == 201, uploaded.text
    return lab


@pytest.fixture(params=["auto", "theory", "several"])
def working(lab: Lab, request: pytest.FixtureRequest) -> Lab:
    """A lab with some results, in either mode, and with two objectives."""
    settings: dict[str, Any] = {"repeats": "never", "max_batch": 20}
    if request.param == "theory":
        settings["theory"] = THEORY
    if request.param == "several":
        settings["objectives"] = [{"name": "a", "direction": "maximize"}, {"name": "b", "direction": "minimize"}]
    begin(lab, **settings)
    for key in ("DMF-20", "THF-60", "MeOH-90", "DMF-70", "THF-30", "DMF-50"):
        values = {"a": truth(key), "b": minutes(key)} if request.param == "several" else {"value": truth(key)}
        assert lab.report(candidate=key, values=values).status_code == 201
    return lab


def test_a_cost_is_shown_and_is_no_feature_unless_it_is_said(lab: Lab) -> None:
    begin(lab)
    columns = {
        column["name"]: (column["role"], column["expense"]) for column in lab.client.get(lab.path).json()["columns"]
    }
    assert (columns["price"], columns["minutes"]) == (("attribute", "cost"), ("attribute", "duration"))
    batch = lab.batch(max_size=3)
    for suggestion in batch["suggestions"]:
        assert (suggestion["cost"], suggestion["duration"]) == (price(suggestion["key"]), minutes(suggestion["key"]))
        assert "price" not in suggestion["features"]
    assert batch["cost"] == sum(map(price, keys(batch)))
    assert batch["duration"] == sum(map(minutes, keys(batch)))
    sheet = lab.client.get(f"{lab.path}/batches/1/sheet").text.splitlines()
    assert "price" in sheet[0].split(",")
    assert lab.get(f"candidates/{keys(batch)[0]}")["cost"] == price(keys(batch)[0])


def test_a_cost_may_be_a_feature_as_well(lab: Lab) -> None:
    lab.client.put(lab.path, json={})
    params = {"cost": "price", "feature": "price"}
    uploaded = lab.client.put(f"{lab.path}/candidates", content=PRICED, params=params, headers=CSV).json()
    column = next(column for column in uploaded["columns"] if column["name"] == "price")
    assert (column["role"], column["expense"]) == ("feature", "cost")
    assert lab.batch(max_size=2, budget=4)["cost"] <= 4


def test_json_and_npy_lists_have_costs_too(lab: Lab) -> None:
    lab.client.put(lab.path, json={})
    rows = [{"key": f"k{n}", "x": float(n), "price": n + 1.0} for n in range(6)]
    params = {"cost": "price"}
    checked = lab.client.put(f"{lab.path}/candidates", json={"candidates": rows}, params=params)
    assert checked.status_code == 201, checked.text
    added = lab.client.post(f"{lab.path}/candidates", json={"candidates": [{"key": "n", "x": 9.5, "price": -1.0}]})
    assert problem(added, 422, "invalid-candidates")["errors"][0]["code"] == "expense-out-of-range"
    assert lab.batch(max_size=3, budget=6)["cost"] <= 6


BAD_CELLS = {
    "negative": ("-1", "expense-out-of-range"),
    "missing": ("", "missing-expense"),
    "too large": ("1e16", "expense-out-of-range"),
    "not a number": ("dear", "not-a-number"),
    "infinite": ("inf", "not-finite"),
}


@on_sqlite
@pytest.mark.parametrize("name", BAD_CELLS)
def test_a_cost_that_cannot_be_is_refused_with_its_row(lab: Lab, name: str) -> None:
    cell, code = BAD_CELLS[name]
    lab.client.put(lab.path, json={})
    content = f"key,x,price\na,1,2\nb,2,{cell}\nc,3,4\n"
    refused = lab.client.put(f"{lab.path}/candidates", content=content, params={"cost": "price"}, headers=CSV)
    [error] = problem(refused, 422, "invalid-candidates")["errors"]
    assert (error["code"], error["row"], error["column"]) == (code, 3, "price")


@on_sqlite
@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"cost": "prize"}, "unknown-column"),
        ({"cost": "price", "text": "price"}, "not-an-expense"),
        ({"cost": "key"}, "not-an-expense"),
        ({"cost": "price", "duration": "price"}, "duration"),
    ],
)
def test_a_column_that_cannot_be_a_cost_is_refused(lab: Lab, params: dict[str, str], code: str) -> None:
    lab.client.put(lab.path, json={})
    refused = lab.client.put(f"{lab.path}/candidates", content=PRICED, params=params, headers=CSV)
    assert refused.status_code == 422
    assert code in {error["code"] for error in refused.json()["errors"]}


@on_sqlite
def test_a_described_space_has_no_costs(lab: Lab) -> None:
    lab.client.put(lab.path, json={})
    body = {"parameters": {"x": {"low": 0, "high": 5, "step": 1}}}
    refused = lab.client.put(f"{lab.path}/candidates", json=body, params={"cost": "x"})
    assert problem(refused, 422, "invalid-candidates")["errors"][0]["code"] == "expense-of-a-space"


def test_a_batch_stays_within_its_budget_and_time_and_replays(working: Lab) -> None:
    batch = working.batch(budget=30, time=200, min_size=2, max_size=8)
    assert batch["cost"] <= 30
    assert batch["duration"] <= 200
    assert len(keys(batch)) >= 2
    if not working.get("summary")["front"]:
        assert set(batch["prices"]) == {"budget", "time"}
        assert min(batch["prices"].values()) >= 0
    assert working.replays(1)


def test_the_first_batch_stays_within_a_budget(lab: Lab) -> None:
    batch = begin(lab).batch(budget=12, max_size=10)
    assert batch["cost"] <= 12
    assert lab.replays(1)


def test_a_preview_heeds_the_budget_and_can_be_confirmed(working: Lab) -> None:
    looked = working.ask(preview=True, budget=9, max_size=4)
    assert looked.status_code == 200, looked.text
    preview = looked.json()
    assert preview["cost"] <= 9
    assert keys(working.batch(confirm=preview["preview"], budget=9, max_size=4)) == keys(preview)


def test_a_budget_too_small_for_anything_names_the_cheapest(working: Lab) -> None:
    refused = problem(working.ask(budget=1.5), 409, "terms-unmet")
    assert "costs 2, and `budget` leaves 1.5" in refused["detail"]
    refused = problem(working.ask(budget=20, min_size=12, max_size=12), 409, "terms-unmet")
    assert "`budget`" in refused["detail"]
    inclusion = problem(working.ask(budget=10, include=["MeOH-20"]), 422, "invalid-input")
    assert inclusion["errors"][0]["pointer"] == "/budget"


@on_sqlite
def test_a_budget_needs_costs(lab: Lab) -> None:
    lab.begin()
    refused = problem(lab.ask(budget=10), 422, "invalid-input")
    assert refused["errors"][0]["pointer"] == "/budget"
    assert problem(lab.ask(time=10), 422, "invalid-input")["errors"][0]["pointer"] == "/time"
    lab.change(budget=100)
    assert "have no costs" in problem(lab.ask(), 409, "terms-unmet")["detail"]
    assert lab.get("summary")["spending"] is None


def spending(lab: Lab, **params: Any) -> dict[str, Any]:
    found: dict[str, Any] = lab.get("summary", **params)["spending"]
    return found


def test_the_summary_says_what_was_spent_what_is_committed_and_what_is_left(lab: Lab) -> None:
    begin(lab, budget=100, cost_unit="EUR", repeats="never")
    assert spending(lab) == {"unit": "EUR", "spent": 0.0, "committed": 0.0, "budget": 100.0, "left": 100.0}
    batch = lab.batch(include=["DMF-20", "THF-20", "MeOH-20"], max_size=3)
    assert spending(lab)["committed"] == 27.0
    before = lab.get("summary")["seq"]
    lab.report(suggestion="B1-S1", value=1.0)
    lab.report(suggestion="B1-S2", failed={"reason": "the robot stopped", "retry": True})
    lab.report(suggestion="B1-S3", abandoned={"reason": "no time"})
    lab.report(candidate="MeOH-30", value=2.0)
    assert batch["cost"] == 27.0
    assert lab.get("batches/1")["cost"] == 7.0
    assert spending(lab) == {"unit": "EUR", "spent": 27.0, "committed": 0.0, "budget": 100.0, "left": 73.0}
    lab.retract(1)
    assert spending(lab)["spent"] == 27.0
    assert spending(lab, as_of=before)["committed"] == 27.0


def test_asks_stay_within_what_is_left_of_the_studys_budget(lab: Lab) -> None:
    begin(lab, budget=13, repeats="never")
    first = lab.batch("one", max_size=3)
    second = lab.ask("two", max_size=3)
    committed = first["cost"] + (second.json()["cost"] if second.status_code == 201 else 0.0)
    assert committed <= 13
    while (asked := lab.ask("more", max_size=1)).status_code == 201:
        lab.measure(asked.json())
    assert "the study's budget leaves" in problem(asked, 409, "terms-unmet")["detail"]
    assert spending(lab)["left"] < 2
    lab.measure(first)
    assert lab.change(budget=100).status_code == 200
    batch = lab.batch("more", max_size=2, budget=50)
    assert set(batch["prices"]) == {"budget", "study_budget"}
    assert all(lab.replays(number) for number in range(1, batch["number"] + 1))


def test_a_swap_stays_within_the_budget_of_its_batch_and_replays(lab: Lab) -> None:
    begin(lab, budget=60, repeats="never")
    lab.report(candidate="DMF-50", value=0.3)
    batch = lab.batch(include=[{"key": "THF-20", "replicates": 2}, "DMF-20"], budget=16, min_size=3, max_size=3)
    assert batch["cost"] == 12.0
    swapped = lab.client.post(f"{lab.path}/suggestions/B1-S1/swap", json={"reason": "not in stock"})
    assert swapped.status_code == 200, swapped.text
    assert swapped.json()["cost"] <= 16
    assert lab.replays(1)


@on_sqlite
def test_a_budget_that_cannot_be_is_refused(lab: Lab) -> None:
    begin(lab)
    for budget in (-1, 1e16):
        assert problem(lab.ask(budget=budget), 422, "invalid-input")["errors"][0]["pointer"] == "/budget"
        assert lab.change(budget=budget).status_code == 422
    assert lab.change(budget=0).status_code == 200
    assert lab.change(budget=None).status_code == 200


def test_a_study_with_costs_moves_in_an_archive(lab: Lab) -> None:
    begin(lab, budget=100, cost_unit="EUR")
    lab.batch(budget=20, max_size=3)
    archive = lab.client.get(f"{lab.path}/archive").content
    lab.client.delete(f"{lab.path}?confirm={lab.study}")
    renamed = lab.client.post("/v1/archives", content=archive, headers={"Content-Type": "application/zip"})
    assert renamed.status_code == 201, renamed.text  # its events can have happened, and its name is free again
