"""Backtests: studies are simulated on known results, in the background, and what came out stays with the study."""

from time import monotonic, sleep
from typing import Any

import pytest

from app.compute import simulations
from app.services.workflows import backtest_job as backtests
from tests.api.conftest import problem
from tests.api.lab import LIST, Lab, truth


@pytest.fixture
def known(lab: Lab) -> Lab:
    """A lab that has measured every candidate."""
    lab.begin()
    keys = [line.partition(",")[0] for line in LIST.splitlines()[1:]]
    assert lab.send({"observations": [{"candidate": key, "value": truth(key)} for key in keys]}).status_code == 201
    return lab


def start(lab: Lab, status: int = 201, **wanted: Any) -> dict[str, Any]:
    answer = lab.client.post(f"{lab.path}/backtests", json=wanted)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


def until_done(lab: Lab, number: int, seconds: float = 60) -> dict[str, Any]:
    began = monotonic()
    while True:
        shown: dict[str, Any] = lab.get(f"backtests/{number}")
        if shown["state"] not in ("waiting", "running"):
            return shown
        assert monotonic() - began < seconds, shown
        sleep(0.2)


def test_a_backtest_says_how_many_measurements_it_takes_beside_random_choice(known: Lab) -> None:
    before = known.events()
    begun = start(known, seeds=3, batch_sizes=[1, 4], measurements=20, within=0.02)
    assert (begun["number"], begun["total"], begun["measurements"]) == (1, 6, 20)
    done = until_done(known, 1)
    assert (done["state"], done["done"], done["problem"]) == ("finished", 6, None)
    result = done["result"]
    assert (result["candidates"], result["best"]) == (24, pytest.approx(0.2))
    by_choice = {(choice["choice"], choice["batch_size"]): choice for choice in result["choices"]}
    assert set(by_choice) == {("study", 1), ("study", 4), ("random", None)}
    one, random = by_choice["study", 1], by_choice["random", None]
    assert one["needed"]["reached"] == 1.0
    assert one["needed"]["median"] < (random["needed"]["median"] or 21)
    medians = [point["median"] for point in one["curve"]]
    assert medians == sorted(medians)
    assert medians[-1] == pytest.approx(0.2)
    assert str(one["needed"]["median"]) in one["words"]
    assert known.events() == before  # nothing has happened in the lab
    assert [backtest["number"] for backtest in known.get("backtests")["backtests"]] == [1]


def test_a_backtest_can_use_other_settings_and_a_study_with_repeats(known: Lab) -> None:
    known.report(candidate="DMF-60", value=-0.3)
    start(known, seeds=1, batch_sizes=[8], measurements=16, configuration={"goal": "explore", "seed": 5})
    done = until_done(known, 1)
    assert done["state"] == "finished"
    assert (done["configuration"]["goal"], done["configuration"]["seed"]) == ("explore", 5)


def test_a_backtest_can_be_cancelled_at_any_time(known: Lab) -> None:
    for number in (1, 2):  # the second waits for the first
        start(known, seeds=50, batch_sizes=[1], measurements=24)
        cancelled = known.client.post(f"{known.path}/backtests/{number}/cancel")
        assert cancelled.json()["state"] == "cancelled"
    assert until_done(known, 1)["result"] is None
    start(known, seeds=1, batch_sizes=[8], measurements=8)
    assert until_done(known, 3)["state"] == "finished"
    again = known.client.post(f"{known.path}/backtests/3/cancel")
    assert again.json()["state"] == "finished"


def test_a_retry_starts_no_second_backtest(known: Lab) -> None:
    headers = {"Idempotency-Key": "once"}
    body = {"seeds": 1, "batch_sizes": [8], "measurements": 8}
    first, second = (known.client.post(f"{known.path}/backtests", json=body, headers=headers) for _ in range(2))
    assert first.content == second.content
    assert len(known.get("backtests")["backtests"]) == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"seeds": 100, "batch_sizes": [1, 2, 3, 4, 5], "measurements": 24}, "too-much"),
        ({"configuration": {"objective": "cost"}}, "objectives"),
        ({"configuration": {"constraints": [{"name": "purity", "at_least": 1}]}}, "objectives"),
        ({"batch_sizes": []}, "too_short"),
    ],
)
def test_what_cannot_be_simulated_is_refused(
    known: Lab, body: dict[str, Any], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backtests.domain, "MOST_STEPS", 10_000)
    refused = problem(known.client.post(f"{known.path}/backtests", json=body), 422, "invalid-input")
    assert refused["errors"][0]["code"] == code


def test_a_study_with_too_few_results_is_refused(lab: Lab) -> None:
    lab.begin().report(candidate="DMF-20", value=1)
    refused = problem(lab.client.post(f"{lab.path}/backtests", json={}), 422, "invalid-input")
    assert refused["errors"][0]["code"] == "few-results"
    problem(lab.client.get(f"{lab.path}/backtests/1"), 404, "not-found")


def test_a_simulation_that_dies_is_told(known: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulations, "write_task", lambda *_: None)  # the child finds nothing in its folder
    start(known, seeds=1)
    failed = until_done(known, 1)
    assert failed["state"] == "failed"
    assert "ended early" in failed["problem"]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backtests, "SILENT", backtests.timedelta(0))
    monkeypatch.setattr(backtests, "LONGEST_WAIT", backtests.timedelta(0))


@pytest.mark.usefixtures("impatient")
def test_a_backtest_whose_server_went_away_is_not_waited_for(known: Lab) -> None:
    start(known, seeds=20, batch_sizes=[1])
    shown = known.get("backtests/1")
    assert (shown["state"], "stopped" in shown["problem"]) == ("failed", True)
    known.client.post(f"{known.path}/backtests/1/cancel")


def test_asks_and_reports_go_on_during_a_backtest(known: Lab) -> None:
    start(known, seeds=20, batch_sizes=[1])
    known.work(2, max_size=2)
    assert known.get("backtests/1")["state"] in ("waiting", "running", "finished")
    known.client.post(f"{known.path}/backtests/1/cancel")
