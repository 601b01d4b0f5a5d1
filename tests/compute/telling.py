"""What a study is told, whoever computes it, and what becomes of those who do."""

import json
from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

from app.compute.supervision import SupervisedWorker
from tests.api.lab import Lab

READS = ("summary", "certificate", "diagnostics", "front", "trace", "candidates?posterior=true&sort=-mean")


def worker_of(opened: Lab) -> SupervisedWorker:
    return opened.client.app.state.resources.compute._workers[0]


def until(is_so: Callable[[], bool], seconds: float = 300) -> None:
    end = monotonic() + seconds
    while not is_so():
        assert monotonic() < end, "it does not happen"
        sleep(0.01)


def wait_until_ready(worker: SupervisedWorker, deaths: int = 0) -> None:
    until(lambda: worker.is_ready and worker.deaths >= deaths)


def story(opened: Lab, **settings: Any) -> list[Any]:
    """What a study is told, without what is of the moment."""
    opened.begin(**settings)
    told: list[Any] = []
    for terms in ({}, {"where": ["temperature>30"], "composition": {"per": {"solvent": 2}}}, {"max_size": 3}):
        told.append(opened.ask(preview=True, **terms).json())
        told.append(opened.batch(f"w{len(told)}", **terms))
        opened.measure(told[-1])
    for read in READS:
        answer = opened.client.get(f"{opened.path}/{read}")
        assert answer.status_code == 200, answer.text
        told.append(answer.json())
    return json.loads(json.dumps(told, default=str), object_hook=_without_moments)


def _without_moments(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name not in ("seconds", "created_at", "recorded_at")}
