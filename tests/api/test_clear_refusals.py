"""Refusals of asks, reports and settings that name the part at fault and, where possible, what would work."""

from typing import Any

import pytest

from tests.api.conftest import problem
from tests.api.lab import Lab, keys
from tests.api.test_several_objectives import COST, PURITY, YIELD, begin
from tests.conftest import on_sqlite

pytestmark = on_sqlite

WHERE = {
    "tmperature >= 80": "Did you mean `temperature`?",
    "ph >= 7": "There are: temperature, solvent.",
    "temperature >= 800": "No candidate meets this condition. temperature goes from 20 to 90.",
    "solvent = DMFF": "No candidate meets this condition. solvent is one of: DMF, THF, MeOH.",
    "solvent in (DMFF, DMSO)": "solvent is one of: DMF, THF, MeOH.",
    "measured": "No candidate meets this condition.",
}


@pytest.mark.parametrize("condition", WHERE)
def test_a_condition_that_matches_nothing_says_what_would(lab: Lab, condition: str) -> None:
    refused = lab.begin().ask(where=[condition])
    [finding] = problem(refused, 422, "invalid-input")["errors"]
    assert finding["message"].endswith(WHERE[condition])


def test_conditions_that_exclude_each_other_say_which_to_leave_out(lab: Lab) -> None:
    conditions = ["solvent = DMF", "temperature <= 30", "solvent = THF"]
    [finding] = problem(lab.begin().ask(where=conditions), 422, "invalid-input")["errors"]
    assert finding["message"] == "No candidate meets these conditions together. Without condition 1 there are 2."


def test_the_condition_that_nothing_meets_is_named_by_its_position(lab: Lab) -> None:
    [finding] = problem(lab.begin().ask(where=["solvent = DMF", "temperature > 99"]), 422, "invalid-input")["errors"]
    assert finding["message"] == "No candidate meets condition 2. temperature goes from 20 to 90."


SIZES: dict[str, tuple[dict[str, Any], str, str]] = {
    "sizes": ({"min_size": 5, "max_size": 4}, "`min_size` (5) is larger than `max_size`.", "/min_size"),
    "wells": (
        {"max_size": 4, "composition": {"wells": 6}},
        "`wells` (6) is larger than `max_size`.",
        "/composition/wells",
    ),
    "both": ({"min_size": 8, "composition": {"wells": 6}}, "`min_size` (8) is larger than `wells`.", "/min_size"),
    "study": ({"min_size": 12}, "`min_size` (12) is larger than the study's `max_batch` of 10.", "/min_size"),
}


@pytest.mark.parametrize("case", SIZES)
def test_contradictory_sizes_are_named(lab: Lab, case: str) -> None:
    request, message, pointer = SIZES[case]
    [finding] = problem(lab.begin(max_batch=10).ask(**request), 422, "invalid-input")["errors"]
    assert finding["message"].startswith(message)
    assert finding["pointer"] == pointer


def test_a_term_in_the_wrong_place_is_sent_to_the_right_one(lab: Lab) -> None:
    [finding] = problem(lab.begin().ask(same=["temperature"]), 422, "invalid-input")["errors"]
    assert finding["message"] == "There is no such field here. Write it in `composition`."
    [finding] = problem(lab.ask(direction="maximize"), 422, "invalid-input")["errors"]
    assert finding["message"].startswith("There is no such field here.")


VALUES: dict[str, tuple[Any, str, str]] = {
    "negative error": ({"purity": {"value": 97, "std": -0.3}}, "/values/purity/std", "Write a number of at least 0.0."),
    "nothing": ({}, "/values", "List at least 1 item(s)."),
    "comma": ({"yield": "83,1"}, "/values/yield", "Write a number without quotation marks, such as 83.1."),
    "no value": ({"yield": {"std": 1}}, "/values/yield/value", "This field is required."),
    "more": ({"yield": {"value": 1, "sd": 1}}, "/values/yield/sd", "There is no such field. Did you mean `std`?"),
    "text": ("83", "/values", "Write a JSON object."),
}


@pytest.mark.parametrize("case", VALUES)
def test_a_value_in_a_wrong_form_is_one_mistake_at_its_place(lab: Lab, case: str) -> None:
    values, pointer, message = VALUES[case]
    begin(lab)
    for body, prefix in (
        ({"candidate": "DMF-20", "values": values}, ""),
        ({"observations": [{"candidate": "DMF-20", "values": values}]}, "/observations/0"),
    ):
        [finding] = problem(lab.send(body), 422, "invalid-input")["errors"]
        assert (finding["pointer"], finding["message"]) == (prefix + pointer, message)


def test_a_misspelt_quantity_is_refused_with_the_names_that_there_are(lab: Lab) -> None:
    refused = begin(lab).send({"candidate": "DMF-20", "values": {"yeild": 3}})
    [finding] = problem(refused, 422, "invalid-input")["errors"]
    assert finding["message"].startswith("This study measures yield, cost and purity. Write one of these")


def test_two_constraints_of_one_name_are_one_mistake(lab: Lab) -> None:
    constraints = [{"name": "purity", "at_least": 95}, {"name": "purity", "at_most": 99}]
    refused = lab.client.put("/v1/studies/twice", json={"objectives": [YIELD, COST], "constraints": constraints})
    [finding] = problem(refused, 422, "invalid-input")["errors"]
    assert finding["message"].startswith("There are two constraints of this name.")
    capital = {"objectives": [YIELD, COST], "constraints": [PURITY, {"name": "Yield", "at_least": 1}]}
    [other] = problem(lab.client.put("/v1/studies/twice", json=capital), 422, "invalid-input")["errors"]
    assert other["message"] == "Write the name of the objective exactly as it is there."


def test_conditions_of_a_study_must_be_about_its_list(lab: Lab) -> None:
    lab.begin()
    refused = lab.client.patch(lab.path, json={"where": ["solvnt = DMF"]}, headers={"If-Match": "*"})
    [finding] = problem(refused, 422, "invalid-input")["errors"]
    assert finding["pointer"] == "/where/0"
    assert lab.client.get(lab.path).json()["configuration"]["where"] == []
    kept = lab.client.patch(lab.path, json={"where": ["solvent = DMF"]}, headers={"If-Match": "*"})
    assert kept.status_code == 200, kept.text
    assert all(key.startswith("DMF") for key in keys(lab.batch(max_size=3)))


def test_a_plate_in_other_words_says_how_to_write_it(lab: Lab) -> None:
    lab.begin().batch(max_size=2)
    refused = lab.client.get(f"{lab.path}/batches/1/sheet", params={"plate": "8 by 12"})
    [finding] = problem(refused, 422, "invalid-input")["errors"]
    assert finding["message"] == "query plate: Write the rows and columns of the plate, as in 8x12."


@pytest.mark.parametrize(
    ("reason", "given", "available"),
    [("Not in stock.", None, False), ("no time", None, True), ("not in stock", False, True), ("broken", True, False)],
)
def test_what_is_not_in_stock_is_switched_off_with_the_swap(
    lab: Lab, reason: str, given: bool | None, available: bool
) -> None:
    batch = lab.begin().batch(max_size=2)
    body = {"reason": reason} | ({} if given is None else {"switch_off": given})
    swapped = lab.client.post(f"{lab.path}/suggestions/B1-S1/swap", json=body)
    assert swapped.status_code == 200, swapped.text
    old = lab.get(f"candidates/{keys(batch)[0]}")
    assert old["available"] is available
    assert old["reason"] == (None if available else reason)


def test_a_constraint_that_nobody_measures_is_named(lab: Lab) -> None:
    begin(lab).batch(max_size=1)
    assert lab.report(suggestion="B1-S1", values={"yield": 1.0, "cost": 0.5}).status_code == 201
    words = "Nobody has reported purity yet, so no candidate is known to be on the front."
    assert lab.get("front")["words"] == words
    assert lab.get("summary")["headline"] == words
    assert lab.report(suggestion="B1-S1", values={"purity": 0.1}).status_code == 201
    assert lab.get("front")["words"] == "No candidate with all its values measured meets the constraints yet."
