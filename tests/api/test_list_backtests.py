"""Backtests of lists: studies are simulated on a file whose results are known, and no study is left behind."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.domain import backtests as domain
from app.services.intake.columns import Declared
from app.services.intake.limits import IntakeLimits
from app.services.intake.uploads import Upload
from app.services.maintenance import drop_old_backtests
from app.services.workflows import backtest_job
from app.services.workflows.list_backtest import read_known
from app.storage.database import Database
from tests.api.conftest import problem

CSV = "key,heat,solvent,yield\n" + "".join(
    f"{solvent}-{heat},{heat},{solvent},{100 - abs(heat - 60) - (20 if solvent == 'THF' else 0)}\n"
    for heat in range(20, 110, 10)
    for solvent in ("DMF", "THF")
)
HEADERS = {"Content-Type": "text/csv"}
SMALL = {"objective": "yield", "seeds": "1", "batch_size": "4", "measurements": "8"}


def send(client: TestClient, content: str = CSV, headers: dict[str, str] | None = None, **params: Any) -> Any:
    return client.post("/v1/backtests", content=content, params=SMALL | params, headers=HEADERS | (headers or {}))


def until_done(client: TestClient, number: int, seconds: float = 240) -> dict[str, Any]:
    began = monotonic()
    while True:
        shown: dict[str, Any] = client.get(f"/v1/backtests/{number}").json()
        if shown["state"] not in ("waiting", "running"):
            return shown
        assert monotonic() - began < seconds, shown
        sleep(0.1)


def test_a_list_is_backtested_and_no_study_is_left_behind(admin: TestClient) -> None:
    begun = send(admin, seeds="2", batch_size=["2", "6"], measurements="12", within="1")
    assert begun.status_code == 201, begun.text
    assert (begun.json()["number"], begun.json()["total"]) == (1, 4)
    done = until_done(admin, 1)
    assert (done["state"], done["done"], done["problem"]) == ("finished", 4, None)
    result = done["result"]
    assert (result["candidates"], result["best"], result["within"]) == (18, 100, 1)
    assert [(choice["choice"], choice["batch_size"]) for choice in result["choices"]] == [
        ("study", 2),
        ("study", 6),
        ("random", None),
    ]
    assert admin.get("/v1/studies").json()["studies"] == []
    assert done["expires_at"] > done["created_at"]
    assert [shown["number"] for shown in admin.get("/v1/backtests").json()["backtests"]] == [1]


def test_smaller_results_can_be_better_and_candidates_without_a_result_are_left_out(admin: TestClient) -> None:
    gaps = CSV.replace("DMF-60,60,DMF,100", "DMF-60,60,DMF,")
    begun = send(admin, gaps, direction="minimize", settings='{"seed": 7, "goal": "explore"}')
    assert begun.status_code == 201, begun.text
    done = until_done(admin, 1)
    assert (done["result"]["candidates"], done["result"]["best"]) == (17, 40)
    assert (done["configuration"]["seed"], done["configuration"]["direction"]) == (7, "minimize")


def test_rows_with_the_same_features_are_repeats_of_one_candidate(tmp_path: Path) -> None:
    file = tmp_path / "known.csv"
    file.write_text("heat,solvent,yield\n1,a,1\n2,a,5\n1,a,2\n3,b,\n1,b,7\n1,a,3\n")
    table, [warning] = read_known(Upload("text/csv", file, Declared()), "yield", IntakeLimits())
    assert (table.numbers[:, 0].tolist(), table.codes[:, 0].tolist()) == ([1, 2, 1], [0, 0, 1])
    assert (table.values.tolist(), table.ends.tolist()) == ([1, 2, 3, 5, 7], [3, 4, 5])
    assert warning.message.startswith("2 rows repeat the features of an earlier row, and count as repeated")


def test_a_retry_starts_no_second_backtest_and_a_cancelled_one_ends(admin: TestClient) -> None:
    first, second = (send(admin, headers={"Idempotency-Key": "once"}, seeds="50") for _ in range(2))
    assert first.content == second.content
    assert len(admin.get("/v1/backtests").json()["backtests"]) == 1
    assert admin.post("/v1/backtests/1/cancel").json()["state"] == "cancelled"
    assert until_done(admin, 1)["result"] is None


def test_only_who_started_a_backtest_sees_it(admin: TestClient, new_key: Callable[..., str]) -> None:
    send(admin)
    until_done(admin, 1)
    other = {"Authorization": f"Bearer {new_key('scientist')}"}
    problem(admin.get("/v1/backtests/1", headers=other), 404, "not-found")
    problem(admin.post("/v1/backtests/1/cancel", headers=other), 404, "not-found")
    assert admin.get("/v1/backtests", headers=other).json()["backtests"] == []
    assert send(admin, headers=other).json()["number"] == 1  # each key counts its own
    admin.post("/v1/backtests/1/cancel", headers=other)


def test_a_key_has_only_a_few_backtests_at_a_time(admin: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domain, "MOST_OF_A_KEY", 1)
    assert send(admin, seeds="50").status_code == 201
    refused = problem(send(admin), 503, "overloaded")
    assert "Cancel one" in refused["detail"]
    admin.post("/v1/backtests/1/cancel")
    assert send(admin).json()["number"] == 2
    admin.post("/v1/backtests/2/cancel")


def test_backtests_whose_server_went_away_keep_nobody_from_starting_more(
    admin: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domain, "MOST_OF_A_KEY", 1)
    monkeypatch.setattr(backtest_job, "MOST_ACTIVE", 1)
    for silent in ("SILENT", "LONGEST_WAIT"):
        monkeypatch.setattr(backtest_job, silent, timedelta(seconds=-60))
    assert [send(admin, seeds="50").status_code for _ in range(2)] == [201, 201]
    for number in (1, 2):
        admin.post(f"/v1/backtests/{number}/cancel")


@pytest.mark.parametrize(
    ("content", "params", "code"),
    [
        (CSV, {"objective": "purity"}, "unknown-column"),
        (CSV.replace(",100\n", ",high\n"), {}, "not-a-number"),
        ("key,heat,yield\na,1,1\nb,2,2\n", {}, "few-results"),
        (CSV, {"settings": '{"noise": "loud"}'}, "literal_error"),
        (CSV, {"settings": "{"}, "json_invalid"),
        (CSV, {"settings": '{"constraints": [{"name": "purity", "at_least": 1}]}'}, "objectives"),
        (CSV, {"within": "inf"}, "finite_number"),
        ("parameters", {}, "no-results"),
        (CSV, {"smiles": "heat-up"}, "unknown-column"),
    ],
)
def test_what_cannot_be_simulated_is_refused_with_its_place(
    admin: TestClient, content: str, params: dict[str, str], code: str
) -> None:
    space = '{"parameters": {"heat": {"low": 0, "high": 9, "step": 1}}}'
    described = {"content": space, "headers": {"Content-Type": "application/json"}}
    answer = send(admin, **described) if content == "parameters" else send(admin, content, **params)
    assert answer.status_code == 422, answer.text
    assert code in {error["code"] for error in answer.json()["errors"]}, answer.text
    assert admin.get("/v1/backtests").json()["backtests"] == []


def test_a_list_that_is_too_long_is_refused(admin: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domain, "MOST_LISTED", 10)
    assert "at most 10 rows" in problem(send(admin), 422, "invalid-candidates")["errors"][0]["message"]


def test_a_backtest_is_dropped_after_the_stated_time(
    admin: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(admin)
    until_done(admin, 1)
    assert drop_old_backtests(database) == 0
    monkeypatch.setattr(domain, "LIST_DAYS", -1)
    assert drop_old_backtests(database) == 1
    problem(admin.get("/v1/backtests/1"), 404, "not-found")
