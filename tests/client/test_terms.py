"""Asks under terms from Python: what is sent is what was meant."""

from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

from nextbatch import Conflict, InvalidInput


def test_a_preview_is_confirmed_as_it_was_seen(study: Any) -> None:
    terms: dict[str, Any] = {"where": "temperature >= 80", "include": {"A2": 2}, "min_size": 3, "max_size": 3}
    preview = study.preview(worker="b", **terms)
    assert (preview.size, preview.suggestions[0].key, preview.suggestions[0].replicates) == (3, "A2", 2)
    batch = study.ask(worker="b", confirm=preview, **terms)
    assert [suggestion.key for suggestion in batch] == [suggestion.key for suggestion in preview.suggestions]
    assert batch.size == 3


def test_an_outdated_preview_is_a_conflict(study: Any) -> None:
    preview = study.preview(worker="b", max_size=2)
    study.report({"key": "A1", "value": 0.4})
    with pytest.raises(Conflict, match="Since the preview, results were reported"):
        study.ask(worker="b", max_size=2, confirm=preview)


def test_a_composition_goes_along(study: Any) -> None:
    batch = study.ask(worker="b", same=("solvent",), exclude=("A1",), min_size=2, max_size=2)
    assert len({suggestion["solvent"] for suggestion in batch}) == 1
    assert "A1" not in [suggestion.key for suggestion in batch]
    with pytest.raises(InvalidInput, match="no feature or attribute"):
        study.preview(worker="c", per={"pressure": 1})


def test_many_candidates_are_switched_in_one_call(study: Any) -> None:
    assert study.switch(where="solvent = THF", available=False, reason="out of stock").switched == 2
    switched = study.switch(keys=["A2"], available=True)
    assert (switched.switched, switched.available) == (1, 3)


def test_costs_budgets_and_what_was_spent(client: Any) -> None:
    study = client.create_study(f"priced-{uuid4().hex[:8]}", budget=20, cost_unit="EUR")
    rows = [{"key": f"P{n}", "x": float(n), "price": n + 1.0, "hours": 1.0} for n in range(6)]
    study.upload(rows, cost="price", duration="hours", features=["price"])
    assert {column.name: column.expense for column in study.details.columns}["hours"] == "duration"
    assert study.preview(budget=4, time=2).cost <= 4
    batch = study.ask(budget=9, time=3, max_size=4)
    assert batch.details.cost == sum(suggestion.cost for suggestion in batch) <= 9
    assert batch.details.duration <= 3
    assert "cost" in str(batch).splitlines()[1].split()
    batch.report({suggestion.key: 0.5 for suggestion in batch})
    spending = study.summary().spending
    assert str(spending) == f"{batch.details.cost:g} of 20 EUR, 0 committed, {spending.left:g} left"


def test_a_run_ends_when_the_budget_of_the_study_is_used_up(client: Any) -> None:
    study = client.create_study(f"spent-{uuid4().hex[:8]}", budget=3)
    study.upload([{"key": f"P{n}", "x": float(n), "price": 1.0} for n in range(9)], cost="price")
    summary = study.run(lambda suggestion: suggestion["x"], budget=9)
    assert (summary.counts.observations, summary.spending.left) == (3, 0.0)


def test_descriptors_of_levels_are_joined_to_the_candidates(client: Any) -> None:
    study = client.create_study(f"described-{uuid4().hex[:8]}")
    rows = [{"key": "A1", "ligand": "XPhos"}, {"key": "A2", "ligand": "PPh3"}]
    ligands = pd.DataFrame({"ligand": ["PPh3", "XPhos"], "cone": [145.0, 256.0]})
    assert study.upload(rows, descriptors={"ligand": ligands}).added == 2
    assert study.candidate("A1").features == {"ligand": "XPhos", "cone": 256.0}
    with pytest.raises(InvalidInput, match="no descriptors of 'PPh3'"):
        study.upload(rows, descriptors={"ligand": ligands[1:]}, dry_run=True, replace=True)
    with pytest.raises(TypeError, match="list of dicts or a frame"):
        study.upload("list.csv", descriptors={"ligand": ligands})
