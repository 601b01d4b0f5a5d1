"""Caches count what they hold, small studies included, and make room in time."""

import pytest

from app.compute import ledger_states
from app.services.resources import Resources
from tests.api.lab import Lab
from tests.conftest import on_sqlite

pytestmark = on_sqlite  # no database has a part in it


def test_a_model_of_a_small_study_counts_for_what_python_takes(lab: Lab, resources: Resources) -> None:
    """2,000 small studies took 2.7 GB at a stated limit of 1.5: only their arrays were counted."""
    lab.begin().batch()
    [model] = resources.models._models.values()
    arrays = model.state.X.nbytes + model.state.Z.nbytes
    assert model.nbytes >= arrays + 32 * 1024
    assert resources.models._bytes == model.nbytes


def test_states_of_ledgers_are_limited_in_bytes(
    lab: Lab, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_states, "MOST_BYTES", 20_000)
    states = resources.ledger_states
    for number in range(4):
        Lab(lab.client, f"s{number}").begin().batch(max_size=3)
        assert states._bytes == sum(state.nbytes for state in states._newest.values())
    assert 1 <= len(states._newest) < 4
    assert states._bytes <= 20_000
    states.clear()
    assert states._bytes == 0
