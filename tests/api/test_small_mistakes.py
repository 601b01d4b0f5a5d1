"""Small mistakes that mutants have shown no other test to notice."""

from typing import Any

import pytest

from app.domain.errors import Invalid
from app.domain.ledger import GENESIS
from app.domain.limits import MOST_SHEET_COLUMNS
from app.services.intake.measured_values import may_equal
from app.services.intake.sheet_columns import SheetShape
from app.services.use_cases.audit import AuditVerification, verify_audit
from app.services.workflows import backtest_job
from app.storage.database import Database
from tests.api.conftest import problem
from tests.api.lab import LIST, Lab, truth
from tests.api.test_costs import begin
from tests.conftest import OPERATOR, on_sqlite
from tests.reliability.hostile.archives import resealed


def test_a_swap_pays_for_every_replicate(lab: Lab) -> None:
    begin(lab, repeats="never")
    lab.batch(include=[{"key": "THF-20", "replicates": 2}], where="solvent = MeOH", budget=25, max_size=2)
    swapped = lab.client.post(f"{lab.path}/suggestions/B1-S1/swap", json={"reason": "not in stock"})
    problem(swapped, 409, "terms-unmet")  # two measurements of the cheapest take 40
    assert lab.get("batches/1")["cost"] == 10.0


def test_retracting_an_upload_leaves_alone_what_was_retracted_before(lab: Lab) -> None:
    lab.begin()
    lines = [{"candidate": "DMF-20", "value": 1.0}, {"candidate": "DMF-30", "value": 2.0}]
    upload = lab.send({"observations": lines}).json()["upload"]
    lab.retract(1)
    body = {"upload": upload, "reason": "wrong instrument"}
    retracted = lab.client.post(f"{lab.path}/observations/retractions", json=body)
    assert retracted.json()["retracted"] == [2], retracted.text
    assert [len(lab.get(f"observations/{number}")["observations"]) for number in (1, 2)] == [2, 2]


def test_a_study_with_a_measurement_that_was_abandoned_without_a_reason_moves_in_an_archive(lab: Lab) -> None:
    lab.begin().batch(max_size=1)
    assert lab.client.post(f"{lab.path}/batches/1/close").status_code == 200
    archive = lab.client.get(f"{lab.path}/archive").content
    headers = {"Content-Type": "application/zip"}
    imported = lab.client.post("/v1/archives", params={"name": "t"}, content=archive, headers=headers)
    assert imported.status_code == 201, imported.text
    assert Lab(lab.client, "t").is_sound()


def test_an_empty_audit_log_is_sound(database: Database) -> None:
    with database.read() as connection:
        assert verify_audit(connection, OPERATOR) == AuditVerification(0, None, GENESIS)


def test_a_report_by_key_is_stored_for_that_candidate_of_the_first_upload(lab: Lab) -> None:
    lab.begin("key,x\na,1\nb,2\nc,3\n")
    for key, value in (("c", 3.0), ("a", 1.0), ("b", 2.0)):
        assert lab.report(candidate=key, value=value).status_code == 201
    assert [(found["key"], found["value"]) for found in lab.observations()] == [("c", 3.0), ("a", 1.0), ("b", 2.0)]


@pytest.mark.parametrize(("candidates", "last"), [("key,x\na,1\nb,2\nc,3\n", "c"), ("x\n1\n2\n3\n", "3")])
def test_a_forged_result_of_the_candidate_after_the_last_is_refused(lab: Lab, candidates: str, last: str) -> None:
    assert lab.begin(candidates).report(candidate=last, value=3.0).status_code == 201

    def beyond(event: dict[str, Any]) -> None:
        for observation in event["payload"].get("observations", ()):
            observation["candidate"] = 3

    forged = resealed(lab.client.get(f"{lab.path}/archive").content, beyond, "t")
    params, headers = {"accept_unverified": True}, {"Content-Type": "application/zip"}
    refused = lab.client.post("/v1/archives", params=params, content=forged, headers=headers)
    assert refused.status_code == 422, refused.text
    assert lab.client.get("/v1/studies/t").status_code == 404


@pytest.mark.parametrize("part", ["candidates?format=csv", "archive"])
def test_a_file_is_sent_whole_although_a_range_is_asked_for(lab: Lab, part: str) -> None:
    lab.begin()
    answer = lab.client.get(f"{lab.path}/{part}", headers={"Range": "bytes=0-3"})
    assert (answer.status_code, answer.headers["Accept-Ranges"]) == (200, "none")
    assert len(answer.content) > 100


@on_sqlite
def test_a_molecule_keeps_the_warnings_that_do_not_speak_of_its_text(lab: Lab) -> None:
    lab.client.put(lab.path, json={})
    content = "key,mol,x\n" + "".join(f"A{number},CCO,{number}\n" for number in range(6))
    headers = {"Content-Type": "text/csv"}
    uploaded = lab.client.put(f"{lab.path}/candidates", content=content, params={"smiles": "mol"}, headers=headers)
    assert uploaded.status_code == 201, uploaded.text
    assert ("constant-feature", "mol") in {(found["code"], found["column"]) for found in uploaded.json()["warnings"]}


@pytest.mark.parametrize(
    ("cell", "expected", "shows"),
    [("0.3", 0.25, True), ("0.3", 0.35, True), ("0.3", 0.36, False), ("0.3", 0.24, False), ("1000", 1000.4, True)],
)
def test_a_cell_shows_a_number_that_is_rounded_to_it(cell: str, expected: float, shows: bool) -> None:
    assert may_equal(cell, expected) is shows


def test_a_list_is_in_use_by_its_own_study_alone(lab: Lab) -> None:
    lab.begin().report(candidate="DMF-20", value=1.0)
    other = Lab(lab.client, "t").begin()
    content, headers = "key,x\na,1\nb,2\n", {"Content-Type": "text/csv"}
    for used, status in ((lab, 409), (other, 201)):
        replaced = lab.client.put(f"{used.path}/candidates", content=content, params={"replace": True}, headers=headers)
        assert replaced.status_code == status, replaced.text


@on_sqlite
@pytest.mark.parametrize("header", ["key,note", "value,note"])
def test_a_sheet_needs_values_and_something_that_says_whose_they_are(lab: Lab, header: str) -> None:
    lab.begin()
    [error] = problem(lab.sheet(f"{header}\nDMF-20,1\n"), 422, "invalid-input")["errors"]
    assert (error["code"], error["row"]) == ("header", 1)


def test_a_header_may_have_as_many_columns_as_are_allowed() -> None:
    shape = SheetShape()
    most = ["key", "value", *(f"c{number}" for number in range(MOST_SHEET_COLUMNS - 2))]
    assert shape.places(most)[:2] == ["key", "#value"]
    with pytest.raises(Invalid):
        shape.places([*most, "one more"])


def test_another_value_under_a_reference_names_the_candidate_and_one_of_a_suggestion_names_that(lab: Lab) -> None:
    lab.begin().batch(include=["DMF-20"], max_size=1)
    lab.report(suggestion="B1-S1", value=1.0)
    lab.report(candidate="DMF-30", value=1.0, ref="r")
    for again, subject in (
        ({"suggestion": "B1-S1", "value": 2.0}, "B1-S1"),
        ({"candidate": "DMF-30", "value": 2.0, "ref": "r"}, "DMF-30"),
    ):
        [error] = problem(lab.send(again), 409, "already-observed")["errors"]
        assert error["message"].startswith(f"{subject} already has a result")


def test_an_equal_value_under_another_reference_is_another_measurement(lab: Lab) -> None:
    lab.begin()
    for ref in ("one", "two"):
        assert lab.report(candidate="DMF-20", value=1.0, ref=ref).json()["recorded"] == 1
    assert lab.report(candidate="DMF-20", value=1.0, ref="two").json()["recorded"] == 0


@on_sqlite
def test_so_many_backtests_wait_and_no_more(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.begin()
    keys = [line.partition(",")[0] for line in LIST.splitlines()[1:]]
    lab.send({"observations": [{"candidate": key, "value": truth(key)} for key in keys]})
    monkeypatch.setattr(backtest_job, "count_active", lambda _connection: backtest_job.MOST_ACTIVE)
    problem(lab.client.post(f"{lab.path}/backtests", json={}), 503, "overloaded")


def test_the_words_of_events_count_one_and_many(lab: Lab) -> None:
    lab.begin()
    lab.batch("one", include=["DMF-20"], max_size=1)
    lab.batch("two", include=["DMF-30", "DMF-40"], max_size=2)
    lab.batch("three", include=[{"key": "THF-20", "replicates": 3}], min_size=3, max_size=3)
    issued = [event["words"] for event in lab.events() if event["type"] == "batch-issued"]
    assert issued == [
        "Batch 1 issued to one: 1 measurement.",
        "Batch 2 issued to two: 2 measurements.",
        "Batch 3 issued to three: 3 measurements of 1 candidate.",
    ]
