"""A study whose list is in shards: the same choices as in one piece, recorded boundaries, and replays to the bit."""

import json
from typing import Any

import numpy as np
import pytest

from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.conftest import on_sqlite
from tests.reliability import lab

CANDIDATES, MORE, SHARD, ROUNDS, BATCH = 2_500, 400, 700, 6, 10
STARTS = [0, 700, 1400, 2100]
THEORY = {"kernel": {"kind": "gaussian", "lengthscale": 0.6}, "noise": 0.1, "scale": 1.0}
Houses = np.ndarray[Any, Any]


def houses(count: int, seed: int) -> Houses:
    """Districts as in a census: two clusters of places, skewed incomes, ages in whole years, rooms that go together."""
    rng = np.random.default_rng(seed)
    centre = rng.random(count) < 0.6
    town, country = rng.normal([0.3, 0.7], 0.06, (count, 2)), rng.normal([0.7, 0.2], 0.15, (count, 2))
    place = np.where(centre[:, None], town, country)
    income, age = rng.gamma(2.0, 0.2, count), np.round(rng.uniform(1, 52, count)) / 52
    rooms = 0.3 * income + rng.normal(0.4, 0.05, count)
    return np.column_stack([place, income, age, rooms]).round(4)


def price(house: Houses) -> float:
    x, y, income, age, rooms = house
    return float(round(income + 0.4 * np.exp(-8 * ((x - 0.3) ** 2 + (y - 0.7) ** 2)) - 0.1 * age + 0.2 * rooms, 6))


LIST = houses(CANDIDATES + MORE, 1)


def sheet(start: int, stop: int) -> str:
    rows = (f"{number},{','.join(map(str, LIST[number]))}\n" for number in range(start, stop))
    return "key,x,y,income,age,rooms\n" + "".join(rows)


def story(opened: Lab, **settings: Any) -> list[Any]:
    """The batches of a whole study: some results are late, the list grows, a bad part of it is left out."""
    opened.begin(sheet(0, CANDIDATES), **settings)
    told = []
    for number in range(ROUNDS):
        terms = {"where": ["age<0.9"]} if number % 2 else {}
        batch = opened.batch(f"w{number}", min_size=BATCH, max_size=BATCH, **terms)
        told.append([(line["key"], line["replicates"]) for line in batch["suggestions"]])
        lines = [
            {"suggestion": line["suggestion"], "values": [price(LIST[int(line["key"])])] * line["replicates"]}
            for line in batch["suggestions"][number % 2 and len(batch["suggestions"]) > 1 :]
        ]
        assert opened.send({"observations": lines}).status_code == 201
        if number == ROUNDS // 2:
            csv = {"Content-Type": "text/csv"}
            more = sheet(CANDIDATES, CANDIDATES + MORE)
            assert opened.client.post(f"{opened.path}/candidates", content=more, headers=csv).status_code == 201
    return told


def recorded(opened: Lab) -> list[list[int]]:
    """The boundaries in the record of each batch."""
    issued = [json.loads(event["payload"]) for event in opened.events() if event["type"] == "batch-issued"]
    return [payload["computation"].get("shards", []) for payload in issued]


@on_sqlite
@pytest.mark.parametrize("theory", [None, THEORY], ids=["auto", "theory"])
def test_a_list_in_shards_gets_the_same_batches_and_they_replay_with_any_number_of_threads(
    databases, address: str, theory: dict[str, Any] | None
) -> None:
    with databases.fresh("sqlite") as other, lab.opened(other) as whole:
        expected = story(whole, theory=theory)
        assert recorded(whole) == [[]] * ROUNDS
    with lab.opened(address, sweep_threads=2) as opened:
        assert story(opened, theory=theory, shard=SHARD) == expected
        boundaries = recorded(opened)
        assert STARTS in boundaries
        assert boundaries[-1] == [*STARTS, 2800]
    for threads, workers in ((1, 0), (3, 0), (2, 1)):
        with lab.opened(address, sweep_threads=threads, compute_workers=workers) as another:
            assert [another.replays(number) for number in range(1, ROUNDS + 1)] == [True] * ROUNDS


@on_sqlite
def test_the_size_of_shards_is_fixed_when_a_study_is_created(address: str) -> None:
    with lab.opened(address) as opened:
        opened.begin(shard=SHARD)
        assert opened.client.get(opened.path).json()["configuration"]["shard"] == SHARD
        problem(opened.change(shard=800), 422, "invalid-input")
        problem(opened.client.put("/v1/studies/another", json={"shard": 5}), 422, "invalid-input")
