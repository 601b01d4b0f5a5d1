"""`confirm`: before a study ends, its best candidates are measured again."""

from typing import Any

import pytest

from tests.api.conftest import problem
from tests.api.lab import LIST, THEORY, Lab, keys, truth
from tests.conftest import on_sqlite

KEYS = ("DMF-20", "THF-60", "MeOH-60", "DMF-70", "THF-30", "DMF-50", "MeOH-50", "THF-90")


def begin(lab: Lab, **settings: Any) -> Lab:
    lab.begin(**{"confirm": 3, "noise": 0.2, **settings})
    for key in KEYS:
        assert lab.report(candidate=key, value=truth(key)).status_code == 201
    return lab


def measure(lab: Lab, batch: dict[str, Any]) -> None:
    for one in batch["suggestions"]:
        values = [truth(one["key"]) + 0.01 * n for n in range(one["replicates"])]
        assert lab.report(suggestion=one["suggestion"], values=values).status_code == 201


@pytest.mark.parametrize("stop", [{"observations": 8}, {"date": "2020-01-01T00:00:00Z"}, {"regret_bound": 100.0}])
def test_a_finished_study_confirms_its_best_and_then_ends(lab: Lab, stop: dict[str, Any]) -> None:
    begin(lab, stop=stop)
    preview = lab.ask(preview=True)
    assert preview.status_code == 200, preview.text
    number = 0
    while (asked := lab.ask(confirm=preview.json()["preview"] if number == 0 else None)).status_code == 201:
        batch, number = asked.json(), number + 1
        assert set(keys(batch)) <= set(KEYS)
        assert "before one of the best is recommended" in batch["suggestions"][0]["why"]["words"]
        assert "to be sure" in batch["size_words"]
        measure(lab, batch)
        assert number < 10
    assert number >= 1
    assert problem(asked, 409, "study-finished")["rule"] == next(iter(stop))
    assert all(lab.replays(n) for n in range(1, number + 1))
    recommended = lab.get("certificate")["certificate"]["key"]
    assert sum(one["key"] == recommended for one in lab.observations()) >= 3


@on_sqlite
def test_without_noise_or_without_the_setting_a_finished_study_ends_at_once(lab: Lab) -> None:
    begin(lab, stop={"observations": 8}, noise="none")
    problem(lab.ask(), 409, "study-finished")
    lab.change(noise="auto", confirm=None)
    problem(lab.ask(), 409, "study-finished")
    lab.change(confirm=2)
    assert lab.ask().status_code == 201
    moved = lab.client.get(f"{lab.path}/archive").content
    lab.client.delete(f"{lab.path}?confirm={lab.study}")
    renamed = lab.client.post("/v1/archives", content=moved, headers={"Content-Type": "application/zip"})
    assert renamed.status_code == 201, renamed.text  # its events can have happened, and its name is free again


@on_sqlite
def test_a_study_that_goes_on_does_not_confirm(lab: Lab) -> None:
    assert not set(keys(begin(lab, repeats="never").batch(max_size=4))) & set(KEYS)


@on_sqlite
def test_a_confirmation_stays_within_the_budget(lab: Lab) -> None:
    content = "\n".join(line + (",price" if line.startswith("key") else ",5") for line in LIST.strip().splitlines())
    lab.client.put(lab.path, json={"confirm": 4, "noise": 0.2, "budget": 53, "stop": {"observations": 8}})
    headers = {"Content-Type": "text/csv"}
    lab.client.put(f"{lab.path}/candidates", content=content, params={"cost": "price"}, headers=headers)
    for key in KEYS:
        lab.report(candidate=key, value=truth(key))
    assert lab.batch()["cost"] == 10.0


@on_sqlite
@pytest.mark.parametrize(
    "stated",
    [
        {"confirm": 1},
        {"confirm": 101},
        {"confirm": 3, "theory": THEORY},
        {"confirm": 3, "constraints": [{"name": "purity", "at_least": 3}]},
    ],
)
def test_what_cannot_be_confirmed_is_refused(lab: Lab, stated: dict[str, Any]) -> None:
    refused = problem(lab.client.put(lab.path, json=stated), 422, "invalid-input")
    assert refused["errors"][0]["pointer"] == "/confirm"
