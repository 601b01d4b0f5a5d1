"""Results of earlier studies as hints: copied into the ledger, weighed by the model, and never in the way."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.api.conftest import problem
from tests.api.lab import LIST, Lab, keys, truth
from tests.api.test_archives import Elsewhere, elsewhere, take_in

__all__ = ["elsewhere"]  # a fixture

MORE = LIST + "".join(f"EtOH-{temperature},{temperature},EtOH\n" for temperature in range(20, 100, 10))


@pytest.fixture
def earlier(lab: Lab) -> Lab:
    """A finished study of the same reaction, with another solvent in its list."""
    done = replace(lab, study="earlier").begin(MORE)
    measured = [line.partition(",")[0] for line in MORE.splitlines()[1::2]]
    lines = [{"candidate": key, "value": truth(key) if "EtOH" not in key else -2.0} for key in measured]
    assert done.send({"observations": lines}).status_code == 201
    return done


def borrow(lab: Lab, *studies: str) -> list[dict[str, Any]]:
    answer = lab.client.put(f"{lab.path}/borrowed", json={"from": list(studies)})
    assert answer.status_code == 200, answer.text
    return list(answer.json()["borrowed"])


def test_results_are_copied_with_the_hash_of_the_prefix_they_come_from(lab: Lab, earlier: Lab) -> None:
    lab.begin()
    [borrowed] = borrow(lab, "earlier")
    assert (borrowed["results"], sorted(borrowed["columns"]), borrowed["missing"]) == (
        16,
        ["solvent", "temperature"],
        [],
    )
    last = earlier.events()[-1]
    assert (borrowed["seq"], borrowed["head"]) == (last["seq"], last["hash"])
    event = lab.events()[-1]
    assert event["type"] == "results-borrowed"
    assert len(json.loads(event["payload"])["earlier"][0]["values"]) == 16
    borrow(lab, "earlier")
    assert lab.events()[-1]["seq"] == event["seq"]  # the same again changes nothing


def test_the_first_batch_tries_what_the_earlier_study_found(lab: Lab, earlier: Lab) -> None:
    lab.begin()
    borrow(lab, "earlier")
    best = max((truth(key), key) for key in (line.partition(",")[0] for line in LIST.splitlines()[1:]))[0]
    first = lab.batch(min_size=5, max_size=5)
    assert max(truth(key) for key in keys(first)) >= best - 0.15
    assert earlier.is_sound()


def test_batches_replay_whatever_becomes_of_the_earlier_study(lab: Lab, earlier: Lab) -> None:
    lab.begin()
    borrow(lab, "earlier")
    lab.work(3, max_size=4)
    earlier.report(candidate="THF-20", value=99.0)
    lab.client.delete(f"{earlier.path}?confirm={earlier.study}")
    resources = lab.client.app.state.resources  # type: ignore[attr-defined]
    resources.models.clear()
    resources.ledger_states.clear()
    assert all(lab.replays(number) for number in (1, 2, 3))
    assert lab.is_sound()


def test_how_much_counts_is_told_in_words(lab: Lab, earlier: Lab) -> None:
    lab.begin()
    borrow(lab, "earlier")
    [before] = lab.get("borrowed")["borrowed"]
    assert before["importance"] is None
    assert "how much they count is learnt" in before["words"]
    lab.work(4, min_size=4, max_size=4)
    [after] = lab.get("borrowed")["borrowed"]
    assert 0.0 <= after["importance"] <= 1.5
    assert after["study"] == earlier.study
    assert "16 results of earlier" in after["words"]


def test_borrowing_can_begin_and_end_at_any_time(lab: Lab, earlier: Lab) -> None:
    lab.begin().work(2, max_size=3)
    assert borrow(lab, "earlier")
    lab.work(1, max_size=3)
    assert borrow(lab) == []
    lab.work(1, max_size=3)
    assert lab.get("borrowed")["borrowed"] == []
    added = {"content": "key,temperature,solvent\nNMP-50,50,NMP\n", "headers": {"Content-Type": "text/csv"}}
    borrow(lab, "earlier")
    assert lab.client.post(f"{lab.path}/candidates", **added).status_code == 201
    lab.work(1, max_size=3)
    assert all(lab.replays(number) for number in range(1, 6))
    assert lab.is_sound()
    assert earlier.is_sound()


def test_a_study_that_borrowed_moves_without_the_other_one(lab: Lab, earlier: Lab, elsewhere: Elsewhere) -> None:
    lab.begin()
    borrow(lab, earlier.study)
    lab.work(2, max_size=3)
    content = lab.client.get(f"{lab.path}/archive").content
    assert take_in(elsewhere.lab, content).status_code == 201
    assert all(elsewhere.lab.replays(number) for number in (1, 2))
    assert elsewhere.lab.is_sound()


def test_what_cannot_be_borrowed_is_refused(lab: Lab, earlier: Lab) -> None:
    def refused(name: str, source: str, status: int = 422, code: str = "invalid-input") -> None:
        problem(lab.client.put(f"/v1/studies/{name}/borrowed", json={"from": [source]}), status, code)

    lab.begin()
    replace(lab, study="other").begin("key,pressure\nA,1\nB,2\n").report(candidate="A", value=1)
    replace(lab, study="empty").begin()
    replace(lab, study="fixed").begin(theory={"kernel": {"kind": "gaussian", "lengthscale": 0.5}})
    lab.client.put("/v1/studies/bare", json={})
    refused("s", "s")
    refused("s", "other")
    refused("s", "empty")
    refused("fixed", "earlier")
    refused("s", "nowhere", 404, "study-not-found")
    refused("bare", "earlier", 409, "no-candidates")
    assert [event["type"] for event in lab.events()].count("results-borrowed") == 0
    assert earlier.is_sound()


def test_only_what_the_key_may_see_can_be_borrowed(lab: Lab, earlier: Lab) -> None:
    lab.begin()
    key = lab.client.post("/v1/keys", json={"name": "k", "role": "scientist", "studies": ["s"]}).json()["key"]
    headers = {"Authorization": f"Bearer {key}"}
    hidden = lab.client.put(f"{lab.path}/borrowed", json={"from": [earlier.study]}, headers=headers)
    problem(hidden, 404, "study-not-found")


def molecules(lab: Lab, name: str, *smiles: str) -> Lab:
    """A study of these molecules."""
    study = replace(lab, study=name)
    assert lab.client.put(study.path, json={}).status_code == 201
    content = "key,mol\n" + "".join(f"M{n},{molecule}\n" for n, molecule in enumerate(smiles))
    headers = {"Content-Type": "text/csv"}
    stored = lab.client.put(f"{study.path}/candidates", content=content, params={"smiles": "mol"}, headers=headers)
    assert stored.status_code == 201
    return study


def test_molecules_are_the_same_in_any_spelling(lab: Lab) -> None:
    earlier = molecules(lab, "m", "OCC", "CCC", "C(O)C")
    for number in range(3):
        earlier.report(candidate=f"M{number}", value=float(number))
    new = molecules(lab, "n", "C(O)C", "C(C)C", "CCCC")
    [borrowed] = borrow(new, "m")
    assert (borrowed["results"], borrowed["usable"]) == (3, 3)
    assert borrowed["words"].startswith("3 results of m are hints")
    copied = json.loads(new.events()[-1]["payload"])["earlier"][0]["texts"]["mol"]
    assert copied == ["C(O)C", "C(C)C", "C(O)C"]


def test_results_with_unknown_molecules_are_not_counted_and_told(lab: Lab) -> None:
    earlier = molecules(lab, "m", "CO", "OCC", "CCCO", "CCCCO", "CCCCCO", "c1ccccc1O")
    for number in range(6):
        earlier.report(candidate=f"M{number}", value=float(number))
    new = molecules(lab, "n", "OC", "CCO", "OCCC", "OCCCCO")
    [borrowed] = borrow(new, "m")
    assert (borrowed["results"], borrowed["usable"]) == (6, 3)
    assert borrowed["words"].startswith("3 results of m are hints")
    assert borrowed["words"].endswith("3 results with molecules that are not in this list are left out.")
    few = molecules(lab, "few", "OC", "CCCCCCO", "CCCCCCCO")
    [borrowed] = borrow(few, "m")
    assert borrowed["words"].startswith("1 result of m can be used here; that is too few to learn from.")
    new.batch(max_size=2)
    assert new.replays(1)
    assert new.is_sound()
