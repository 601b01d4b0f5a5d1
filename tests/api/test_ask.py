"""Ask: which candidates, how many, for whom, and when not."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from app.compute import local
from app.domain.batches import Draft
from app.modelling.engine_settings import ALGORITHMS
from app.services.resources import Resources
from tests.api.conftest import problem
from tests.api.lab import THEORY, Lab, keys
from tests.conftest import on_sqlite

SHARE = r"(((less|more) than )?\d+ % of|more than)"
MODES: dict[str, Any] = {"auto": None, "theory": THEORY}


def test_the_same_worker_again_gets_its_open_batch(lab: Lab) -> None:
    first = lab.begin().ask("bench-1")
    again = lab.ask("bench-1")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    lab.measure(first.json())
    assert lab.batch("bench-1")["number"] == 2


def test_another_worker_gets_the_next_number_and_nothing_that_is_pending(lab: Lab) -> None:
    lab.begin(repeats="never")
    batches = [lab.batch(f"bench-{n}", max_size=4) for n in range(1, 5)]
    assert [batch["number"] for batch in batches] == [1, 2, 3, 4]
    everything = [key for batch in batches for key in keys(batch)]
    assert len(everything) == len(set(everything)) == 16
    assert [one["suggestion"] for one in lab.get("suggestions", worker="bench-2")["suggestions"]] == [
        "B2-S1",
        "B2-S2",
        "B2-S3",
        "B2-S4",
    ]


def test_a_study_with_nothing_measured_starts_with_a_designed_batch(lab: Lab) -> None:
    batch = lab.begin().batch()
    assert batch["size"] == len(set(keys(batch))) > 1
    assert {one["why"]["mean"] for one in batch["suggestions"]} == {None}
    assert batch["basis_seq"] == 2
    assert batch["guaranteed"] is False


def test_single_candidates_asked_for_in_a_row_are_as_wide_a_beginning_as_a_batch(lab: Lab) -> None:
    whole = keys(lab.begin().batch())
    single = Lab(lab.client, "single").begin()
    assert [keys(single.batch(f"bench-{n}", max_size=1)) for n in range(len(whole))] == [[key] for key in whole]


def test_results_from_before_count_for_a_wide_beginning(lab: Lab) -> None:
    before = [{"candidate": f"DMF-{temperature}", "value": temperature / 100} for temperature in (20, 30, 40)]
    assert lab.begin().send({"observations": before}).status_code == 201
    batch = lab.batch(min_size=6, max_size=6)
    words = [one["why"]["words"] for one in batch["suggestions"]]
    wide = sum("To begin widely" in said for said in words)
    assert 0 < wide < 6
    assert all("To begin widely" in said for said in words[:wide])
    assert {one["features"]["solvent"] for one in batch["suggestions"][:wide]} >= {"THF", "MeOH"}
    assert len(set(keys(batch))) == 6
    assert lab.replays(batch["number"])


def test_a_later_suggestion_says_why_in_numbers_and_words(lab: Lab) -> None:
    lab.begin().work(1)
    batch = lab.batch()
    assert batch["build"].startswith("nextbatch-server")
    for rank, one in enumerate(batch["suggestions"], start=1):
        assert (one["rank"], one["suggestion"]) == (rank, f"B2-S{rank}")
        assert set(one["features"]) == {"temperature", "solvent"}
        why = one["why"]
        assert 0 <= why["exploration"] <= 1
        assert why["ucb"] >= why["mean"]
        assert why["std"] > 0
        assert why["gain"] >= 0
        assert 1 <= len(why["nearest"]) <= 3
        assert "exploration" in why["words"]


@pytest.mark.parametrize("mode", MODES)
def test_sizes_are_those_asked_for_within_the_studys_limits(lab: Lab, mode: str) -> None:
    lab.begin(min_batch=2, max_batch=6, theory=MODES[mode]).work(1)
    assert 2 <= lab.batch("a")["size"] <= 6
    assert lab.batch("b", max_size=3)["size"] <= 3
    assert lab.batch("c", min_size=5, max_size=5)["size"] == 5
    assert lab.batch("d", max_size=1)["size"] == 1
    problem(lab.ask("e", min_size=7), 422, "invalid-input")
    problem(lab.ask("e", min_size=3, max_size=2), 422, "invalid-input")


def test_an_ask_without_a_size_fills_a_bench_and_says_why(lab: Lab) -> None:
    lab.begin().work(1)
    batch = lab.batch("a")
    assert (batch["size"], batch["ended"]) == (5, "size")
    first = "what the first promises"
    one_fewer_and_more = f"one fewer would give up {SHARE} {first}; one more would add {SHARE} (it|{first})"
    assert re.fullmatch(rf"5 measurements, a usual round; {one_fewer_and_more}\.", batch["size_words"])
    exact = lab.batch("b", min_size=3, max_size=3)
    assert exact["ended"] == "size"
    assert re.fullmatch(rf"3 measurements, as asked for; {one_fewer_and_more}\.", exact["size_words"])
    assert lab.batch("c", min_size=6)["size"] >= 6


def test_a_batch_says_what_one_more_would_promise_under_its_terms_and_replays(lab: Lab) -> None:
    lab.begin()
    alone = lab.ask("a", preview=True, max_size=1).json()["size_words"]
    assert alone == "1 measurement, as asked for; one more would be in another part of the list."
    first = lab.batch("a")
    assert "one fewer would leave a part of it unseen, one more would" in first["size_words"]
    lab.measure(first)
    lab.work(1)
    preview = lab.ask("a", preview=True, where="solvent = DMF", max_size=1).json()
    assert re.search(rf"; one more would add {SHARE} what this one promises\.$", preview["size_words"])
    included = lab.batch("a", include=["DMF-40"], composition={"per": {"solvent": 1}}, min_size=2, max_size=2)
    assert re.search(rf"one more would add {SHARE} (it|what the first promises)\.$", included["size_words"])
    full = lab.batch("b", composition={"per": {"solvent": 1}}, min_size=3, max_size=3)
    assert full["size_words"].endswith("no other may be chosen.")
    assert all(lab.replays(number) for number in (1, 2, 3, 4))


def test_candidates_that_are_switched_off_are_never_suggested(lab: Lab) -> None:
    lab.begin(repeats="never")
    off = {f"DMF-{temperature}" for temperature in range(20, 100, 10)}
    assert {lab.switch_off(key).status_code for key in off} == {200}
    chosen = [key for batch in lab.work(4, min_size=4, max_size=4) for key in keys(batch)]
    assert set(chosen) & off == set()
    problem(lab.ask(), 409, "candidates-exhausted")


@pytest.mark.parametrize(("repeats", "most"), [("never", 1), (1, 1), (2, 2)])
@pytest.mark.parametrize("mode", MODES)
def test_no_candidate_is_measured_more_often_than_the_study_allows(
    lab: Lab, repeats: str | int, most: int, mode: str
) -> None:
    lab.begin("key,t\nA,1\nB,2\nC,3\n", repeats=repeats, theory=MODES[mode])
    times: Counter[str] = Counter()
    for n in range(2 * most):
        asked = lab.ask(f"w{n}", min_size=2, max_size=2)
        if asked.status_code == 409:
            break
        for one in asked.json()["suggestions"]:
            times[one["key"]] += one["replicates"]
            lab.report(suggestion=one["suggestion"], values=[0.5] * one["replicates"])
    assert max(times.values()) == most
    assert sum(times.values()) == 3 * most
    problem(lab.ask("last"), 409, "candidates-exhausted")


def test_with_repeats_allowed_the_list_is_never_exhausted(lab: Lab) -> None:
    lab.begin("key,t\nA,1\nB,2\n", repeats="allowed").work(4, min_size=3, max_size=3)
    assert lab.batch(min_size=5, max_size=5)["size"] == 5


def test_an_ask_without_candidates_is_refused(lab: Lab) -> None:
    lab.client.put(lab.path, json={})
    problem(lab.ask(), 409, "no-candidates")


@pytest.mark.parametrize("state", ["paused", "archived"])
def test_a_study_that_is_not_active_gives_no_batch(lab: Lab, state: str) -> None:
    lab.begin().change(state=state)
    assert problem(lab.ask(), 409, "study-not-active")["state"] == state


def test_an_ask_with_a_key_of_its_own_is_answered_the_same_for_ever(lab: Lab) -> None:
    token = {"Idempotency-Key": "k"}
    first = lab.begin().ask(headers=token)
    lab.measure(first.json())
    again = lab.ask(headers=token)
    assert (again.status_code, again.content) == (201, first.content)
    problem(lab.ask(headers=token, max_size=1), 422, "idempotency-key-reused")
    assert lab.ask().json()["number"] == 2


def test_who_does_not_wait_finds_the_batch_later(lab: Lab, resources: Resources) -> None:
    lab.begin()
    answer = lab.ask(wait=0)
    if answer.status_code == 202:
        assert answer.headers["Location"] == f"{lab.path}/batches?worker=w&state=open"
        assert answer.headers["Retry-After"]
    assert lab.ask(wait=60).json()["number"] == 1
    assert [one["number"] for one in lab.get("batches")["batches"]] == [1]


@on_sqlite
def test_a_computation_that_takes_longer_than_the_wait_is_answered_202(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.begin()
    slow = local.draft_batch

    def after_a_while(*args: Any) -> Draft:
        assert lab.ask(wait=0).status_code == 202  # somebody else asks for the same worker meanwhile
        return slow(*args)

    monkeypatch.setattr(local, "draft_batch", after_a_while)
    assert lab.ask(wait=60).json()["number"] == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@on_sqlite
def test_every_member_of_the_family_gives_valid_batches(lab: Lab, algorithm: str, mode: str) -> None:
    lab.begin(algorithm=algorithm, theory=MODES[mode])
    for batch in lab.work(3, min_size=1, max_size=4):
        assert 1 <= batch["size"] <= 4
        assert all(one["replicates"] >= 1 for one in batch["suggestions"])
        assert lab.replays(batch["number"])


def test_theory_mode_says_whether_its_guarantee_holds(lab: Lab) -> None:
    lab.begin(theory=THEORY).work(1)
    assert lab.batch("by-rule")["guaranteed"] is True
    lab.change(theory={**THEORY, "threshold": 1.0})
    forced = lab.batch("forced", min_size=20, max_size=20)
    assert (forced["guaranteed"], forced["size"]) == (False, 20)
    lab.change(theory=None)
    assert lab.batch("auto")["guaranteed"] is False


def test_a_result_too_large_for_the_scale_ends_the_guarantee_until_it_is_retracted(lab: Lab) -> None:
    lab.begin(theory=THEORY).work(1)
    batch = lab.batch("large", max_size=1)
    lab.report(suggestion=batch["suggestions"][0]["suggestion"], value=-1e12)
    clipped = lab.batch("clipped")
    assert (clipped["guaranteed"], clipped["degraded"]) == (False, {"values beyond 1e9 scales clipped": 1})
    assert lab.replays(clipped["number"])
    lab.retract(len(lab.observations()))
    lab.measure(clipped)
    believed = lab.batch("believed")
    assert (believed["guaranteed"], believed["degraded"]) == (True, {})


def test_settings_changed_in_the_middle_are_an_event_and_the_next_batch_uses_them(lab: Lab) -> None:
    lab.begin().work(2, max_size=4)
    changed = lab.change(max_batch=2, theory=THEORY, reason="we know the noise")
    assert changed.json()["version"] == 3
    event = lab.events()[-1]
    assert (event["type"], event["reason"]) == ("study-changed", "we know the noise")
    batch = lab.batch(min_size=2)
    assert (batch["fit"], batch["size"]) == (None, 2)
    assert all(lab.replays(number) for number in (1, 2, 3))


@pytest.mark.parametrize("change", ["settings", "candidate", "pause", "other ask"])
def test_what_changes_during_a_computation_is_respected(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, new_key: Callable[..., str], change: str
) -> None:
    lab.begin()
    other_key = {"Authorization": f"Bearer {new_key('client', 's')}"}  # one key computes one batch at a time
    draft, calls = local.draft_batch, []

    def meddled(*args: Any) -> Draft:
        found = draft(*args)
        calls.append(found)
        if len(calls) > 1:
            return found
        if change == "settings":
            assert lab.change(max_batch=2).status_code == 200
        elif change == "candidate":
            first = lab.get("candidates", offset=found.suggestions[0].candidate, limit=1)["candidates"][0]
            assert lab.switch_off(first["key"]).status_code == 200
        elif change == "pause":
            assert lab.change(state="paused").status_code == 200
        else:
            assert lab.ask("quicker", headers=other_key).json()["number"] == 1
        return found

    monkeypatch.setattr(local, "draft_batch", meddled)
    answer = lab.ask()
    if change == "pause":
        problem(answer, 409, "study-not-active")
        assert lab.get("batches")["batches"] == []
        return
    batch = answer.json()
    assert batch["number"] == (2 if change == "other ask" else 1)
    if change == "settings":
        assert batch["size"] == 2
    if change == "candidate":
        assert calls[0].suggestions[0] not in calls[1].suggestions
        assert len(calls) == 2
    assert lab.replays(batch["number"])
