"""Correct and retract: a new version with a reason, and the next batch knows."""

from collections.abc import Callable

from fastapi.testclient import TestClient

from tests.api.conftest import problem
from tests.api.lab import Lab


def test_a_correction_says_which_version_it_saw_and_why(lab: Lab) -> None:
    lab.begin().report(candidate="THF-20", value=0.83)
    path = f"{lab.path}/observations/1/corrections"
    problem(lab.client.post(path, json={"value": 0.38, "reason": "swapped"}), 428, "precondition-required")
    problem(lab.client.post(path, json={"value": 0.38}, headers={"If-Match": "*"}), 422, "invalid-input")
    problem(lab.correct(1, 0.38, reason=""), 422, "invalid-input")
    problem(lab.correct(1, 0.38, version='"7"'), 412, "precondition-failed")
    problem(lab.correct(9, 0.38), 404, "observation-not-found")
    corrected = lab.correct(1, 0.38, version='"1"')
    assert (corrected.status_code, corrected.headers["ETag"]) == (200, '"2"')
    assert [one["value"] for one in lab.observations()] == [0.38]


def test_every_version_is_kept(lab: Lab) -> None:
    lab.begin().report(candidate="THF-20", value=1.0, note="by hand")
    lab.correct(1, 2.0, reason="typo")
    lab.retract(1, reason="wrong vial")
    answer = lab.client.get(f"{lab.path}/observations/1")
    assert answer.headers["ETag"] == '"3"'
    told = [(one["version"], one["state"], one["value"], one["reason"]) for one in answer.json()["observations"]]
    assert told == [
        (1, "superseded", 1.0, None),
        (2, "superseded", 2.0, "typo"),
        (3, "retracted", 2.0, "wrong vial"),
    ]
    assert {one["note"] for one in answer.json()["observations"]} == {"by hand"}
    lab.report(candidate="THF-20", value=3.0)
    first = lab.get("observations", versions="all", limit=1)
    assert ([one["version"] for one in first["observations"]], first["next"]) == ([1, 2, 3], 1)
    csv = lab.client.get(f"{lab.path}/observations", params={"versions": "all", "format": "csv", "limit": 1})
    assert len(csv.text.splitlines()) == 5


def test_the_same_correction_again_changes_nothing(lab: Lab) -> None:
    lab.begin().report(candidate="THF-20", value=1.0)
    lab.correct(1, 2.0)
    seq = lab.get("summary")["seq"]
    assert lab.correct(1, 2.0).json()["observation"]["version"] == 2
    lab.retract(1)
    assert lab.retract(1).json()["observation"]["version"] == 3
    assert lab.get("summary")["seq"] == seq + 1


def test_batches_that_used_the_old_value_are_listed_and_stand(lab: Lab) -> None:
    lab.begin().work(2, max_size=4)
    before = lab.batch("third")
    later = lab.get("observations")["observations"][-1]["observation"]
    assert lab.correct(1, 5.0).json()["affected_batches"] == [2, 3]
    assert lab.correct(later, 5.0).json()["affected_batches"] == [3]
    assert lab.get("batches/3")["suggestions"] == before["suggestions"]
    assert all(lab.replays(number) for number in (1, 2, 3))


def test_the_next_batch_uses_the_new_value(lab: Lab) -> None:
    lab.begin().work(1)
    key = lab.observations()[0]["key"]
    lab.correct(1, 100.0)
    assert lab.get("summary")["best_observed"] == {**lab.get("summary")["best_observed"], "key": key, "mean": 100.0}
    batch = lab.batch()
    assert batch["basis_seq"] == lab.events()[-2]["seq"]
    lab.retract(1)
    assert lab.get("summary")["best_observed"]["key"] != key
    assert lab.batch("other")["fit"] != batch["fit"]


def test_a_retracted_observation_that_is_corrected_stands_again(lab: Lab) -> None:
    lab.begin().report(candidate="THF-20", value=1.0)
    lab.retract(1)
    assert lab.get("summary")["counts"]["observations"] == 0
    assert lab.correct(1, 1.0, reason="it was the right vial").json()["observation"]["state"] == "recorded"
    assert lab.get("summary")["counts"]["observations"] == 1


def test_a_value_reported_where_one_was_retracted_is_never_taken_for_a_duplicate(lab: Lab) -> None:
    place = lab.begin().batch(max_size=1)["suggestions"][0]["suggestion"]
    lab.report(suggestion=place, value=1.0)
    lab.retract(1)
    problem(lab.report(suggestion=place, value=1.0), 409, "already-observed")
    assert lab.report(suggestion=place, value=2.0).json()["results"][0]["status"] == "recorded"


def test_a_technician_corrects_only_what_the_same_key_reported(
    lab: Lab, anonymous: TestClient, new_key: Callable[..., str]
) -> None:
    lab.begin().report(candidate="THF-20", value=1.0)
    admin = anonymous.headers["Authorization"]
    anonymous.headers["Authorization"] = f"Bearer {new_key('technician', 's')}"
    lab.report(candidate="THF-30", value=1.0)
    assert lab.correct(2, 2.0).status_code == 200
    problem(lab.correct(1, 2.0), 403, "forbidden")
    problem(lab.retract(1), 403, "forbidden")
    anonymous.headers["Authorization"] = admin
    assert lab.retract(2).status_code == 200
