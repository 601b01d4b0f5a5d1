"""Report: whatever was measured is taken in, once, exactly, and where it belongs."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.conftest import problem
from tests.api.lab import LIST, Lab
from tests.conftest import on_sqlite


@pytest.fixture
def bench(lab: Lab) -> Lab:
    """A lab with one open batch of four."""
    lab.begin()
    assert lab.batch(min_size=4, max_size=4)["size"] == 4
    return lab


@pytest.fixture
def replicated(lab: Lab) -> Lab:
    """A lab with one open batch: one candidate, three replicates."""
    lab.begin("key,t\nA,1\n", repeats="allowed").report(candidate="A", value=1.0)
    batch = lab.batch(min_size=3, max_size=3)
    assert [one["replicates"] for one in batch["suggestions"]] == [3]
    return lab


def statuses(answer: Any) -> list[str]:
    return [one["status"] for one in answer.json()["results"]]


def states(lab: Lab, number: int = 1) -> list[str]:
    return [one["state"] for one in lab.get(f"batches/{number}")["suggestions"]]


def test_a_value_by_suggestion_fills_it_and_the_same_again_is_a_duplicate(bench: Lab) -> None:
    first, again = bench.report(suggestion="B1-S1", value=0.5), bench.report(suggestion="B1-S1", value=0.5)
    assert (first.status_code, again.status_code) == (201, 200)
    assert (statuses(first), statuses(again)) == (["recorded"], ["duplicate"])
    assert states(bench) == ["observed", "pending", "pending", "pending"]
    problem(bench.report(suggestion="B1-S1", value=0.6), 409, "already-observed")
    assert [one["value"] for one in bench.observations()] == [0.5]


def test_a_value_by_key_fills_the_suggestion_that_waits_for_it(bench: Lab) -> None:
    key = bench.get("batches/1")["suggestions"][2]["key"]
    assert bench.report(candidate=key, value=0.5).json()["results"][0]["suggestion"] == "B1-S3"
    assert states(bench)[2] == "observed"


def test_a_batch_is_closed_when_everything_in_it_is_answered(bench: Lab) -> None:
    for rank in (1, 2, 3, 4):
        assert bench.get("batches/1")["state"] == "open"
        bench.report(suggestion=f"B1-S{rank}", value=float(rank))
    assert bench.get("batches/1")["state"] == "closed"


def test_replicates_are_counted_and_one_alone_must_say_which_it_is(replicated: Lab) -> None:
    finding = problem(replicated.report(suggestion="B1-S1", value=1.0), 422, "invalid-input")["errors"][0]
    assert finding["code"] == "which-replicate"
    assert statuses(replicated.report(suggestion="B1-S1", value=1.5, replicate=2)) == ["recorded"]
    assert states(replicated) == ["pending"]
    both = replicated.report(suggestion="B1-S1", values=[1.25, 1.5, 1.75])
    assert statuses(both) == ["recorded", "duplicate", "recorded"]
    assert states(replicated) == ["observed"]


def test_replicates_by_key_fill_what_is_free_and_then_are_unsolicited(replicated: Lab) -> None:
    assert replicated.report(candidate="A", value=2.0).json()["results"][0]["replicate"] == 1
    placed = replicated.report(candidate="A", values=[3.0, 4.0, 5.0]).json()["results"]
    assert [(one["suggestion"], one["replicate"]) for one in placed] == [("B1-S1", 2), ("B1-S1", 3), (None, None)]


def test_a_failed_measurement_that_may_be_retried_is_only_not_waited_for(bench: Lab) -> None:
    assert statuses(bench.report(suggestion="B1-S1", failed={"reason": "vial broke"})) == ["failed"]
    assert states(bench)[0] == "failed"
    assert bench.get("candidates", available="false")["total"] == 0


def test_a_failed_measurement_that_must_not_be_retried_switches_the_candidate_off(bench: Lab) -> None:
    key = bench.get("batches/1")["suggestions"][0]["key"]
    bench.report(suggestion="B1-S1", failed={"reason": "explodes", "retry": False})
    off = bench.get("candidates", available="false")["candidates"]
    assert [(one["key"], one["reason"]) for one in off] == [(key, "explodes")]


def test_what_was_measured_cannot_be_called_failed(bench: Lab) -> None:
    bench.report(suggestion="B1-S1", value=1.0)
    problem(bench.report(suggestion="B1-S1", failed={"reason": "?"}), 409, "already-observed")
    both = [{"suggestion": "B1-S2", "value": 1.0}, {"suggestion": "B1-S2", "abandoned": {"reason": "?"}}]
    problem(bench.send({"observations": both}), 409, "already-observed")
    assert states(bench)[:2] == ["observed", "pending"]


def test_a_failure_that_nobody_waited_for_is_in_the_ledger_too(lab: Lab) -> None:
    lab.begin().report(candidate="DMF-20", failed={"reason": "vial broke"})
    event = lab.events()[-1]
    assert (event["type"], event["words"]) == ("measurements-failed", "Measurement failed: DMF-20 (vial broke).")


def abandoned(lab: Lab) -> None:
    assert statuses(lab.report(suggestion="B1-S1", abandoned={"reason": "no time"})) == ["abandoned"]


def closed(lab: Lab) -> None:
    assert lab.client.post(f"{lab.path}/batches/1/close").json()["state"] == "closed"


def paused(lab: Lab) -> None:
    assert lab.change(state="paused").status_code == 200


def archived(lab: Lab) -> None:
    assert lab.change(state="archived").status_code == 200


@pytest.mark.parametrize("too_late", [abandoned, closed, paused, archived])
def test_a_late_result_is_kept(bench: Lab, too_late: Callable[[Lab], None]) -> None:
    too_late(bench)
    assert statuses(bench.report(suggestion="B1-S1", value=0.5)) == ["recorded"]
    assert states(bench)[0] == "observed"
    assert bench.get("summary")["counts"]["observations"] == 1


def test_a_deleted_study_takes_no_results(bench: Lab) -> None:
    bench.client.delete(f"{bench.path}?confirm={bench.study}")
    problem(bench.report(suggestion="B1-S1", value=0.5), 410, "study-deleted")


def test_results_that_nobody_asked_for_are_welcome(lab: Lab) -> None:
    lab.begin()
    assert lab.report(candidate="THF-20", value=0.5).json()["results"][0]["suggestion"] is None
    assert lab.batch()["suggestions"][0]["why"]["mean"] is not None


def test_a_ref_names_one_measurement_for_ever(bench: Lab) -> None:
    first = bench.report(candidate="THF-20", value=0.5, ref="LIMS-7")
    again = bench.report(candidate="THF-20", value=0.5, ref="LIMS-7")
    assert (statuses(first), statuses(again)) == (["recorded"], ["duplicate"])
    problem(bench.report(candidate="THF-20", value=0.6, ref="LIMS-7"), 409, "already-observed")
    problem(bench.report(candidate="THF-30", value=0.5, ref="LIMS-7"), 409, "already-observed")
    problem(bench.report(candidate="THF-20", values=[1.0, 2.0], ref="LIMS-8"), 422, "invalid-input")
    twice = [{"candidate": "THF-20", "value": 1.0, "ref": "LIMS-9"}] * 2
    assert statuses(bench.send({"observations": twice})) == ["recorded", "duplicate"]


def test_an_equal_value_by_key_counts_once_unless_it_is_said_to_be_new(lab: Lab) -> None:
    result = {"candidate": "THF-20", "value": 0.5}
    assert lab.begin().send(result).json()["warnings"] == []
    again = lab.send(result)
    assert [finding["code"] for finding in again.json()["warnings"]] == ["reported-before"]
    assert (again.status_code, statuses(again), again.json()["results"][0]["observation"]) == (200, ["duplicate"], 1)
    assert statuses(lab.send(result, duplicates="new")) == ["recorded"]
    assert statuses(lab.send({**result, "measured_at": "2026-05-04T13:30:00+02:00"})) == ["recorded"]
    assert len(lab.observations()) == 3


def test_a_dry_run_says_everything_and_stores_nothing(bench: Lab) -> None:
    before = bench.get("summary")
    body = {"observations": [{"suggestion": "B1-S1", "value": 0.5}, {"candidate": "THF-20", "value": 1e300}]}
    dry = bench.send(body, dry_run=True)
    assert (dry.status_code, dry.json()["stored"], statuses(dry)) == (200, False, ["recorded", "recorded"])
    assert [finding["code"] for finding in dry.json()["warnings"]] == ["extreme-value"]
    assert bench.get("summary") == before
    problem(bench.send({"suggestion": "B9-S9", "value": 1.0}, dry_run=True), 422, "invalid-input")


@pytest.mark.parametrize("value", [0.1, -0.0, 5e-324, -2.2250738585072014e-308, 1.7976931348623157e308, 1e300, 1e22])
def test_a_value_is_kept_to_the_last_bit(lab: Lab, value: float) -> None:
    answer = lab.begin().report(candidate="THF-20", value=value)
    codes = [finding["code"] for finding in answer.json()["warnings"]]
    assert codes == (["extreme-value"] if abs(value) > 1e100 else [])
    assert repr(lab.observations()[0]["value"]) == repr(value)
    assert repr(value) in lab.events()[-1]["payload"]
    lab.report(candidate="DMF-50", value=0.5)
    assert lab.batch()["size"] >= 1
    assert lab.get("summary")["counts"]["observations"] == 2
    assert lab.get("candidates", posterior="true", sort="-mean")["posterior"]
    assert lab.get("trace")["progress"]


WRONG = {
    "text for a number": {"candidate": "A", "value": "1.5"},
    "a boolean for a number": {"candidate": "A", "value": True},
    "neither suggestion nor candidate": {"value": 1.0},
    "both": {"suggestion": "B1-S1", "candidate": "A", "value": 1.0},
    "nothing said": {"candidate": "A"},
    "two things said": {"candidate": "A", "value": 1.0, "failed": {"reason": "?"}},
    "no reason": {"candidate": "A", "failed": {"reason": ""}},
    "a moment without a zone": {"candidate": "A", "value": 1.0, "measured_at": "2026-05-04T13:30:00"},
    "a moment as a number": {"candidate": "A", "value": 1.0, "measured_at": 5},
    "a moment before the calendar": {"candidate": "A", "value": 1.0, "measured_at": "0001-01-01T00:00:00+23:00"},
    "an unknown member": {"candidate": "A", "value": 1.0, "colour": "red"},
    "nothing at all": {"observations": []},
}


@pytest.mark.parametrize("what", WRONG)
@on_sqlite
def test_a_wrong_report_is_refused(lab: Lab, what: str) -> None:
    problem(lab.begin("key,t\nA,1\n").send(WRONG[what]), 422, "invalid-input")


def test_one_wrong_report_refuses_them_all(bench: Lab) -> None:
    seq = bench.get("summary")["seq"]
    good = {"suggestion": "B1-S1", "value": 0.5}
    for wrong in ({"suggestion": "B7-S1", "value": 1.0}, {"candidate": "nobody", "value": 1.0}):
        problem(bench.send({"observations": [good, wrong]}), 422, "invalid-input")
    assert (bench.get("summary")["seq"], states(bench)[0]) == (seq, "pending")


def test_a_hundred_thousand_results_come_in_one_call(lab: Lab) -> None:
    names = [line.partition(",")[0] for line in LIST.splitlines()[1:]]
    lines = [{"candidate": names[n % len(names)], "value": n % 977 / 7} for n in range(100_000)]
    answer = lab.begin().send({"observations": lines})
    assert (answer.status_code, answer.json()["recorded"]) == (201, 100_000)
    assert lab.get("summary")["counts"]["observations"] == 100_000
    assert lab.observations(after=99_999)[0]["value"] == 99_999 % 977 / 7
    points = lab.get("trace")["progress"]
    assert points[-1]["best"] == 976 / 7
    assert len(points) < 4_000
    assert lab.is_sound()


def test_a_length_that_is_no_number_is_no_bug(lab: Lab) -> None:
    headers = {"Content-Type": "application/json", "Content-Length": "many"}
    lab.begin()
    content = b'{"candidate": "THF-50", "value": 1}'
    answer = lab.client.post(f"{lab.path}/observations", content=content, headers=headers)
    assert answer.status_code == 201
