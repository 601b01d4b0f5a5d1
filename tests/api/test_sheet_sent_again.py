"""A sheet that was wrong is sent again: after its upload was retracted, or as corrections with a reason."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.conftest import on_sqlite

SHEET = "suggestion,value,note\nB1-S1,1,blue\nB1-S2,2,\nB1-S3,3,\n"
CORRECTED = "suggestion,value,note\nB1-S1,10,\nB1-S2,2,clear\nB1-S3,30,\n"


@pytest.fixture
def bench(lab: Lab) -> Lab:
    """A lab with an open batch of three."""
    lab.begin(objective="yield").batch(min_size=3, max_size=3)
    return lab


def retract_upload(lab: Lab, upload: int) -> Response:
    body = {"upload": upload, "reason": "the sheet of another study"}
    return lab.client.post(f"{lab.path}/observations/retractions", json=body)


def values(lab: Lab) -> list[tuple[str, float, str | None]]:
    return [(found["state"], found["value"], found["note"]) for found in lab.observations()]


def moved(lab: Lab) -> Lab:
    """The same study in an archive, imported under another name."""
    archive = lab.client.get(f"{lab.path}/archive").content
    headers = {"Content-Type": "application/zip"}
    imported = lab.client.post("/v1/archives", params={"name": "t"}, content=archive, headers=headers)
    assert imported.status_code == 201, imported.text
    return Lab(lab.client, "t")


@pytest.mark.parametrize("sheet", [SHEET, CORRECTED])
def test_after_an_upload_was_retracted_the_right_sheet_is_sent_in_one_call(bench: Lab, sheet: str) -> None:
    assert retract_upload(bench, bench.sheet(SHEET).json()["upload"]).status_code == 200
    sent = bench.sheet(sheet)
    assert (sent.status_code, sent.json()["recorded"]) == (201, 3), sent.text
    rows = [row.split(",") for row in sheet.splitlines()[1:]]
    assert values(bench) == [("recorded", float(value), note or None) for _, value, note in rows]
    again = bench.sheet(sheet).json()
    assert (again["recorded"], [result["status"] for result in again["results"]]) == (0, ["duplicate"] * 3)
    assert retract_upload(bench, sent.json()["upload"]).json()["retracted"] == [1, 2, 3]
    assert bench.get("summary")["counts"]["observations"] == 0
    assert bench.is_sound()


def test_what_was_reported_again_is_like_a_first_report_everywhere(bench: Lab) -> None:
    retract_upload(bench, bench.sheet(SHEET).json()["upload"])
    bench.sheet(CORRECTED)
    following = bench.batch()
    assert bench.get("summary")["best_observed"]["mean"] == 30.0
    assert bench.replays(following["number"])
    assert [suggestion["state"] for suggestion in bench.get("batches/1")["suggestions"]] == ["observed"] * 3
    first = bench.get("observations/1")["observations"]
    assert [(found["state"], found["value"], found["note"]) for found in first] == [
        ("superseded", 1.0, "blue"),
        ("superseded", 1.0, "blue"),
        ("recorded", 10.0, None),
    ]
    assert first[-1]["reason"] == "reported again after it was retracted"
    assert "3 retracted results reported again." in [event["words"] for event in bench.events()]
    other = moved(bench)
    assert [found["value"] for found in other.observations()] == [10.0, 2.0, 30.0]
    assert other.is_sound()
    assert other.replays(following["number"])


def test_a_retraction_of_the_first_upload_leaves_what_came_later(bench: Lab) -> None:
    wrong = bench.sheet(SHEET).json()["upload"]
    retract_upload(bench, wrong)
    bench.sheet(CORRECTED)
    assert retract_upload(bench, wrong).json()["retracted"] == []
    assert [value for _, value, _ in values(bench)] == [10.0, 2.0, 30.0]


def test_a_result_retracted_by_itself_comes_back_with_a_new_value_only(bench: Lab) -> None:
    bench.sheet(SHEET)
    bench.retract(2, "contaminated")
    [finding] = problem(bench.sheet(SHEET), 409, "already-observed")["errors"]
    assert (finding["row"], "corrections=accept" in finding["message"]) == (3, True)
    assert bench.sheet(SHEET.replace("B1-S2,2", "B1-S2,2.5")).json()["recorded"] == 1
    bench.retract(2, "contaminated, too")
    for old in ("B1-S2,2,", "B1-S2,2.5,"):
        problem(bench.sheet(f"suggestion,value,note\n{old}\n"), 409, "already-observed")
    accepted = bench.sheet(SHEET, corrections="accept", reason="it was clean after all")
    assert accepted.json()["recorded"] == 1, accepted.text
    assert bench.observations()[1]["reason"] == "it was clean after all"
    assert bench.is_sound()


def test_a_failure_is_reported_where_a_result_was_retracted(bench: Lab) -> None:
    retract_upload(bench, bench.sheet(SHEET).json()["upload"])
    sent = bench.sheet("suggestion,value,failed\nB1-S1,10,\nB1-S2,,vial broke\n")
    assert [result["status"] for result in sent.json()["results"]] == ["recorded", "failed"], sent.text
    states = [suggestion["state"] for suggestion in bench.get("batches/1")["suggestions"]]
    assert states == ["observed", "failed", "observed"]
    assert bench.sheet("suggestion,value\nB1-S2,7\n").status_code == 201
    assert [suggestion["state"] for suggestion in bench.get("batches/1")["suggestions"]] == ["observed"] * 3
    assert moved(bench).is_sound()


def test_nothing_of_several_retracted_quantities_comes_back(lab: Lab) -> None:
    lab.begin(
        objectives=[{"name": "yield", "direction": "maximize"}, {"name": "purity", "direction": "maximize"}]
    ).batch(min_size=2, max_size=2)
    upload = lab.sheet("suggestion,yield,purity\nB1-S1,1,90\nB1-S2,2,91\n").json()["upload"]
    retract_upload(lab, upload)
    assert lab.sheet("suggestion,yield\nB1-S1,10\nB1-S2,20\n").json()["recorded"] == 2
    assert [found["missing"] for found in lab.observations()] == [["purity"], ["purity"]]
    assert lab.sheet("suggestion,yield,purity\nB1-S1,10,95\n").json()["results"][0]["status"] == "completed"
    assert lab.observations()[0]["values"]["purity"]["value"] == 95.0
    assert moved(lab).is_sound()


def test_a_sheet_corrects_what_is_stored_for_a_reason_and_shows_old_and_new(bench: Lab) -> None:
    bench.sheet(SHEET)
    refused = problem(bench.sheet(CORRECTED), 409, "already-observed")
    assert [finding["row"] for finding in refused["errors"]] == [2, 4]
    assert "corrections=accept" in refused["errors"][0]["message"]
    checked = bench.sheet(CORRECTED, corrections="accept", dry_run="true").json()
    problem(bench.sheet(CORRECTED, corrections="accept"), 422, "invalid-input")
    sent = bench.sheet(CORRECTED, corrections="accept", reason="the blank was not subtracted")
    for answer in (checked, sent.json()):
        assert [
            (result["status"], result["value"], result["replaced"].get("yield", {}).get("value"))
            for result in answer["results"]
        ] == [("corrected", 10.0, 1.0), ("duplicate", 2.0, None), ("corrected", 30.0, 3.0)]
    assert (checked["stored"], sent.status_code, sent.json()["recorded"]) == (False, 201, 0)
    assert [value for _, value, _ in values(bench)] == [10.0, 2.0, 30.0]
    assert [found["reason"] for found in bench.observations()] == [
        "the blank was not subtracted",
        None,
        "the blank was not subtracted",
    ]
    assert bench.is_sound()


@on_sqlite
def test_a_reason_without_corrections_is_refused(bench: Lab) -> None:
    [finding] = problem(bench.sheet(SHEET, reason="?"), 422, "invalid-input")["errors"]
    assert "corrections=accept" in finding["message"]


@on_sqlite
def test_a_sheet_that_corrects_a_result_twice_is_refused(bench: Lab) -> None:
    bench.sheet(SHEET)
    twice = "suggestion,value\nB1-S1,10\nB1-S1,11\n"
    [finding] = problem(bench.sheet(twice, corrections="accept", reason="?"), 409, "already-observed")["errors"]
    assert (finding["row"], "twice" in finding["message"]) == (3, True)


@on_sqlite
def test_corrections_in_a_sheet_respect_the_limits(lab: Lab) -> None:
    lab.begin(objectives=[{"name": "yield", "direction": "maximize", "limits": {"low": 0, "high": 100}}]).batch(
        min_size=3, max_size=3
    )
    lab.sheet(SHEET)
    options: dict[str, Any] = {"corrections": "accept", "reason": "typo"}
    beyond = CORRECTED.replace(",30,", ",300,")
    problem(lab.sheet(beyond, **options), 422, "invalid-input")
    assert lab.sheet(beyond, **options, outside_limits="accept").status_code == 201


@on_sqlite
def test_a_technician_corrects_in_a_sheet_only_what_the_same_key_reported_last(
    bench: Lab, anonymous: TestClient, new_key: Callable[..., str]
) -> None:
    upload = bench.sheet(SHEET).json()["upload"]
    admin = anonymous.headers["Authorization"]
    anonymous.headers["Authorization"] = f"Bearer {new_key('technician', 's')}"
    options = {"corrections": "accept", "reason": "typo"}
    problem(bench.sheet(CORRECTED, **options), 403, "forbidden")
    anonymous.headers["Authorization"] = admin
    retract_upload(bench, upload)
    anonymous.headers["Authorization"] = f"Bearer {new_key('technician', 's')}"
    assert bench.sheet(SHEET).json()["recorded"] == 3
    assert bench.sheet(CORRECTED, **options).status_code == 201
    assert bench.retract(1).status_code == 200
