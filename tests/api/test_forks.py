"""A fork begins as another study was, under other settings, and both ledgers name each other."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from app.domain.ledger import seal
from app.storage import ledger, studies
from app.storage.database import Database
from tests.api.conftest import problem
from tests.api.lab import Lab, keys
from tests.api.test_archives import Elsewhere, elsewhere, take_in
from tests.api.test_ledger import without_triggers

__all__ = ["elsewhere"]  # a fixture

TWO = {
    "objectives": [{"name": "yield", "direction": "maximize"}, {"name": "cost", "direction": "minimize"}],
    "seed": 3,
}
CANDIDATES = "key,t\n" + "".join(f"A{n},{n}\n" for n in range(12))


def forked(lab: Lab, name: str = "f", status: int = 201, **body: Any) -> Lab:
    made = lab.client.post(f"{lab.path}/fork", json={"name": name, **body})
    assert made.status_code == status, made.text
    return replace(lab, study=name)


def report_both(lab: Lab, number: int, **values: float) -> None:
    assert lab.report(candidate=f"A{number}", values=values).status_code == 201


def test_a_fork_begins_as_the_study_was_and_both_ledgers_name_each_other(lab: Lab) -> None:
    lab.begin().work(3, max_size=2)
    lab.correct(1, 0.5)
    before = lab.events()
    fork = forked(lab, configuration={"max_batch": 2}, reason="what if")
    shown = lab.client.get(fork.path).json()
    assert shown["forked_from"] == {"study": "s", "at": len(before)}
    assert shown["origin"] == "study:s"
    assert shown["configuration"]["max_batch"] == 2
    *taken_over, started = fork.events()
    assert [event["hash"] for event in taken_over] == [event["hash"] for event in before]
    told = lab.events()[-1]
    assert (started["type"], told["type"]) == ("fork-started", "study-forked")
    assert json.loads(started["payload"])["head"] == before[-1]["hash"] == started["previous"]
    assert json.loads(told["payload"]) == {"fork": "f", "at": len(before), "head": started["hash"]}
    assert {event["origin"] for event in taken_over} == {"study:s"}
    assert started["origin"] is None
    assert {result["origin"] for result in fork.observations()} == {"study:s"}
    assert [result["value"] for result in fork.observations()] == [result["value"] for result in lab.observations()]
    assert fork.is_sound()
    assert lab.is_sound()


def test_a_fork_without_changes_gives_the_same_next_batch_and_replays_every_batch(lab: Lab) -> None:
    lab.begin().work(3, max_size=3)
    fork = forked(lab)
    ours, theirs = lab.batch("next", max_size=3), fork.batch("next", max_size=3)
    assert keys(ours) == keys(theirs)
    assert all(fork.replays(number) for number in range(1, 5))


def test_a_fork_of_an_earlier_moment_knows_nothing_of_what_came_later(lab: Lab) -> None:
    lab.begin().work(2, max_size=2)
    at = lab.events()[-1]["seq"]
    second = lab.batch("next", max_size=2)
    lab.measure(second)
    fork = forked(lab, at=at)
    assert len(fork.observations()) == len(lab.observations()) - 2
    assert keys(fork.batch("next", max_size=2)) == keys(second)


def test_what_is_pending_stays_with_the_study_that_was_forked(lab: Lab) -> None:
    lab.begin().work(1, max_size=2)
    pending = lab.batch("bench", max_size=2)
    fork = forked(lab)
    assert fork.get("suggestions", state="pending")["suggestions"] == []
    assert fork.get("batches/2")["state"] == "closed"
    assert (fork.get("summary")["counts"]["pending"], lab.get("summary")["counts"]["pending"]) == (0, 2)
    assert lab.get("batches/2")["state"] == "open"
    suggestion = pending["suggestions"][0]["suggestion"]
    assert fork.report(suggestion=suggestion, value=0.5).status_code == 201  # a late result is kept
    assert fork.is_sound()


def test_what_is_reserved_stays_with_the_study_that_was_forked(lab: Lab) -> None:
    reserved = lab.begin().client.post(f"{lab.path}/reservations", json={"keys": ["DMF-20"], "worker": "bench-3"})
    assert reserved.status_code == 200, reserved.text
    fork = forked(lab)
    assert fork.is_sound()
    assert fork.client.get(f"{fork.path}/reservations").json()["reservations"] == []
    assert len(lab.client.get(f"{lab.path}/reservations").json()["reservations"]) == 1
    again = lab.client.post(f"{fork.path}/reservations", json={"keys": ["DMF-20"], "worker": "bench-4"})
    assert again.status_code == 200, again.text
    assert fork.is_sound()
    archive = fork.client.get(f"{fork.path}/archive").content
    taken = fork.client.post(
        "/v1/archives", params={"name": "copy"}, content=archive, headers={"Content-Type": "application/zip"}
    )
    assert taken.status_code == 201, taken.text


def test_an_archived_study_can_be_forked_and_the_fork_is_active(lab: Lab) -> None:
    lab.begin().work(1)
    lab.change(state="archived")
    fork = forked(lab)
    assert lab.client.get(fork.path).json()["state"] == "active"
    fork.work(1)
    assert fork.is_sound()
    assert lab.is_sound()


def test_what_if_we_had_minimised_the_cost(lab: Lab) -> None:
    lab.begin(CANDIDATES, **TWO)
    for number in range(6):
        report_both(lab, number, **{"yield": float(number), "cost": float((number - 4) ** 2)})
    report_both(lab, 7, **{"yield": 9.0})
    objectives = [{"name": "cost", "direction": "minimize"}]
    fork = forked(lab, configuration={"objectives": objectives})
    summary = fork.get("summary")
    assert (summary["best_observed"]["key"], summary["best_observed"]["mean"]) == ("A4", 0.0)
    fork.batch(max_size=3)
    assert fork.replays(1)
    again = forked(fork, "g", configuration={"objectives": [{"name": "yield", "direction": "maximize"}]})
    assert again.get("summary")["best_observed"]["mean"] == 9.0
    again.batch(max_size=3)
    again.report(candidate="A8", value=3.0)
    again.batch("v", max_size=1)
    assert all(again.replays(number) for number in (1, 2, 3))
    assert again.is_sound()


def test_a_fork_can_name_one_of_several_objectives_as_its_only_one(lab: Lab) -> None:
    lab.begin(CANDIDATES, **TWO, prefer={"yield": 2, "cost": 1})
    report_both(lab, 1, **{"yield": 1.0, "cost": 2.0})
    fork = forked(lab, configuration={"objective": "cost"})
    configuration = lab.client.get(fork.path).json()["configuration"]
    assert [(found["name"], found["direction"]) for found in configuration["objectives"]] == [("cost", "minimize")]
    again = forked(lab, "g", configuration={"objective": "cost", "direction": "maximize"})
    assert lab.client.get(again.path).json()["configuration"]["direction"] == "maximize"
    forked(lab, "h", 422, configuration={"direction": "maximize"})


@pytest.mark.parametrize("at", [1, 5, 6])
def test_a_fork_of_a_fork_may_begin_before_the_first_fork_did(lab: Lab, elsewhere: Elsewhere, at: int) -> None:
    lab.begin().work(2, max_size=1)
    fork = forked(lab, at=6)
    fork.batch(max_size=1)
    again = forked(fork, "g", at=at)
    forked(fork, "g", 200, at=at)
    assert lab.client.get(again.path).json()["forked_from"] == {"study": "s", "at": at}
    assert all(study.is_sound() for study in (lab, fork, again))
    content = lab.client.get(f"{again.path}/archive").content
    assert take_in(elsewhere.lab, content).status_code == 201
    assert replace(elsewhere.lab, study="g").is_sound()


def test_a_study_that_came_under_another_name_can_be_forked_at_an_event_that_came_with_it(
    lab: Lab, elsewhere: Elsewhere
) -> None:
    lab.begin().work(2, max_size=1)
    content, headers = lab.client.get(f"{lab.path}/archive").content, {"Content-Type": "application/zip"}
    params = {"accept_unverified": True, "name": "moved"}
    assert elsewhere.lab.client.post("/v1/archives", content=content, params=params, headers=headers).status_code == 201
    there = replace(elsewhere.lab, study="moved")
    fork = forked(there, at=4)
    assert fork.is_sound()
    assert there.is_sound()
    fork.batch(max_size=1)
    assert all(fork.replays(number) for number in (1, 2))


def test_a_fork_of_a_fork_replays_on_a_server_that_has_forgotten_its_models(lab: Lab) -> None:
    lab.begin(CANDIDATES, **TWO)
    for number in range(6):
        report_both(lab, number, **{"yield": float(number), "cost": 6.0 - number})
    lab.batch(max_size=2)
    fork = forked(lab, configuration={"objectives": [{"name": "cost", "direction": "minimize"}]})
    fork.report(candidate="A9", value=1.0)
    fork.batch("v", max_size=2)
    again = forked(fork, "g", configuration={"objectives": [{"name": "yield", "direction": "maximize"}]})
    again.batch("x", max_size=2)
    resources = lab.client.app.state.resources  # type: ignore[attr-defined]
    resources.models.clear()
    resources.ledger_states.clear()
    assert all(again.replays(number) for number in (3, 2, 1))
    resources.models.clear()
    resources.ledger_states.clear()
    again.batch("y", max_size=1)
    assert again.replays(4)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"at": 999}, "/at"),
        ({"configuration": {"objective": "cots"}}, "/configuration/objectives/0/name"),
    ],
)
def test_a_fork_that_cannot_be_is_refused_and_leaves_nothing(lab: Lab, body: dict[str, Any], pointer: str) -> None:
    lab.begin().work(1)
    refused = lab.client.post(f"{lab.path}/fork", json={"name": "f", **body})
    assert problem(refused, 422, "invalid-input")["errors"][0]["pointer"] == pointer
    assert lab.client.get("/v1/studies/f").status_code == 404
    assert lab.events()[-1]["type"] == "observations-reported"


def test_the_same_fork_again_finds_it_and_another_one_of_that_name_is_refused(lab: Lab) -> None:
    lab.begin().work(1)
    at = lab.events()[-1]["seq"]
    forked(lab, at=at, configuration={"max_batch": 3})
    forked(lab, status=200, at=at, configuration={"max_batch": 3})
    forked(lab, status=409, at=at, configuration={"max_batch": 4})
    forked(lab, status=409, at=at - 1, configuration={"max_batch": 3})
    forked(lab, name="s", status=409)
    assert [event["type"] for event in lab.events()].count("study-forked") == 1


def test_a_fork_of_an_earlier_study_of_that_name_is_another_one(lab: Lab) -> None:
    lab.begin().work(1)
    forked(lab)
    lab.client.delete(f"{lab.path}?confirm={lab.study}")
    lab.begin("key,pressure\nA,1\nB,2\n")
    at = lab.events()[-1]["seq"]
    forked(lab, status=409)
    forked(lab, status=409, at=at)
    assert lab.events()[-1]["seq"] == at


def test_without_an_event_the_same_fork_again_is_one_of_the_study_as_it_is_now(lab: Lab) -> None:
    lab.begin().work(1)
    at = lab.events()[-1]["seq"]
    forked(lab)
    forked(lab, "g")
    forked(lab, status=200).work(1)  # nothing but forking has happened to s
    forked(lab, status=200)
    assert lab.report(candidate="DMF-20", value=0.25).status_code == 201
    forked(lab, status=409)
    forked(lab, status=200, at=at)


def test_the_fork_is_seen_by_whoever_made_it_and_by_nobody_else(lab: Lab) -> None:
    lab.begin().work(1)
    keys_made = {
        name: lab.client.post("/v1/keys", json={"name": name, "role": role, "studies": studies}).json()
        for name, role, studies in (
            ("ann", "scientist", ["s"]),
            ("bob", "scientist", ["s"]),
            ("cem", "scientist", []),
            ("tech", "technician", ["s"]),
        )
    }

    def act(name: str, method: str, path: str, **body: Any) -> int:
        headers = {"Authorization": f"Bearer {keys_made[name]['key']}"}
        return int(lab.client.request(method, path, headers=headers, **body).status_code)

    body = {"json": {"name": "f"}}
    assert act("cem", "POST", f"{lab.path}/fork", **body) == 404
    assert act("tech", "POST", f"{lab.path}/fork", **body) == 403
    assert act("ann", "POST", f"{lab.path}/fork", **body) == 201
    assert act("ann", "GET", "/v1/studies/f") == 200
    assert act("bob", "GET", "/v1/studies/f") == 404
    assert act("bob", "POST", f"{lab.path}/fork", **body) == 404  # a name that is taken by what bob may not see


def test_a_fork_moves_to_another_server_under_another_name(lab: Lab, elsewhere: Elsewhere) -> None:
    lab.begin().work(2, max_size=2)
    fork = forked(lab)
    fork.work(1, max_size=2)
    content = lab.client.get(f"{fork.path}/archive").content
    headers = {"Content-Type": "application/zip"}
    params = {"accept_unverified": True, "name": "moved"}
    for status in (201, 200):
        moved = elsewhere.lab.client.post("/v1/archives", content=content, params=params, headers=headers)
        assert moved.status_code == status, moved.text
    there = replace(elsewhere.lab, study="moved")
    server = lab.client.get("/v1/server").json()["server"]
    assert {event["origin"] for event in there.events()[:-1]} == {server}
    assert json.loads(there.events()[-1]["payload"])["study"] == "f"
    assert there.is_sound()
    assert all(there.replays(number) for number in (1, 2, 3))
    there.work(1)
    back = elsewhere.lab.client.get(f"{there.path}/archive").content
    assert take_in(lab, back).status_code == 201
    assert replace(lab, study="moved").is_sound()
    assert elsewhere.lab.client.get(there.path).json()["forked_from"]["study"] == "s"


def test_a_fork_that_was_rewritten_as_a_whole_is_noticed_by_the_study_it_came_from(
    lab: Lab, database: Database
) -> None:
    lab.begin().work(1)
    fork = forked(lab, reason="because")
    with database.read() as connection:
        [study_id] = studies.ids_of(connection, "f")
        entry = list(ledger.read(connection, study_id))[-1]
    assert entry.type == "fork-started"
    rewritten = vars(entry) | {"reason": "for no reason"}
    new = {"study": study_id, "hash": seal("f", rewritten)}
    edit = "UPDATE events SET reason = 'for no reason', hash = :hash WHERE study_id = :study AND seq = :seq"
    without_triggers(database, edit, entry.seq, **new)
    with database.write() as connection:
        connection.execute(text("UPDATE studies SET head = :hash WHERE id = :study"), new)
    assert fork.is_sound()  # its own chain is whole
    verified = lab.client.post(f"{lab.path}/verify").json()
    assert not verified["sound"]
    assert "study f" in verified["differences"][0]["row"]


def test_reports_arrive_while_the_study_is_forked(lab: Lab) -> None:
    lab.begin().work(1)
    with ThreadPoolExecutor(4) as threads:
        reports = [threads.submit(lab.report, candidate="DMF-20", value=float(n)) for n in range(12)]
        made = [threads.submit(forked, lab, f"f{n}") for n in range(4)]
        assert all(future.result().status_code == 201 for future in reports)
        forks = [future.result() for future in made]
    assert lab.is_sound()
    ours = [event["hash"] for event in lab.events()]
    for fork in forks:
        assert fork.is_sound()
        at = lab.client.get(fork.path).json()["forked_from"]["at"]
        assert [event["hash"] for event in fork.events()[:at]] == ours[:at]
