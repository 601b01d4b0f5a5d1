"""Reservations: "I want to run A7 anyway", which other asks respect."""

from typing import Any

import pytest
from httpx2 import Response

from tests.api.conftest import problem
from tests.api.lab import THEORY, Lab, keys
from tests.conftest import on_sqlite


def reserve(lab: Lab, *reserved: str, worker: str = "a", **more: Any) -> Response:
    return lab.client.post(f"{lab.path}/reservations", json={"keys": list(reserved), "worker": worker, **more})


def release(lab: Lab, key: str, **params: Any) -> Response:
    return lab.client.delete(f"{lab.path}/reservations/{key}", params=params)


def reserved_keys(lab: Lab, **params: Any) -> list[str]:
    return [reservation["key"] for reservation in lab.get("reservations", **params)["reservations"]]


@pytest.fixture(params=["auto", "theory", "several"])
def working(lab: Lab, request: pytest.FixtureRequest) -> Lab:
    settings: dict[str, Any] = {"repeats": "never"}
    if request.param == "theory":
        settings = {"theory": THEORY, "repeats": "allowed"}
    if request.param == "several":
        settings["objectives"] = [{"name": "a", "direction": "maximize"}, {"name": "b", "direction": "minimize"}]
    lab.begin(**settings)
    for key in ("DMF-20", "THF-60", "MeOH-90"):
        values = {"a": 1.0 + len(key), "b": 2.0} if request.param == "several" else {"value": float(key[-2:])}
        lab.report(candidate=key, values=values)
    return lab


def test_a_reserved_candidate_is_pending_and_not_suggested_to_others(working: Lab) -> None:
    first = keys(working.batch("x", max_size=1))[0]
    working.client.post(f"{working.path}/batches/1/close")
    made = reserve(working, first, reason="for the poster")
    assert made.status_code == 200, made.text
    [reservation] = made.json()["reservations"]
    assert (reservation["key"], reservation["worker"], reservation["reason"]) == (first, "a", "for the poster")
    assert working.get(f"candidates/{first}")["reserved_by"] == "a"
    assert working.get("summary")["counts"]["reserved"] == 1
    assert working.get("candidates", where="reserved")["total"] == 1
    size = 8 if working.client.get(working.path).json()["configuration"]["repeats"] == "never" else 60
    assert first not in keys(working.batch("b", min_size=size, max_size=size))
    shown = working.get("candidates", posterior=True, search=first)["posterior"][0]
    assert shown["pending"] == 1
    assert working.replays(2)


@pytest.mark.parametrize(
    "report", [{"value": 1.0}, {"failed": {"reason": "broke", "retry": True}}, {"abandoned": {"reason": "no time"}}]
)
def test_a_report_of_the_candidate_ends_its_reservation(lab: Lab, report: dict[str, Any]) -> None:
    lab.begin()
    reserve(lab, "DMF-50", "THF-50")
    assert lab.report(candidate="DMF-50", **report).status_code == 201
    assert reserved_keys(lab) == ["THF-50"]
    assert lab.is_sound()


def test_a_batch_of_the_worker_that_includes_it_fulfils_it_and_replays(working: Lab) -> None:
    reserve(working, "DMF-50", "THF-50")
    refused = problem(working.ask("b", include=["DMF-50"]), 422, "invalid-input")
    assert (refused["errors"][0]["code"], refused["errors"][0]["pointer"]) == ("reserved-candidate", "/include/0")
    batch = working.batch("a", include=["DMF-50"], min_size=3, max_size=3)
    assert keys(batch)[0] == "DMF-50"
    assert "THF-50" not in keys(batch)
    assert reserved_keys(working) == ["THF-50"]
    pending = working.get("candidates", posterior=True, search="DMF-50")["posterior"][0]["pending"]
    assert pending == 1
    assert working.replays(1)


def test_a_release_makes_it_free_again_and_can_be_repeated(lab: Lab) -> None:
    lab.begin()
    reserve(lab, "DMF-50")
    assert release(lab, "DMF-50", reason="changed my mind").json() == {"reservations": []}
    assert release(lab, "DMF-50").status_code == 200
    problem(release(lab, "nothing"), 404, "candidate-not-found")
    types = [event["type"] for event in lab.events()[-2:]]
    assert types == ["candidates-reserved", "reservations-released"]
    assert lab.get("candidates/DMF-50")["reserved_by"] is None


@on_sqlite
def test_what_cannot_be_reserved_is_refused_and_nothing_is(lab: Lab) -> None:
    lab.begin()
    suggested = keys(lab.batch(max_size=1))[0]
    free = [candidate["key"] for candidate in lab.get("candidates")["candidates"] if candidate["key"] != suggested]
    lab.switch_off(free[0])
    reserve(lab, free[1])
    for key, why in ((free[0], "switched off"), (free[1], "a has reserved"), (suggested, "B1-S1")):
        assert why in problem(reserve(lab, free[2], key, worker="b"), 409, "not-reservable")["detail"]
    unknown = problem(reserve(lab, free[2], "nothing"), 422, "invalid-input")
    assert unknown["errors"][0]["pointer"] == "/keys/1"
    assert reserved_keys(lab) == [free[1]]
    assert reserve(lab, free[1]).status_code == 200  # again by the same worker
    assert reserved_keys(lab, worker="b") == []
    assert len(lab.events()) == len({event["seq"] for event in lab.events()})
    lab.change(state="paused")
    problem(reserve(lab, free[3]), 409, "study-not-active")


def test_a_reservation_leaves_the_version_of_the_study_alone(lab: Lab) -> None:
    lab.begin()
    version = lab.client.get(lab.path).json()["version"]
    reserve(lab, "DMF-50")
    lab.report(candidate="DMF-50", value=1.0)
    assert lab.client.get(lab.path).json()["version"] == version


def test_a_list_with_a_reservation_is_not_replaced(lab: Lab) -> None:
    lab.begin()
    reserve(lab, "DMF-50")
    other = lab.client.put(
        f"{lab.path}/candidates",
        content="key,x\na,1\nb,2\n",
        headers={"Content-Type": "text/csv"},
        params={"replace": "true"},
    )
    problem(other, 409, "candidates-in-use")


def test_reserved_costs_are_committed(lab: Lab) -> None:
    lab.client.put(lab.path, json={"budget": 10})
    content = "key,x,price\n" + "".join(f"k{n},{n},{n}\n" for n in range(1, 7))
    lab.client.put(
        f"{lab.path}/candidates", content=content, params={"cost": "price"}, headers={"Content-Type": "text/csv"}
    )
    reserve(lab, "k6")
    assert lab.get("summary")["spending"]["committed"] == 6.0
    assert lab.batch("b", max_size=5)["cost"] <= 4
    lab.client.post(f"{lab.path}/batches/1/close")
    batch = lab.batch("a", include=["k6"], max_size=3)
    assert batch["cost"] <= 10
    assert lab.replays(2)


def test_a_study_with_reservations_moves_in_an_archive(lab: Lab) -> None:
    lab.begin()
    reserve(lab, "DMF-50", "THF-50", "MeOH-50")
    lab.batch("a", include=["DMF-50"], max_size=2)
    release(lab, "THF-50")
    archive = lab.client.get(f"{lab.path}/archive").content
    lab.client.delete(f"{lab.path}?confirm={lab.study}")
    renamed = lab.client.post("/v1/archives", content=archive, headers={"Content-Type": "application/zip"})
    assert renamed.status_code == 201, renamed.text  # its events can have happened, and its name is free again


@on_sqlite
def test_a_reserved_candidate_may_be_the_recommended_one(lab: Lab) -> None:
    lab.begin(noise=0.1)
    for key in ("DMF-20", "DMF-40", "DMF-60"):
        lab.report(candidate=key, value=float(key[-2:]))
    reserve(lab, "DMF-60")
    assert lab.get("certificate")["certificate"]["key"] == "DMF-60"
