"""What an explanation says lies within the limits of its quantity, also where it was recorded before that was so."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.domain.batches import Explanation
from app.modelling.explaining import Explainer
from tests.api.lab import Lab, truth

HIGHEST = -0.1  # several candidates reach it
YIELD = {"name": "yield", "direction": "maximize", "limits": {"high": HIGHEST}}
COST = {"name": "cost", "direction": "minimize", "limits": {"low": 0.0}}


def limited(key: str) -> dict[str, float]:
    """A yield, and a cost that falls while it rises."""
    return {"yield": min(truth(key), HIGHEST), "cost": max(0.0, HIGHEST - truth(key))}


def only_yield(key: str) -> dict[str, float]:
    return {"yield": limited(key)["yield"]}


def measured(lab: Lab, batch: dict[str, Any], outcome: Callable[[str], dict[str, float]]) -> None:
    for suggestion in batch["suggestions"]:
        values = [outcome(suggestion["key"])] * suggestion["replicates"]
        assert lab.report(suggestion=suggestion["suggestion"], replicates=values).status_code == 201


def test_optimistic_values_end_at_the_limits(lab: Lab) -> None:
    lab.begin(objectives=[YIELD])
    measured(lab, lab.batch(min_size=6, max_size=6), only_yield)
    ucbs = [suggestion["why"]["ucb"] for suggestion in lab.batch(min_size=6, max_size=6)["suggestions"]]
    assert max(ucbs) == HIGHEST


def test_those_of_several_objectives_do_so_too(lab: Lab) -> None:
    lab.begin(objectives=[YIELD, COST])
    measured(lab, lab.batch(min_size=6, max_size=6), limited)
    whys = [suggestion["why"]["quantities"] for suggestion in lab.batch(min_size=8, max_size=8)["suggestions"]]
    assert max(why["yield"]["ucb"] for why in whys) == HIGHEST
    assert min(why["cost"]["ucb"] for why in whys) == 0.0


def test_a_batch_that_was_explained_beyond_the_limits_still_replays(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.begin(objectives=[YIELD])
    measured(lab, lab.batch(min_size=6, max_size=6), only_yield)
    explain = Explainer.explain

    def beyond(self: Explainer, candidate: int, *occasion: Any) -> Explanation:
        state = self.model.state
        optimistic = state.mean[candidate] + self.alpha * math.sqrt(float(state.leverage[candidate]))
        return replace(explain(self, candidate, *occasion), ucb=float(self.model.objective.to_user(optimistic)))

    with monkeypatch.context() as before:
        before.setattr(Explainer, "explain", beyond)
        batch = lab.batch(min_size=6, max_size=6)
    assert max(suggestion["why"]["ucb"] for suggestion in batch["suggestions"]) > HIGHEST
    assert lab.replays(batch["number"])
