"""A study of several quantities, end to end: settings, reports, batches, front, replay."""

from typing import Any

import pytest

from tests.api.lab import LIST, Lab, truth

YIELD = {"name": "yield", "unit": "%", "direction": "maximize", "limits": {"low": -100, "high": 100}}
COST = {"name": "cost", "unit": "EUR", "direction": "minimize"}
PURITY = {"name": "purity", "at_least": 0.4}
THEORY = {"kernel": {"kind": "gaussian", "lengthscale": 0.5}, "noise": 0.1, "norm": 2.0}


def outcome(key: str) -> dict[str, float]:
    """What a measurement gives: yield and cost contradict each other."""
    solvent, _, temperature = key.partition("-")
    heat = (float(temperature) - 20) / 70
    return {"yield": truth(key), "cost": heat + (solvent == "DMF") * 0.3, "purity": 1 - heat / 2}


def begin(lab: Lab, **settings: Any) -> Lab:
    return lab.begin(**{"objectives": [YIELD, COST], "constraints": [PURITY], **settings})


def work(lab: Lab, rounds: int, size: int = 4) -> None:
    for _ in range(rounds):
        for suggestion in lab.batch(min_size=size, max_size=size)["suggestions"]:
            measured = [measurable(lab, suggestion["key"])] * suggestion["replicates"]
            sent = lab.report(suggestion=suggestion["suggestion"], replicates=measured)
            assert sent.status_code == 201, sent.text


def measurable(lab: Lab, key: str) -> dict[str, float]:
    measured = {quantity["name"] for quantity in lab.get("summary")["quantities"]}
    return {name: value for name, value in outcome(key).items() if name in measured}


def test_a_study_of_several_quantities_runs_from_settings_to_its_front(lab: Lab) -> None:
    begin(lab)
    work(lab, 4)
    front = lab.client.get(f"{lab.path}/front").json()
    on_it = {point["key"] for point in front["measured"]}
    for point in front["measured"]:
        assert point["values"] == pytest.approx(outcome(point["key"]))
        assert point["values"]["purity"] >= 0.4
    reported = lab.client.get(f"{lab.path}/observations").json()["observations"]
    for result in reported:
        values = {name: measured["value"] for name, measured in result["values"].items()}
        beaten = any(
            point["values"]["yield"] >= values["yield"] and point["values"]["cost"] <= values["cost"]
            for point in front["measured"]
        )
        assert result["key"] in on_it or beaten or values["purity"] < 0.4
    assert front["hypervolume"] > 0
    assert len(on_it) <= front["possible"] <= 24
    assert front["gap"] >= 0
    assert front["expected"]
    assert all(0 <= point["chance"] <= 1 for point in front["expected"])
    summary = lab.client.get(f"{lab.path}/summary").json()
    assert [quantity["name"] for quantity in summary["quantities"]] == ["yield", "cost", "purity"]
    assert summary["headline"].startswith("On the front: ")
    volumes = [point["hypervolume"] for point in lab.client.get(f"{lab.path}/trace").json()["hypervolume"]]
    assert volumes == sorted(volumes)
    assert volumes[-1] == pytest.approx(front["hypervolume"])


@pytest.mark.parametrize("mode", ["auto", "theory"])
def test_a_batch_for_several_quantities_replays_bit_for_bit(lab: Lab, mode: str) -> None:
    begin(lab, theory=THEORY if mode == "theory" else None)
    work(lab, 3)
    for number in (1, 2, 3):
        replayed = lab.client.post(f"{lab.path}/batches/{number}/replay").json()
        assert replayed["equal"], replayed
    why = lab.batch(max_size=2)["suggestions"][0]["why"]
    assert set(why["quantities"]) == {"yield", "cost", "purity"}
    assert 0 <= why["feasible"] <= 1


def test_quantities_come_one_after_the_other(lab: Lab) -> None:
    begin(lab)
    first, second = (s["suggestion"] for s in lab.batch(min_size=2, max_size=2)["suggestions"])
    assert lab.report(suggestion=first, values={"yield": 0.5}).json()["results"][0]["status"] == "recorded"
    later = lab.report(suggestion=first, values={"cost": {"value": 0.2, "std": 0.01}}).json()["results"][0]
    assert (later["status"], later["observation"]) == ("completed", 1)
    again = lab.report(suggestion=first, values={"yield": 0.5, "cost": 0.2})
    assert (again.status_code, again.json()["results"][0]["status"]) == (200, "duplicate")
    changed = lab.report(suggestion=first, values={"cost": 0.3, "purity": 1.0})
    assert (changed.status_code, changed.json()["code"]) == (409, "already-observed")
    [stored] = lab.client.get(f"{lab.path}/observations").json()["observations"]
    assert stored["values"] == {"yield": {"value": 0.5, "std": None}, "cost": {"value": 0.2, "std": 0.01}}
    assert stored["missing"] == ["purity"]
    assert stored["version"] == 2
    assert lab.report(suggestion=second, values={"purity": 0.9}).status_code == 201
    assert lab.batch(max_size=2)["number"] == 2  # a first value answers a suggestion


def test_a_later_quantity_finds_its_result_by_key(lab: Lab) -> None:
    begin(lab)
    lab.report(candidate="DMF-20", values={"yield": 0.5})
    lab.report(candidate="DMF-20", values={"yield": 0.6})
    for value, number in ((0.1, 1), (0.2, 2)):
        result = lab.report(candidate="DMF-20", values={"cost": value}).json()["results"][0]
        assert (result["status"], result["observation"]) == ("completed", number)
    third = lab.report(candidate="DMF-20", values={"cost": 0.3}).json()["results"][0]
    assert (third["status"], third["observation"]) == ("recorded", 3)


def test_a_row_that_was_sent_before_and_has_more_quantities_now_completes_its_result(lab: Lab) -> None:
    begin(lab)
    rows = "DMF-20,0.5,0.2\nDMF-20,0.5,0.2\nTHF-20,0.4,0.1\n"
    assert lab.sheet("key,yield,cost\n" + rows).json()["recorded"] == 3
    filled = "DMF-20,0.5,0.2,0.9\nDMF-20,0.5,0.2,0.8\nTHF-20,0.7,0.1,0.9\n"
    results = lab.sheet("key,yield,cost,purity\n" + filled).json()["results"]
    told = [(result["status"], result["observation"]) for result in results]
    assert told == [("completed", 1), ("completed", 2), ("recorded", 4)]
    again = lab.sheet("key,yield,cost,purity\n" + filled)
    assert (again.status_code, again.json()["recorded"], len(lab.observations())) == (200, 0, 4)
    new = lab.client.post(
        f"{lab.path}/observations?duplicates=new", json={"candidate": "THF-20", "values": {"yield": 0.4, "purity": 1}}
    )
    assert new.json()["results"][0]["status"] == "recorded"


def test_an_older_result_is_not_completed_by_the_measurement_that_a_batch_asked_for(lab: Lab) -> None:
    begin(lab)
    lab.report(candidate="DMF-20", values={"yield": 0.5})
    lab.batch(min_size=1, max_size=1, include=["DMF-20"])
    result = lab.report(candidate="DMF-20", values={"yield": 0.5, "cost": 0.2}).json()["results"][0]
    assert (result["status"], result["suggestion"]) == ("recorded", "B1-S1")


def test_a_correction_changes_one_quantity_alone(lab: Lab) -> None:
    begin(lab)
    lab.report(candidate="DMF-20", values={"yield": 0.5, "cost": 0.2})
    corrected = lab.client.post(
        f"{lab.path}/observations/1/corrections",
        json={"values": {"cost": 0.25}, "reason": "wrong price"},
        headers={"If-Match": '"1"'},
    )
    assert corrected.status_code == 200, corrected.text
    values = corrected.json()["observation"]["values"]
    assert {name: measured["value"] for name, measured in values.items()} == {"yield": 0.5, "cost": 0.25}


def test_sheets_and_exports_have_a_column_for_each_quantity(lab: Lab) -> None:
    begin(lab)
    lab.batch(min_size=2, max_size=2)
    sheet = lab.client.get(f"{lab.path}/batches/1/sheet").text.splitlines()
    header = sheet[0].split(",")
    assert header[-8:] == ["yield", "cost", "purity", "failed", "note", "measured_by", "measured_at", "ref"]
    filled = [line.removesuffix(",,,,,,,") + "0.5,0.2,,,,,,,0.01" for line in sheet[1:]]
    sent = lab.sheet("\n".join([sheet[0] + ",yield std", *filled]))
    assert sent.status_code == 201, sent.text
    table = lab.client.get(f"{lab.path}/observations", params={"format": "csv"}).text.splitlines()
    columns = table[0].split(",")
    row = dict(zip(columns, table[1].split(","), strict=True))
    assert (row["yield"], row["cost"], row["purity"], row["yield std"]) == ("0.5", "0.2", "", "0.01")


def test_a_value_outside_its_limits_is_refused_unless_confirmed(lab: Lab) -> None:
    begin(lab)
    body = {"candidate": "DMF-20", "values": {"yield": 831.0, "cost": 0.2}}
    refused = lab.send(body)
    assert refused.status_code == 422
    [error] = refused.json()["errors"]
    assert (error["code"], error["column"]) == ("outside-limits", "yield")
    assert lab.send(body, outside_limits="accept").status_code == 201
    change = {"json": {"values": {"yield": 400.0}, "reason": "typo"}, "headers": {"If-Match": '"1"'}}
    corrections = f"{lab.path}/observations/1/corrections"
    assert lab.client.post(corrections, **change).status_code == 422
    assert lab.client.post(corrections, **change, params={"outside_limits": "accept"}).status_code == 200


def test_a_value_must_belong_to_a_quantity(lab: Lab) -> None:
    begin(lab)
    unnamed = lab.report(candidate="DMF-20", value=0.5)
    assert (unnamed.status_code, unnamed.json()["errors"][0]["code"]) == (422, "which-quantity")
    unknown = lab.report(candidate="DMF-20", values={"yeild": 0.5})
    assert (unknown.status_code, unknown.json()["errors"][0]["code"]) == (422, "unknown-quantity")
    assert "yield, cost and purity" in unknown.json()["errors"][0]["message"]


PLACES: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown quantity": ({"values": {"yield": 1, "a/b": 2}}, "/values/a~1b"),
    "a value without a name": ({"value": 1}, "/value"),
    "an unknown quantity of a replicate": ({"replicates": [{"yield": 1}, {"yeild": 1}]}, "/replicates/1/yeild"),
    "a value outside the limits": ({"values": {"yield": 101, "cost": 1}}, "/values/yield"),
}


@pytest.mark.parametrize("case", PLACES)
def test_a_wrong_value_is_named_by_its_place(lab: Lab, case: str) -> None:
    begin(lab)
    report, place = PLACES[case]
    right = {"candidate": "THF-20", "values": {"yield": 1}}
    for body, at in ((report, place), ({"observations": [right, report]}, f"/observations/1{place}")):
        for one in [body, *body.get("observations", [])]:
            if "observations" not in one:
                one["candidate"] = one.get("candidate", "DMF-20")
        refused = lab.send(body)
        assert refused.status_code == 422, refused.text
        assert [error["pointer"] for error in refused.json()["errors"]] == [at]
    assert lab.observations() == []


@pytest.mark.parametrize("title", ["value", "Value (%)", "std"])
def test_a_column_that_names_no_quantity_is_not_left_out(lab: Lab, title: str) -> None:
    begin(lab)
    refused = lab.sheet(f"key,{title},cost\nDMF-20,0.5,0.2\n")
    assert refused.status_code == 422, refused.text
    [error] = refused.json()["errors"]
    assert (error["column"], error["row"]) == (title, 1)
    assert "`yield` or `cost` or `purity`" in error["message"]
    assert lab.observations() == []
    assert lab.sheet(f"key,{title},cost\nDMF-20,,0.2\n").status_code == 201


BAD_SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "a missing direction": ({"objectives": [{"name": "yield"}]}, "/objectives/0/direction"),
    "two objectives of one name": ({"objectives": [YIELD, {**COST, "name": "Yield"}]}, "/objectives/1/name"),
    "more than five objectives": (
        {"objectives": [{"name": f"o{n}", "direction": "maximize"} for n in range(6)]},
        "/objectives",
    ),
    "a constraint without a bound": ({"objectives": [YIELD], "constraints": [{"name": "purity"}]}, "/constraints/0"),
    "a constraint that contradicts itself": (
        {"objectives": [YIELD], "constraints": [{"name": "purity", "at_least": 2, "at_most": 1}]},
        "/constraints/0",
    ),
    "a constraint beyond the limits": (
        {"objectives": [YIELD], "constraints": [{"name": "yield", "at_least": 200}]},
        "/constraints/0",
    ),
    "two constraints of one name": (
        {"objectives": [YIELD], "constraints": [PURITY, {"name": "purity", "at_most": 2}]},
        "/constraints/1/name",
    ),
    "a target without its value": (
        {"objectives": [YIELD, {"name": "pH", "direction": "target"}]},
        "/objectives/1/target",
    ),
    "limits the wrong way round": ({"limits": {"low": 2, "high": 1}}, "/objectives/0/limits"),
    "a preference for nothing": ({"objectives": [YIELD, COST], "prefer": {"speed": 2}}, "/prefer"),
    "a name that sheets need": ({"objectives": [YIELD, {**COST, "name": "note"}]}, "/objectives/1/name"),
    "another unit than the objective": (
        {"objectives": [YIELD], "constraints": [{"name": "yield", "at_least": 1, "unit": "g"}]},
        "/constraints/0/unit",
    ),
    "other limits than the objective": (
        {"objectives": [YIELD], "constraints": [{"name": "yield", "at_least": 1, "limits": {"low": 0}}]},
        "/constraints/0/limits",
    ),
    "a name of spaces": ({"objectives": [YIELD, {**COST, "name": " "}]}, "/objectives/1/name"),
    "one name, written in two ways": (
        {"objectives": [{**COST, "name": "\u00e9"}, {**COST, "name": "e\u0301"}]},
        "/objectives/1/name",
    ),
    "the title of another's errors": ({"objectives": [YIELD, {**COST, "name": "Yield std"}]}, "/objectives/1/name"),
    "the title of another's values": ({"objectives": [YIELD, {**COST, "name": "yield (%)"}]}, "/objectives/1/name"),
    "a bound on the regret": ({"objectives": [YIELD, COST], "stop": {"regret_bound": 1}}, "/stop/regret_bound"),
    "a baseline for one objective": ({"objectives": [YIELD, COST], "algorithm": "thompson"}, "/algorithm"),
    "a model of one objective": (
        {"objectives": [YIELD, {**COST, "theory": {**THEORY, "noise": 1e-300}}], "theory": THEORY},
        "/objectives/1/theory/noise",
    ),
    "both forms at once": ({"objectives": [YIELD, COST], "objective": "speed"}, "/objectives"),
}


@pytest.mark.parametrize("case", BAD_SETTINGS)
def test_bad_settings_are_refused_by_their_place(lab: Lab, case: str) -> None:
    settings, place = BAD_SETTINGS[case]
    refused = lab.client.put(lab.path, json=settings)
    assert refused.status_code == 422, refused.text
    assert place in {error["pointer"] for error in refused.json()["errors"]}, refused.text
    assert lab.client.get(lab.path).status_code == 404


def test_the_short_form_and_the_long_form_are_the_same_study(lab: Lab) -> None:
    short = {"objective": "yield", "unit": "%", "direction": "minimize", "limits": {"low": 0, "high": 100}}
    assert lab.client.put(lab.path, json=short).status_code == 201
    long = {"name": "yield", "unit": "%", "direction": "minimize", "limits": {"low": 0, "high": 100}}
    again = lab.client.put(lab.path, json={"objectives": [long]})
    assert again.status_code == 200, again.text
    assert [objective["name"] for objective in again.json()["configuration"]["objectives"]] == ["yield"]


def test_directions_and_quantities_can_change_until_something_is_measured(lab: Lab) -> None:
    begin(lab)

    def change(**settings: Any) -> int:
        return lab.client.patch(lab.path, json=settings, headers={"If-Match": "*"}).status_code

    assert change(objectives=[YIELD, {**COST, "direction": "maximize"}], constraints=[]) == 200
    lab.report(candidate="DMF-20", values={"yield": 0.5, "cost": 0.2})
    assert change(objectives=[YIELD, COST]) == 409
    assert change(constraints=[PURITY]) == 409  # nobody measured it
    assert change(constraints=[{"name": "yield", "at_least": 0.1}]) == 200
    assert change(direction="minimize") == 422  # of which objective?


def test_failures_that_count_are_avoided(lab: Lab) -> None:
    """Everything in MeOH fails; with the failure model, fewer measurements of several studies are wasted on it."""

    def wasted(failures: str, seed: int) -> int:
        study = Lab(lab.client, f"{failures}-{seed}")
        there = study.begin(failures=failures, direction="maximize", candidates=LIST, seed=seed)
        wasted = 0
        for _ in range(5):
            for suggestion in there.batch(min_size=3, max_size=3)["suggestions"]:
                name, key = suggestion["suggestion"], suggestion["key"]
                if key.startswith("MeOH"):
                    wasted += 1
                    there.report(suggestion=name, failed={"reason": "explodes", "retry": False})
                else:
                    there.report(suggestion=name, value=truth(key))
        assert there.client.post(f"{there.path}/batches/5/replay").json()["equal"]
        return wasted

    learns, ignores = (sum(wasted(failures, seed) for seed in (2, 3, 4)) for failures in ("learn", "ignore"))
    assert learns < ignores


def test_a_value_after_a_failure_counts_as_well(lab: Lab) -> None:
    lab.begin(objective="yield", direction="maximize")
    lab.work(1)
    lab.report(candidate="MeOH-90", failed={"reason": "leaks", "retry": False})

    lab.client.patch(f"{lab.path}/candidates/MeOH-90", json={"available": True, "reason": "mended"})
    before = lab.batch("one", max_size=1, include=["MeOH-90"])["suggestions"][0]["why"]["success"]
    lab.report(suggestion="B2-S1", value=0.4)
    after = lab.batch("two", max_size=1, include=["MeOH-90"])["suggestions"][0]["why"]["success"]
    assert before < after


def test_a_baseline_remains_itself_after_a_failure(lab: Lab) -> None:
    lab.begin(objective="yield", direction="maximize", algorithm="thompson")
    lab.work(1)
    lab.report(candidate="MeOH-90", failed={"reason": "leaks", "retry": False})
    batch = lab.batch(min_size=3, max_size=3)
    assert [one["why"]["success"] for one in batch["suggestions"]] == [None] * 3
    assert lab.replays(batch["number"])


def test_a_batch_for_a_target_says_nothing_of_the_largest_value(lab: Lab) -> None:
    lab.begin(objective="yield", direction="target", target=0.0)
    lab.work(2)
    batch = lab.batch(max_size=2)
    assert batch["regret_bound"] is None
    assert lab.replays(batch["number"])


def test_a_target_and_a_preference_lead_to_one_compromise(lab: Lab) -> None:
    target = {"name": "yield", "direction": "target", "target": 0.0}
    begin(lab, objectives=[target, COST], constraints=[], prefer={"yield": 3, "cost": 1})
    work(lab, 4)
    [best, *_] = sorted(
        lab.client.get(f"{lab.path}/front").json()["measured"], key=lambda point: abs(point["values"]["yield"])
    )
    assert abs(best["values"]["yield"]) < 0.15


def test_what_was_measured_below_a_limit_is_not_expected_above_it(lab: Lab) -> None:
    """Most are close together and good enough; a few are far below. Those are no outliers to be believed less."""
    settings = {"objective": "yield", "direction": "maximize", "constraints": [{"name": "purity", "at_least": 90}]}
    assert lab.client.put(lab.path, json=settings).status_code == 201
    rows = "key,t\n" + "".join(f"A{n},{n}\n" for n in range(20))
    assert lab.client.put(f"{lab.path}/candidates", content=rows, headers={"Content-Type": "text/csv"}).is_success
    for number in range(20):
        purity = 87.0 + number / 10 if number < 4 else 92.0 + 0.01 * (number % 3)
        assert lab.report(candidate=f"A{number}", values={"yield": number % 7, "purity": purity}).status_code == 201
    page = lab.client.get(f"{lab.path}/candidates", params={"posterior": "true", "limit": 20}).json()
    purities = {
        row["key"]: known["quantities"]["purity"]["mean"]
        for row, known in zip(page["candidates"], page["posterior"], strict=True)
    }
    chances = {row["key"]: known["feasible"] for row, known in zip(page["candidates"], page["posterior"], strict=True)}
    assert all(purities[f"A{number}"] < 90 for number in range(3))
    assert all(chances[f"A{number}"] < 0.2 for number in range(3))
    assert all(chances[f"A{number}"] > 0.8 for number in range(6, 20))


def test_each_quantity_has_diagnostics_of_its_own(lab: Lab) -> None:
    begin(lab)
    work(lab, 3)
    first, cost = lab.get("diagnostics"), lab.get("diagnostics", quantity="cost")
    assert lab.get("diagnostics", quantity="yield") == first
    observed = {one["key"]: one["values"]["cost"]["value"] for one in lab.observations()}
    assert {one["key"]: one["observed"] for one in cost["leave_one_out"]} == pytest.approx(observed)
    assert cost["columns"] != first["columns"]
    refused = lab.client.get(f"{lab.path}/diagnostics", params={"quantity": "colour"})
    assert (refused.status_code, "yield" in refused.json()["errors"][0]["message"]) == (422, True)


@pytest.mark.parametrize("mode", ["auto", "theory"])
def test_a_study_with_huge_values_can_be_read(lab: Lab, mode: str) -> None:
    unlimited = {"name": "yield", "direction": "maximize"}
    begin(lab, objectives=[unlimited, COST], theory=THEORY if mode == "theory" else None)
    for key, value in (("DMF-20", 1e300), ("THF-50", -1e300), ("DMF-80", 1e200)):
        body = {"candidate": key, "values": {"yield": -value, "cost": value, "purity": 1e300}}
        assert lab.send(body).status_code == 201
    for view in ("front", "summary", "certificate", "trace"):
        assert lab.client.get(f"{lab.path}/{view}").status_code == 200


def test_candidates_have_a_chance_of_being_on_the_front_and_the_certificate_tells_of_it(lab: Lab) -> None:
    begin(lab)
    work(lab, 3)
    front = lab.get("front")
    page = lab.get("candidates", posterior="true", limit=100)
    pairs = zip(page["candidates"], page["posterior"], strict=True)
    chances = {candidate["key"]: belief["front_chance"] for candidate, belief in pairs}
    assert all(0 <= chance <= 1 for chance in chances.values())
    assert {point["key"]: point["chance"] for point in front["expected"]} == {
        point["key"]: chances[point["key"]] for point in front["expected"]
    }
    unlikely = [
        chances[candidate["key"]]
        for candidate, belief in zip(page["candidates"], page["posterior"], strict=True)
        if not belief["on_front"]
    ]
    assert sum(chances.values()) >= 0.9  # some candidate is on the front of nearly every draw
    assert max(unlikely, default=0.0) <= 0.1
    table = lab.client.get(f"{lab.path}/candidates", params={"format": "csv", "posterior": "true"}).text
    assert "front_chance" in table.splitlines()[0].split(",")
    certificate = lab.get("certificate")["front"]
    assert certificate == {name: front[name] for name in ("possible", "gap", "hypervolume", "confidence", "estimate")}


def test_candidates_are_sorted_and_filtered_by_all_that_is_known_of_their_quantities(lab: Lab) -> None:
    begin(lab)
    work(lab, 3)
    shown = lab.get("candidates", posterior="true", limit=100)["posterior"]
    possible = sum(one["on_front"] for one in shown)
    for sort in ("on_front", "front_chance", "feasible", "yield mean", "purity upper"):
        for sign in ("", "-"):
            page = lab.get("candidates", posterior="true", limit=100, sort=sign + sort)
            name, _, what = sort.partition(" ")
            found = [one["quantities"][name][what] if what else one[name] for one in page["posterior"]]
            assert found == sorted(found, reverse=sign == "-")
    for condition, total in (
        ("on_front = true", possible),
        ("on_front != true", 24 - possible),
        ("on_front = 1", possible),
    ):
        assert lab.get("candidates", posterior="true", where=condition)["total"] == total


def test_one_objective_has_no_front_in_its_certificate(lab: Lab) -> None:
    lab.begin()
    lab.work(1)
    assert lab.get("certificate")["front"] is None


def test_the_best_so_far_meets_the_constraints(lab: Lab) -> None:
    lab.begin(objectives=[YIELD], constraints=[PURITY])
    results = [
        ("DMF-90", 0.9, 0.3),
        ("DMF-80", 0.5, None),
        ("DMF-50", 0.4, 0.6),
        ("DMF-20", 0.2, 0.9),
        ("DMF-30", 0.6, 0.8),
    ]
    best: list[float | None] = []
    for key, value, purity in results:
        assert lab.report(
            candidate=key, values={"yield": value, **({} if purity is None else {"purity": purity})}
        ).is_success
        best.append(
            None if lab.get("summary")["best_observed"] is None else lab.get("summary")["best_observed"]["mean"]
        )
    assert best == [None, None, 0.4, 0.4, 0.6]
    assert [point["best"] for point in lab.get("trace")["progress"]] == best
    lab.report(candidate="DMF-80", values={"purity": 0.5})  # completes 0.5
    assert [point["best"] for point in lab.get("trace")["progress"]] == [None, 0.5, 0.5, 0.5, 0.6]
