"""Computations that cannot end well: refused settings, and a time limit that frees the thread."""

import pytest

from app.services.resources import Resources
from tests.api.conftest import problem
from tests.api.lab import THEORY, Lab
from tests.conftest import on_sqlite

pytestmark = on_sqlite  # no database has a part in it


@pytest.mark.parametrize(
    ("pointer", "changes"),
    [
        ("/theory/noise", {"noise": 1e-155}),
        ("/theory/regularization", {"regularization": 1e-308}),
        ("/theory/delta", {"delta": 1e-320}),
        ("/theory/noise", {"noise": 1e300, "norm": 1e-99, "scale": 1e-99}),
    ],
)
def test_settings_that_never_returned_are_refused(lab: Lab, pointer: str, changes: dict[str, float]) -> None:
    refused = lab.client.put(lab.path, json={"theory": THEORY | changes})
    assert problem(refused, 422, "invalid-input")
    assert [error["pointer"] for error in refused.json()["errors"]] == [pointer]
    assert "must lie between" in refused.json()["errors"][0]["message"]


@pytest.mark.parametrize("theory", [None, THEORY], ids=["auto", "theory"])
def test_a_computation_that_takes_too_long_is_answered_and_its_thread_is_free_again(
    lab: Lab, resources: Resources, theory: dict[str, object] | None
) -> None:
    lab.begin(theory=theory)
    resources.models.clear()
    patient = resources.compute.seconds
    object.__setattr__(resources.compute, "seconds", -1.0)
    for number in range(5):  # more than there are threads
        refused = lab.ask(f"bench-{number}")
        assert problem(refused, 503, "computation-too-long")
        assert refused.headers["Retry-After"] == "60"
    object.__setattr__(resources.compute, "seconds", patient)
    assert lab.batch("bench-1")["number"] == 1
    assert lab.is_sound()
