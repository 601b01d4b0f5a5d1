"""A study that keeps its large arrays in float32: it replays, restarts to the bit, and cannot change its mind."""

import pytest

from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.api.test_shards import BATCH, SHARD, THEORY, sheet
from tests.conftest import on_sqlite
from tests.reliability import lab

CANDIDATES = 900


def worked(opened: Lab, rounds: int, **settings: object) -> None:
    opened.begin(sheet(0, CANDIDATES), precision="float32", **settings).work(rounds, max_size=BATCH)


@on_sqlite
@pytest.mark.parametrize("theory", [None, THEORY], ids=["auto", "theory"])
def test_its_batches_replay_also_after_a_restart_and_in_shards(address: str, theory: dict[str, object] | None) -> None:
    with lab.opened(address) as opened:
        worked(opened, 3, theory=theory, shard=SHARD)
        state = opened.client.app.state.resources.models._models.popitem()[1].state
        assert {state.X.dtype.name, state.embedding.dtype} == {"float32"}
    with lab.opened(address) as again:
        again.batch("afterwards", max_size=BATCH)
        assert [again.replays(number) for number in range(1, 5)] == [True] * 4


@on_sqlite
@pytest.mark.parametrize("precision", [None, "float32"])
def test_nothing_is_guaranteed_of_rounded_numbers(address: str, precision: str | None) -> None:
    with lab.opened(address) as opened:
        opened.begin(theory=THEORY, precision=precision).work(1)
        batch = opened.batch()
        certificate = opened.client.get(f"{opened.path}/summary").json()["certificate"]
    assert batch["guaranteed"] == (precision is None)
    assert certificate["estimate"] == (precision == "float32")


@on_sqlite
def test_the_precision_is_fixed_when_a_study_is_created(address: str) -> None:
    with lab.opened(address) as opened:
        opened.begin(precision="float32")
        assert opened.client.get(opened.path).json()["configuration"]["precision"] == "float32"
        problem(opened.change(precision=None), 422, "invalid-input")
        problem(opened.client.put("/v1/studies/another", json={"precision": "float16"}), 422, "invalid-input")
