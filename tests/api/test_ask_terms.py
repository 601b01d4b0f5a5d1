"""Asks as people mean them: filters, favourites, compositions, a look before it counts."""

import json
from typing import Any

import pytest

from tests.api.conftest import problem
from tests.api.lab import THEORY, Lab, keys
from tests.conftest import on_sqlite

MODES: dict[str, Any] = {"auto": None, "theory": THEORY}


def temperature(key: str) -> int:
    return int(key.partition("-")[2])


def solvent(key: str) -> str:
    return key.partition("-")[0]


@pytest.fixture(params=MODES)
def working(lab: Lab, request: pytest.FixtureRequest) -> Lab:
    """A lab with some results, in either mode."""
    lab.begin(theory=MODES[request.param], repeats="never").work(1, min_size=6, max_size=6)
    return lab


def replays(lab: Lab, number: int) -> bool:
    answer = lab.client.post(f"{lab.path}/batches/{number}/replay")
    assert answer.status_code == 200, answer.text
    return bool(answer.json()["equal"])


def test_a_filter_holds_for_every_choice_and_the_batch_replays(working: Lab) -> None:
    batch = working.batch(where=["temperature >= 60", "solvent in (DMF, THF)"], min_size=3, max_size=3)
    assert all(temperature(key) >= 60 and solvent(key) != "MeOH" for key in keys(batch))
    assert len(keys(batch)) == 3
    assert set(batch["prices"]) == {"where"}
    assert batch["prices"]["where"] >= 0
    assert replays(working, batch["number"])


def test_the_first_batch_heeds_the_terms_too(lab: Lab) -> None:
    batch = lab.begin().batch(
        where="temperature<=50", include=["THF-20"], composition={"per": {"solvent": 2}}, min_size=6, max_size=6
    )
    assert keys(batch)[0] == "THF-20"
    assert all(temperature(key) <= 50 for key in keys(batch))
    assert sorted(map(solvent, keys(batch))) == ["DMF", "DMF", "MeOH", "MeOH", "THF", "THF"]
    assert batch["suggestions"][0]["why"]["words"] == "You asked for this candidate."
    assert replays(lab, 1)


def test_favourites_come_first_with_their_replicates_and_the_rest_is_chosen_around_them(working: Lab) -> None:
    free = keys(working.batch("other", min_size=3, max_size=3))
    working.client.post(f"{working.path}/batches/2/close")
    batch = working.batch(include=[{"key": free[1], "replicates": 2}], exclude=[free[0]], min_size=4, max_size=4)
    first = batch["suggestions"][0]
    assert (first["key"], first["replicates"]) == (free[1], 2)
    assert free[0] not in keys(batch)
    assert batch["size"] == 4
    assert replays(working, batch["number"])


def test_one_temperature_for_the_whole_batch(working: Lab) -> None:
    batch = working.batch(composition={"same": "temperature"}, min_size=2, max_size=3)
    assert len({temperature(key) for key in keys(batch)}) == 1
    assert len(keys(batch)) >= 2
    assert replays(working, batch["number"])


def test_at_most_so_many_levels_and_so_many_of_each(working: Lab) -> None:
    batch = working.batch(composition={"at_most": {"solvent": 2}, "per": {"solvent": 3}}, min_size=6, max_size=6)
    counts = [sum(solvent(key) == level for key in keys(batch)) for level in ("DMF", "THF", "MeOH")]
    assert sorted(counts) == [0, 3, 3]
    assert set(batch["prices"]) == {"at_most", "per"}
    assert replays(working, batch["number"])


def test_a_plate_is_filled(working: Lab) -> None:
    batch = working.batch(composition={"wells": 8}, include=[{"key": "DMF-20", "replicates": 2}])
    assert batch["size"] == 8
    assert batch["suggestions"][0]["replicates"] == 2


def test_a_preview_stores_nothing_and_confirming_it_issues_that_batch(working: Lab) -> None:
    before = working.get("events")["events"][-1]["seq"]
    request = {"where": ["temperature>=40"], "min_size": 3, "max_size": 3}
    preview = working.ask(preview=True, **request)
    assert preview.status_code == 200
    assert working.get("events")["events"][-1]["seq"] == before
    assert set(preview.json()["prices"]) == {"where"}
    batch = working.batch(confirm=preview.json()["preview"], **request)
    assert keys(batch) == keys(preview.json())


def test_an_outdated_preview_is_refused_with_what_has_happened(working: Lab) -> None:
    preview = working.ask(preview=True, min_size=2, max_size=2).json()
    working.report(candidate="DMF-20", value=5.0)
    refused = problem(working.ask(confirm=preview["preview"], min_size=2, max_size=2), 409, "preview-outdated")
    assert "Since the preview, results were reported." in refused["detail"]
    assert working.get("batches", state="open")["batches"] == []
    other = problem(working.ask(confirm="nonsense", min_size=2, max_size=2), 409, "preview-outdated")
    assert "not the one of that preview" in other["detail"]


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "an unknown column": ({"where": ["pressure>3"]}, "where", "/where/0"),
    "a filter that matches nothing": ({"where": ["temperature>500"]}, "where", "/where"),
    "text compared": ({"where": ["solvent>3"]}, "where", "/where/0"),
    "no condition": ({"where": ["temperature"]}, "where", "/where/0"),
    "an unknown favourite": ({"include": ["ZZZ"]}, "unknown-candidate", "/include/0"),
    "a favourite that is off": ({"include": ["THF-90"]}, "unavailable-candidate", "/include/0"),
    "a favourite excluded": ({"include": ["DMF-20"], "exclude": ["DMF-20"]}, "contradiction", "/include/0"),
    "a favourite twice": ({"include": ["DMF-20", "DMF-20"]}, "contradiction", "/include/1"),
    "an unknown exclusion": ({"exclude": ["ZZZ"]}, "unknown-candidate", "/exclude/0"),
    "more favourites than fit": ({"include": ["DMF-20", "DMF-30"], "max_size": 1}, "sizes", "/include"),
    "contradictory sizes": ({"min_size": 5, "max_size": 2}, "sizes", "/min_size"),
    "more wells than the study allows": ({"composition": {"wells": 500}}, "sizes", "/composition/wells"),
    "an unknown column of a composition": ({"composition": {"same": ["x"]}}, "unknown-column", "/composition/same/0"),
    "favourites that share no value": (
        {"include": ["DMF-20", "DMF-30"], "composition": {"same": ["temperature"]}},
        "contradiction",
        "/composition/same",
    ),
    "favourites of too many levels": (
        {"include": ["DMF-20", "THF-20"], "composition": {"at_most": {"solvent": 1}}},
        "contradiction",
        "/composition/at_most",
    ),
    "favourites of one level": (
        {"include": ["DMF-20", "DMF-30"], "composition": {"per": {"solvent": 1}}},
        "contradiction",
        "/composition/per",
    ),
}


@pytest.mark.parametrize("name", WRONG)
@on_sqlite
def test_wrong_terms_are_refused_by_place_and_nothing_is_stored(lab: Lab, name: str) -> None:
    terms, code, pointer = WRONG[name]
    lab.begin().switch_off("THF-90")
    [finding] = problem(lab.ask(**terms), 422, "invalid-input")["errors"]
    assert (finding["code"], finding["pointer"]) == (code, pointer)
    assert lab.get("batches")["batches"] == []


@on_sqlite
def test_a_composition_that_cannot_be_met_says_what_could_be(working: Lab) -> None:
    terms = {"composition": {"same": ["temperature"]}, "min_size": 5, "max_size": 5}
    refused = problem(working.ask(**terms), 409, "terms-unmet")
    assert refused["found"] == 3
    assert refused["detail"].endswith("There are 3, and 5 are needed. Ask for at most 3, or relax `same`.")
    assert len(keys(working.batch(**terms | {"min_size": refused["found"]}))) == 3


@on_sqlite
def test_other_workers_pending_batches_are_respected(working: Lab) -> None:
    first = keys(working.batch("a", where="temperature>=60", min_size=4, max_size=4))
    second = keys(working.batch("b", where="temperature>=60", min_size=4, max_size=4))
    assert not set(first) & set(second)


@on_sqlite
def test_a_study_s_own_conditions_hold_for_every_ask_and_are_in_the_ledger(lab: Lab) -> None:
    lab.begin(where=["solvent != DMF"])
    batch = lab.batch(where=["temperature>=50"], min_size=4, max_size=4)
    assert all(solvent(key) != "DMF" and temperature(key) >= 50 for key in keys(batch))
    issued = lab.get("events")["events"][-1]
    assert json.loads(issued["payload"])["request"]["where"] == ["solvent != DMF", "temperature>=50"]
    assert lab.change(where=[]).status_code == 200
    lab.measure(batch)
    assert replays(lab, 1)


@on_sqlite
def test_many_candidates_are_switched_by_keys_or_by_conditions(lab: Lab) -> None:
    lab.begin()
    off = {"available": False, "reason": "out of stock"}
    switch = f"{lab.path}/candidates"
    by_filter = lab.client.patch(switch, json={"where": ["solvent=DMF"], **off})
    assert by_filter.json() == {"switched": 8, "available": 16}
    by_keys = lab.client.patch(switch, json={"keys": ["DMF-20", "THF-20", "THF-20"], **off})
    assert by_keys.json() == {"switched": 1, "available": 15}
    assert lab.client.patch(switch, json={"where": ["temperature<=30"], "available": True}).json()["switched"] == 3
    assert len(lab.get("candidates", where=["not available"])["candidates"]) == 6
    before = lab.get("events")["events"][-1]["seq"]
    for wrong in (
        {**off},
        {"keys": ["ZZZ"], **off},
        {"keys": ["DMF-20"], "where": ["dry=1"], **off},
        {"keys": ["DMF-20"], "available": False},
    ):
        problem(lab.client.patch(switch, json=wrong), 422, "invalid-input")
    assert lab.get("events")["events"][-1]["seq"] == before


@on_sqlite
def test_a_sheet_is_laid_out_on_a_plate_in_an_order_that_saves_changeovers(working: Lab) -> None:
    working.batch(include=[{"key": "DMF-20", "replicates": 2}], min_size=6, max_size=6)
    sheet = working.client.get(f"{working.path}/batches/2/sheet", params={"plate": "2x3", "order_by": "temperature"})
    rows = [line.split(",") for line in sheet.text.splitlines()]
    assert rows[0][:4] == ["well", "suggestion", "replicate", "key"]
    assert [row[0] for row in rows[1:]] == ["A1", "A2", "A3", "B1", "B2", "B3"]
    heats = [float(row[rows[0].index("temperature")]) for row in rows[1:]]
    assert heats == sorted(heats)
    for wrong in ({"plate": "1x5"}, {"plate": "0x5"}, {"order_by": "pressure"}):
        assert working.client.get(f"{working.path}/batches/2/sheet", params=wrong).status_code == 422
    filled = sheet.text.replace(",,,,,", ",0.5,,,,", 6)
    assert working.sheet(filled).status_code == 201


def test_a_suggestion_is_swapped_for_the_next_best_under_the_terms_of_its_batch(working: Lab) -> None:
    batch = working.batch(composition={"same": "solvent"}, min_size=3, max_size=3)
    old, *others = keys(batch)
    swapped = working.client.post(
        f"{working.path}/suggestions/B2-S1/swap", json={"reason": "not in stock", "switch_off": True}
    )
    assert swapped.status_code == 200, swapped.text
    document = swapped.json()
    assert (document["number"], document["state"]) == (2, "open")
    states = {suggestion["suggestion"]: suggestion["state"] for suggestion in document["suggestions"]}
    assert states == {"B2-S1": "abandoned", "B2-S2": "pending", "B2-S3": "pending", "B2-S4": "pending"}
    new = keys(document)[-1]
    assert new not in (old, *others)
    assert solvent(new) == solvent(old)
    assert [candidate["key"] for candidate in working.get("candidates", available=False)["candidates"]] == [old]
    events = [event["type"] for event in working.get("events")["events"][-2:]]
    assert events == ["suggestion-swapped", "candidates-switched"]
    assert replays(working, 2)
    assert working.report(suggestion="B2-S4", value=0.5).status_code == 201
    problem(
        working.client.post(f"{working.path}/suggestions/B2-S1/swap", json={"reason": "x"}),
        409,
        "suggestion-not-pending",
    )
    problem(
        working.client.post(f"{working.path}/suggestions/B2-S4/swap", json={"reason": "x"}),
        409,
        "suggestion-not-pending",
    )
    problem(
        working.client.post(f"{working.path}/suggestions/B9-S1/swap", json={"reason": "x"}), 404, "suggestion-not-found"
    )
    problem(
        working.client.post(f"{working.path}/suggestions/nonsense/swap", json={"reason": "x"}),
        404,
        "suggestion-not-found",
    )


@on_sqlite
def test_a_swap_that_the_terms_do_not_allow_leaves_the_batch_as_it_is(lab: Lab) -> None:
    lab.begin(repeats="never").batch(where="temperature=20", min_size=3, max_size=3)
    refused = lab.client.post(f"{lab.path}/suggestions/B1-S1/swap", json={"reason": "not in stock"})
    problem(refused, 409, "terms-unmet")
    assert len(lab.get("suggestions")["suggestions"]) == 3


@on_sqlite
def test_a_study_with_terms_and_swaps_moves_in_an_archive(working: Lab) -> None:
    working.batch(
        where="temperature>=30", include=["DMF-20"], composition={"per": {"solvent": 2}}, min_size=4, max_size=4
    )
    working.client.post(f"{working.path}/suggestions/B2-S2/swap", json={"reason": "not in stock"})
    archive = working.client.get(f"{working.path}/archive").content
    working.client.delete(f"{working.path}?confirm={working.study}")
    renamed = working.client.post("/v1/archives", content=archive, headers={"Content-Type": "application/zip"})
    assert renamed.status_code == 201, renamed.text  # its events can have happened, and its name is free again
