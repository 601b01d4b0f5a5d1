"""What dashboards read: against what anybody could compute from the observations, now and at earlier moments."""

import numpy as np
import pytest

from app.domain.predictions import number_in_words
from app.modelling.ledger_state import LedgerState
from app.services.workflows.summarise import MOST_POINTS, progress
from tests.api.conftest import problem
from tests.api.lab import THEORY, Lab, truth


def test_a_summary_is_what_the_observations_say(lab: Lab) -> None:
    lab.begin(direction="minimize", unit="%").work(2, max_size=5)
    lab.batch("other", min_size=3, max_size=3)
    lab.report(suggestion="B3-S1", value=0.5)
    lab.retract(1)
    seen = lab.observations()
    standing = [one for one in seen if one["state"] == "recorded"]
    means = {
        key: np.mean([one["value"] for one in standing if one["key"] == key]) for key in {o["key"] for o in standing}
    }
    best = min(means, key=lambda key: means[key])
    summary = lab.get("summary")
    assert summary["counts"] == {
        "candidates": 24,
        "available": 24,
        "measured": len(means),
        "observations": len(standing),
        "batches": 3,
        "pending": 2,
        "reserved": 0,
    }
    assert summary["best_observed"]["key"] == best
    assert summary["best_observed"]["mean"] == pytest.approx(means[best])
    assert [(one["number"], one["worker"], one["pending"]) for one in summary["open_batches"]] == [(3, "other", 2)]
    assert best in summary["headline"]


def test_a_certificate_bounds_what_can_still_be_better(lab: Lab) -> None:
    assert lab.begin(theory=THEORY).get("certificate")["certificate"] is None
    lab.work(3, max_size=4)
    page = lab.get("candidates", posterior="true", limit=100)
    lower = np.array([one["lower"] for one in page["posterior"]])
    upper = np.array([one["upper"] for one in page["posterior"]])
    sure = lab.get("certificate")["certificate"]
    assert sure["key"] == page["candidates"][int(np.argmax(lower))]["key"]
    assert sure["regret_bound"] == pytest.approx(upper.max() - lower.max())
    assert (sure["confidence"], sure["estimate"]) == (0.95, False)
    values = np.array([truth(one["key"]) for one in page["candidates"]])
    assert values.max() - truth(sure["key"]) <= sure["regret_bound"]


def test_without_noise_the_best_measured_candidate_is_recommended_and_none_is_measured_twice(lab: Lab) -> None:
    lab.begin(noise="none").work(4, max_size=4)
    measured = [one["key"] for one in lab.observations()]
    assert len(set(measured)) == len(measured)
    sure, best = lab.get("certificate")["certificate"], max(measured, key=truth)
    assert sure["key"] == best
    assert sure["lower"] <= sure["mean"] <= sure["upper"]
    assert sure["regret_bound"] >= sure["upper"] - sure["lower"]
    lab.switch_off(best)
    second = lab.get("certificate")["certificate"]["key"]
    assert truth(second) == max(truth(key) for key in measured if key != best)  # 40 and 80 degrees are equally good


def test_the_certificate_says_what_is_left_to_gain_and_what_to_do(lab: Lab) -> None:
    names = ("remaining_gain", "chance_best_is_measured", "next_batch", "candidates_still_possible", "advice")
    before = lab.begin(unit="%").get("certificate")
    assert [before[name] for name in names] == [None] * 5
    lab.work(2, max_size=4)
    answer, summary = lab.get("certificate"), lab.get("summary")
    assert answer["remaining_gain"].keys() == {"expected", "upper"}
    assert answer["next_batch"].keys() == {"chance", "gain"}
    assert answer["advice"]["do"] == "ask"
    assert summary["outlook"] == {name: answer[name] for name in names}
    assert "percentage points" in answer["words"] == summary["headline"]
    assert lab.get("certificate") == answer, "the same results give the same answer"


def test_in_theory_mode_the_certificate_is_the_theory_s_alone(lab: Lab) -> None:
    lab.begin(theory=THEORY).work(2, max_size=4)
    answer = lab.get("certificate")
    assert answer["certificate"]["regret_bound"] > 0
    assert answer["advice"] is None
    assert "With 95 % confidence" in answer["words"]


def test_diagnostics_name_candidates_and_columns(lab: Lab) -> None:
    assert lab.begin(unit="%").get("diagnostics")["leave_one_out"] == []
    lab.work(3, max_size=4)
    answer = lab.get("diagnostics")
    assert {one["key"] for one in answer["leave_one_out"]} == {one["key"] for one in lab.observations()}
    assert len(answer["calibration"]) == 10
    importances = [column["importance"] for column in answer["columns"]]
    assert importances == sorted(importances, reverse=True)
    assert all(column["slice"] for column in answer["columns"])
    assert lab.get("diagnostics") == answer


def test_an_outlier_is_told_in_words(lab: Lab) -> None:
    lab.begin(unit="%", noise=0.5).work(4, max_size=4)
    measured = {one["key"] for one in lab.observations()}
    wrong = next(one["key"] for one in lab.get("candidates", limit=100)["candidates"] if one["key"] not in measured)
    assert lab.report(candidate=wrong, value=truth(wrong) + 500).status_code == 201
    outlier = lab.get("diagnostics")["outliers"][0]
    assert outlier["key"] == wrong
    assert outlier["words"].startswith(f"{wrong} gave {truth(wrong) + 500:.4g} %, and the other results say ")


def test_a_trace_has_every_batch_and_the_best_so_far(lab: Lab) -> None:
    lab.begin().work(3, max_size=4)
    trace = lab.get("trace")
    assert [one["number"] for one in trace["batches"]] == [1, 2, 3]
    values = [one["value"] for one in lab.observations()]
    assert [one["value"] for one in trace["progress"]] == values
    assert [one["best"] for one in trace["progress"]] == np.maximum.accumulate(values).tolist()


def test_a_thinned_progress_keeps_every_change_of_the_best() -> None:
    values = np.random.default_rng(0).standard_normal(50_000)
    values[[10_000, 30_000]] = -1.5e308, 1.5e308
    everyone = np.zeros(len(values), dtype="<i4")
    points = progress(LedgerState(values=values, candidates=everyone, counted=np.ones(len(values), dtype="|b1")))
    best = np.maximum.accumulate(values)
    changes = {1, *(np.flatnonzero(best[1:] != best[:-1]) + 2).tolist()}
    assert changes <= {point.observation for point in points}
    assert len(points) <= MOST_POINTS + len(changes) + 1
    assert points[-1].observation == len(values)


def test_the_past_is_read_as_it_was(lab: Lab) -> None:
    lab.begin()
    told = {lab.get("summary")["seq"]: lab.get("summary")}
    for batch in range(3):
        given = lab.batch(max_size=4)
        told[lab.get("summary")["seq"]] = lab.get("summary")
        lab.measure(given)
        if batch == 1:
            lab.correct(1, 3.0)
            lab.switch_off("DMF-20")
        told[lab.get("summary")["seq"]] = lab.get("summary")
    assert {seq: lab.get("summary", as_of=seq) for seq in told} == told
    refused = lab.client.get(f"{lab.path}/summary", params={"as_of": max(told) + 1})
    problem(refused, 422, "invalid-input")


@pytest.mark.parametrize("part", ["summary", "certificate", "trace"])
def test_polling_is_answered_304_until_something_happens(lab: Lab, part: str) -> None:
    lab.begin().work(1)
    first = lab.client.get(f"{lab.path}/{part}")
    known = {"If-None-Match": first.headers["ETag"]}
    again = lab.client.get(f"{lab.path}/{part}", headers=known)
    assert (again.status_code, again.content) == (304, b"")
    lab.report(candidate="THF-20", value=0.5)
    assert lab.client.get(f"{lab.path}/{part}", headers=known).status_code == 200


def test_a_batch_that_waits_too_long_is_overdue(lab: Lab) -> None:
    lab.begin(overdue_hours=1000).batch()
    assert [one["overdue"] for one in lab.get("summary")["open_batches"]] == [False]
    lab.change(overdue_hours=1e-9)
    assert [one["overdue"] for one in lab.get("summary")["open_batches"]] == [True]
    problem(lab.change(overdue_hours=1e300), 422, "invalid-input")


@pytest.mark.parametrize("column", ["mean", "std", "lower", "upper", "counts", "pending"])
def test_candidates_are_sorted_by_what_the_model_believes(lab: Lab, column: str) -> None:
    lab.begin().work(2, max_size=4)
    lab.batch(max_size=3)
    rising = lab.get("candidates", posterior="true", sort=column, limit=24)
    falling = lab.get("candidates", posterior="true", sort=f"-{column}", limit=5)
    values = [one[column] for one in rising["posterior"]]
    assert values == sorted(values)
    assert [one[column] for one in falling["posterior"]] == sorted(values, reverse=True)[:5]
    assert sum(one["counts"] for one in rising["posterior"]) == len(lab.observations())
    csv = lab.client.get(f"{lab.path}/candidates", params={"posterior": "true", "format": "csv", "sort": column})
    assert csv.text.splitlines()[0].endswith("mean,std,lower,upper,counts,pending")


STOPS = {
    "observations": {"observations": 4},
    "date": {"date": "2020-01-01T00:00:00Z"},
    "regret_bound": {"regret_bound": 1e9},
}


@pytest.mark.parametrize("rule", STOPS)
def test_a_stop_rule_ends_the_asking_and_never_the_reporting(lab: Lab, rule: str) -> None:
    lab.begin().batch("late", max_size=3, min_size=3)
    lab.work(1, min_size=4, max_size=4)
    assert lab.change(stop=STOPS[rule]).status_code == 200
    assert problem(lab.ask("new"), 409, "study-finished")["rule"] == rule
    assert lab.ask("late").status_code == 200  # what was handed out stays handed out
    assert lab.report(suggestion="B1-S1", value=0.5).status_code == 201
    assert lab.get("summary")["finished"] == rule
    assert lab.get("certificate")["stop"] is True
    lab.change(stop={})
    assert lab.ask("new").status_code == 201


def test_what_is_left_to_gain_is_not_guessed_from_a_few_results(lab: Lab) -> None:
    lab.begin(unit="%")
    for number, key in enumerate(("DMF-20", "DMF-30", "THF-40", "MeOH-50", "DMF-60"), start=1):
        assert lab.report(candidate=key, value=50.0 + number).status_code == 201
        answer = lab.get("certificate")
        assert (answer["remaining_gain"] is None, answer["advice"]["do"]) == (number < 5, "ask")
        words = "What is left to gain is estimated once five candidates are measured."
        assert (words in lab.get("summary")["headline"]) == (number < 5)


def test_equal_results_are_said_to_tell_nothing(lab: Lab) -> None:
    lab.begin(unit="%")
    for key in ("DMF-20", "DMF-30", "THF-40", "MeOH-50", "DMF-60"):
        lab.report(candidate=key, value=0)
    assert lab.get("certificate")["words"].endswith(
        "What is left to gain can be estimated once results differ; so far all are equal."
    )
    assert "e-" not in lab.get("summary")["headline"]


@pytest.mark.parametrize(
    ("unit", "direction", "limits", "words"),
    [
        ("%", "maximize", None, "This counts values above 100 as possible; if they are not, state `limits`."),
        ("nM", "minimize", None, "This counts values below 0 as possible; if they are not, state `limits`."),
        ("%", "maximize", {"high": 100}, ""),
        ("nM", "minimize", {"low": 0}, ""),
        ("mV", "maximize", None, ""),
    ],
)
def test_gains_beyond_what_is_possible_tell_how_to_exclude_them(
    lab: Lab, unit: str, direction: str, limits: dict[str, float] | None, words: str
) -> None:
    lab.begin(unit=unit, direction=direction, limits=limits)
    values = (99.0, 60.0, 50.0, 40.0, 1.0)
    for key, value in zip(("DMF-20", "DMF-30", "THF-40", "MeOH-50", "DMF-60"), values, strict=True):
        lab.report(candidate=key, value=value)
    said = lab.get("certificate")["words"]
    assert said.endswith(words or "can still be better.")


@pytest.mark.parametrize(
    ("value", "words"),
    [(158_258.3, "158,258"), (0.2104, "0.2104"), (83.10, "83.1"), (-1234.5, "-1,234"), (0.0, "0"), (2e-7, "2e-07")],
)
def test_numbers_in_sentences_are_written_as_people_write_them(value: float, words: str) -> None:
    assert number_in_words(value) == words


def test_the_headline_says_when_the_best_value_is_a_mean(lab: Lab) -> None:
    lab.begin(unit="%", repeats=2)
    lab.report(candidate="DMF-20", value=80.0)
    assert lab.get("summary")["headline"].startswith("Best so far: DMF-20, 80 %.")
    lab.report(candidate="DMF-20", value=90.0)
    assert lab.get("summary")["headline"].startswith("Best so far: DMF-20, 85 % (mean of 2 results).")


def test_with_a_target_the_headline_says_the_value_and_no_constraint(lab: Lab) -> None:
    lab.begin(objectives=[{"name": "pH", "direction": "target", "target": 7}])
    batch = lab.batch(min_size=2, max_size=2)
    near, far = batch["suggestions"]
    lab.report(suggestion=near["suggestion"], value=7.1)
    lab.report(suggestion=far["suggestion"], value=2)
    assert lab.get("summary")["headline"].startswith(f"Best so far: {near['key']}, pH 7.1.")
