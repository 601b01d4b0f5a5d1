"""Promise 12: finite data never breaks the engine: batches come, and every number that is told is finite."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

from app.engine.auto import Scaling
from tests.api.lab import Lab
from tests.reliability import lab
from tests.reliability.promise import Budget, Count, Promise, on_each_database

EXTREMES = (0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 1.7e308, -1.7e308, 5e-324, 1e-310, 1 / 3, 1e16, 1e16 + 2)
KERNELS: tuple[dict[str, Any], ...] = (
    {"kind": "gaussian", "lengthscale": 0.5},
    {"kind": "gaussian", "lengthscale": 1e4},
    {"kind": "matern", "lengthscale": 1e-3, "nu": 0.5},
    {"kind": "linear"},
)
Column = Callable[[Random, int], list[float]]


def _same(random: Random, rows: int) -> list[float]:
    return [random.choice(EXTREMES)] * rows


def _extreme(random: Random, rows: int) -> list[float]:
    return [random.choice(EXTREMES) for _ in range(rows)]


def _close(random: Random, rows: int) -> list[float]:
    return [1.0 + 1e-15 * random.randrange(3) for _ in range(rows)]


def _of_all_sizes(random: Random, rows: int) -> list[float]:
    return [random.choice((1, -1)) * 10.0 ** random.uniform(-300, 300) for _ in range(rows)]


def _plain(random: Random, rows: int) -> list[float]:
    return [random.gauss() for _ in range(rows)]


COLUMNS: tuple[Column, ...] = (_same, _extreme, _close, _of_all_sizes, _plain)


def _prove(budget: Budget, seed: int, address: str) -> Count:
    violations, cases = [], 0
    with lab.opened(address) as server:
        for case in budget:
            random = Random(f"{seed} {case} {address[:6]}")
            told = _tried(Lab(server.client, f"set-{case}"), random)
            violations += [f"set {case} of seed {seed}: {one}" for one in told]
            cases = case + 1
    return Count(cases, tuple(violations))


def _tried(here: Lab, random: Random) -> list[str]:
    """A study on numbers of the worst kinds; what broke."""
    rows = random.choice((1, 2, 5, 20, 40))
    columns = [random.choice(COLUMNS)(random, rows) for _ in range(random.choice((1, 2, 3, 60)))]
    table = [",".join(("key", *(f"c{number}" for number in range(len(columns)))))]
    table += [",".join((f"K{row}", *(repr(column[row]) for column in columns))) for row in range(rows)]
    settings: dict[str, Any] = {"repeats": random.choice(("allowed", "auto")), "seed": random.randrange(1000)}
    if random.random() < 0.5:
        noise = random.choice((1e-6, 0.1, 1e3))
        settings["theory"] = {"kernel": random.choice(KERNELS), "noise": noise, "norm": random.choice((1e-3, 2.0, 1e6))}
    made = here.client.put(here.path, json=settings)
    headers = {"Content-Type": "text/csv"}
    uploaded = here.client.put(f"{here.path}/candidates", content="\n".join(table) + "\n", headers=headers)
    if (made.status_code, uploaded.status_code) != (201, 201):  # a list of nothing but one value has no features
        return [] if uploaded.status_code == 422 else [f"{made.text} {uploaded.text}"]
    return _worked(here, random, random.choice(COLUMNS)(random, 1000))


def _worked(here: Lab, random: Random, values: list[float]) -> list[str]:
    broken = []
    for _ in range(random.randint(1, 4)):
        asked = here.ask(min_size=random.choice((1, 2)), max_size=random.choice((2, 6, 100)))
        if asked.status_code == 409 and asked.json()["code"] in ("candidates-exhausted", "study-finished"):
            break
        if asked.status_code != 201:
            return [f"ask: {asked.status_code} {asked.text[:300]}"]
        lines = [
            {"suggestion": one["suggestion"], "values": [random.choice(values) for _ in range(one["replicates"])]}
            for one in asked.json()["suggestions"]
        ]
        broken += _unfinite("batch", asked.text)
        reported = here.send({"observations": lines})
        broken += [] if reported.is_success else [f"report: {reported.text[:300]}"]
    for part in ("summary", "certificate", "trace", "candidates?posterior=true"):
        answer = here.client.get(f"{here.path}/{part}")
        broken += _unfinite(part, answer.text) if answer.is_success else [f"{part}: {answer.text[:300]}"]
    return broken


def _unfinite(part: str, text: str) -> list[str]:
    """Whether a number that is none was told."""
    found: list[str] = []
    json.loads(text, parse_constant=found.append)
    return [f"{part} has {sorted(set(found))}"] if found else []


def _plainly_scaled() -> AbstractContextManager[object]:
    """Columns scaled as one writes it down first: the range of finite numbers may be none."""

    def apply(self: Scaling, values: Any) -> Any:
        with np.errstate(all="ignore"):
            return (values - self.low) / np.subtract(self.high, self.low)

    return patch.object(Scaling, "apply", apply)


PROMISE = Promise(
    number=12,
    words="Finite data never breaks the engine",
    tested="Studies on features and values that are equal, nearly equal, huge, subnormal or of all sizes, up to more "
    "columns than rows, one candidate, batches above the list; auto mode and theory; all that is told is finite.",
    unit="sets",
    full=10_000,
    prove=on_each_database(_prove),
    teeth={"columns scaled without care": _plainly_scaled},
    short=6,
    parallel=True,
    share=2,
)
