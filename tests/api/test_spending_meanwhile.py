"""Results that arrive while a batch is computed spend the study's budget before the batch is issued."""

from collections.abc import Callable
from typing import Any

import pytest

from app.compute.local import LocalCompute
from tests.api.conftest import problem
from tests.api.lab import Lab, keys
from tests.api.test_costs import begin, spending


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], list[int]]:
    """Does something once, after the next batch was computed and before it is issued; counts the computations."""

    def arrange(happens: Callable[[], Any]) -> list[int]:
        compute, made = LocalCompute.compute_batch, list[int]()

        def computed(*call: Any) -> Any:
            draft = compute(*call)
            made.append(len(made) + 1)
            if made == [1]:
                happens()
            return draft

        monkeypatch.setattr(LocalCompute, "compute_batch", computed)
        return made

    return arrange


def test_a_batch_that_the_budget_no_longer_pays_for_is_computed_again(lab: Lab, meanwhile) -> None:
    begin(lab, budget=24, repeats="never")
    computed = meanwhile(lambda: lab.report(candidate="MeOH-30", value=1.0))
    batch = lab.batch(max_size=3, where="solvent in (DMF, THF)")
    assert computed == [1, 2]
    assert batch["cost"] <= 4
    assert spending(lab)["left"] >= 0
    assert lab.replays(1)


def test_an_ask_is_refused_if_results_have_spent_what_it_counted_on(lab: Lab, meanwhile) -> None:
    begin(lab, budget=21, repeats="never")
    meanwhile(lambda: lab.report(candidate="MeOH-30", value=1.0))
    refused = problem(lab.ask(max_size=3), 409, "terms-unmet")
    assert "the study's budget leaves 1." in refused["detail"]
    assert lab.get("batches")["batches"] == []


def test_results_that_leave_enough_do_not_delay_a_batch(lab: Lab, meanwhile) -> None:
    begin(lab, budget=100, repeats="never")
    computed = meanwhile(lambda: lab.report(candidate="MeOH-30", value=1.0))
    lab.batch(max_size=3)
    assert computed == [1]


def test_results_of_pending_suggestions_spend_what_was_committed(lab: Lab, meanwhile) -> None:
    begin(lab, budget=11, repeats="never")
    lab.batch("one", include=["THF-20"], max_size=1)
    computed = meanwhile(lambda: lab.report(suggestion="B1-S1", value=1.0))
    assert lab.batch("two", include=["THF-30"], max_size=1)["cost"] == 5.0
    assert computed == [1]


def test_a_batch_may_use_what_its_worker_has_reserved(lab: Lab, meanwhile) -> None:
    begin(lab, budget=25, repeats="never")
    reserved = lab.client.post(f"{lab.path}/reservations", json={"worker": "w", "keys": ["MeOH-20"]})
    assert reserved.is_success, reserved.text
    computed = meanwhile(lambda: lab.report(candidate="THF-30", value=1.0))
    assert keys(lab.batch(include=["MeOH-20"], max_size=1)) == ["MeOH-20"]
    assert computed == [1]


def test_a_swap_is_refused_if_results_have_spent_what_it_counted_on(lab: Lab, meanwhile) -> None:
    begin(lab, budget=22, repeats="never")
    lab.batch(include=["DMF-20"], where="solvent in (THF, MeOH)", max_size=1)
    computed = meanwhile(lambda: lab.report(candidate="MeOH-30", value=1.0))
    swapped = lab.client.post(f"{lab.path}/suggestions/B1-S1/swap", json={"reason": "not in stock"})
    assert "the study's budget leaves 2." in problem(swapped, 409, "terms-unmet")["detail"]
    assert computed == [1]
    assert spending(lab)["left"] == 0


def test_what_a_batch_includes_is_paid_for_when_another_member_is_swapped(lab: Lab) -> None:
    begin(lab, budget=25, repeats="never")
    lab.batch(include=["MeOH-20", "THF-20"], max_size=2)
    swapped = lab.client.post(f"{lab.path}/suggestions/B1-S2/swap", json={"reason": "not in stock"})
    assert swapped.status_code == 200, swapped.text
    assert spending(lab)["left"] >= 0
    assert lab.replays(1)
