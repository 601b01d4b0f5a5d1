"""Standard errors of single values: stored with them, and used by the models of auto mode."""

from typing import Any

import pytest

from tests.api.lab import THEORY, Lab, truth
from tests.conftest import on_sqlite

KEYS = ("DMF-20", "THF-60", "MeOH-90", "DMF-70", "THF-30", "DMF-50", "MeOH-40", "THF-90")


def begin(lab: Lab, errors: dict[str, float], **settings: Any) -> Lab:
    lab.begin(**settings)
    for key in KEYS:
        value: dict[str, float] = {"value": truth(key)}
        if key in errors:
            value["std"] = errors[key]
        assert lab.report(candidate=key, values={"value": value}).status_code == 201
    return lab


def posterior(lab: Lab, key: str) -> dict[str, float]:
    found: dict[str, float] = lab.get("candidates", posterior=True, search=key)["posterior"][0]
    return found


def test_a_doubtful_value_leaves_the_model_in_doubt_and_batches_replay(lab: Lab) -> None:
    begin(lab, dict.fromkeys(KEYS, 0.01))
    sure = posterior(lab, "MeOH-90")["std"]
    number = next(one["observation"] for one in lab.observations() if one["key"] == "MeOH-90")
    corrected = lab.client.post(
        f"{lab.path}/observations/{number}/corrections",
        json={"values": {"value": {"value": truth("MeOH-90"), "std": 2.0}}, "reason": "the balance drifted"},
        headers={"If-Match": "*"},
    )
    assert corrected.status_code == 200, corrected.text
    assert posterior(lab, "MeOH-90")["std"] > 1.5 * sure
    lab.batch(max_size=3)
    lab.report(suggestion="B1-S1", values={"value": {"value": 0.2, "std": 0.1}})
    lab.batch("other", max_size=2)
    assert lab.replays(1)
    assert lab.replays(2)


@on_sqlite
@pytest.mark.parametrize("stated", [{}, {"algorithm": "gp-ucb"}, {"noise": 0.1}])
def test_a_study_whose_errors_are_zero_chooses_as_one_without(lab: Lab, stated: dict[str, Any]) -> None:
    begin(lab, {}, **stated)
    plain = lab.batch(min_size=4, max_size=4)
    other = Lab(lab.client, "other")
    begin(other, dict.fromkeys(KEYS, 0.0), **stated)
    assert [one["key"] for one in other.batch(min_size=4, max_size=4)["suggestions"]] == [
        one["key"] for one in plain["suggestions"]
    ]
    assert other.get("batches/1")["fit"] == lab.get("batches/1")["fit"]


@on_sqlite
def test_in_theory_mode_the_owner_states_the_noise_and_errors_change_nothing(lab: Lab) -> None:
    begin(lab, {}, theory=THEORY)
    other = Lab(lab.client, "other")
    begin(other, dict.fromkeys(KEYS, 5.0), theory=THEORY)
    assert posterior(other, "DMF-50") == posterior(lab, "DMF-50")


@on_sqlite
def test_each_of_several_quantities_has_errors_of_its_own(lab: Lab) -> None:
    lab.begin(objectives=[{"name": "a", "direction": "maximize"}, {"name": "b", "direction": "maximize"}])
    for key in KEYS:
        values = {"a": {"value": truth(key), "std": 0.001}, "b": {"value": truth(key), "std": 2.0}}
        assert lab.report(candidate=key, values=values).status_code == 201
    shown = posterior(lab, "DMF-50")["quantities"]
    assert shown["b"]["std"] > 2 * shown["a"]["std"]  # type: ignore[index]
    lab.batch(max_size=3)
    assert lab.replays(1)
