"""Two at the same time, in two processes: what comes of it is what comes of one after the other, either way round."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations_with_replacement, count
from random import Random
from threading import Barrier
from typing import Any

from httpx2 import Response

from tests.api.lab import Lab
from tests.reliability.promise import Budget, Count
from tests.reliability.story.model import LIST

PAIRS_AT_A_TIME = 6
_numbers = count()

# What people do in a study whose worker w has a batch of two: 1-1 is observed (observation 1), 1-2 is pending.
DEEDS: Mapping[str, Callable[[Lab], Response]] = {
    "ask again": lambda lab: lab.ask("w"),
    "ask": lambda lab: lab.ask("v", max_size=2),
    "report": lambda lab: lab.report(suggestion="B1-S2", value=2.0),
    "report another value": lambda lab: lab.report(suggestion="B1-S2", value=3.0),
    "report unasked": lambda lab: lab.report(candidate="K5", value=1.0, ref="one"),
    "fail": lambda lab: lab.report(suggestion="B1-S2", failed={"reason": "broke", "retry": True}),
    "correct": lambda lab: lab.correct(1, 9.0, version="1"),
    "retract": lambda lab: lab.retract(1, version="1"),
    "close": lambda lab: lab.client.post(f"{lab.path}/batches/1/close"),
    "pause": lambda lab: lab.change(state="paused"),
    "delete": lambda lab: lab.client.delete(lab.path),
    "switch off": lambda lab: lab.switch_off("K7"),
    "add": lambda lab: lab.client.post(
        f"{lab.path}/candidates", content="key,x,y\nN1,1,1\n", headers={"Content-Type": "text/csv"}
    ),
}
PAIRS = list(combinations_with_replacement(DEEDS, 2))

Outcome = tuple[tuple[int, ...], Any]


def race(budget: Budget, seed: int, one: Lab, other: Lab) -> Count:
    """Pairs of deeds, all of them in turn; the order is the seed's."""
    pairs, violations, cases = Random(seed).sample(PAIRS, len(PAIRS)), [], 0
    for number in budget:
        for place in range(PAIRS_AT_A_TIME):
            pair = pairs[(number * PAIRS_AT_A_TIME + place) % len(pairs)]
            violations += _impossible(one, other, *pair)
            cases += 1
    return Count(cases, tuple(violations))


def _impossible(one: Lab, other: Lab, first: str, second: str) -> list[str]:
    backwards = _in_turn(one, second, first)
    possible = [_in_turn(one, first, second), (tuple(reversed(backwards[0])), backwards[1])]
    came = _at_once(one, other, first, second)
    return [] if came in possible else [f"{first} and {second} at once gave {came}; in turn they give {possible}"]


def _in_turn(lab: Lab, *deeds: str) -> Outcome:
    here = _begun(lab)
    return tuple(_status(DEEDS[deed](here)) for deed in deeds), _state(here)


def _at_once(one: Lab, other: Lab, *deeds: str) -> Outcome:
    begun = _begun(one)
    start = Barrier(2)

    def do(lab: Lab, deed: str) -> int:
        start.wait()
        return _status(DEEDS[deed](Lab(lab.client, begun.study)))

    with ThreadPoolExecutor(2) as pool:
        statuses = tuple(pool.map(do, (one, other), deeds))
    return statuses, _state(begun)


def _begun(lab: Lab) -> Lab:
    here = Lab(lab.client, f"race-{next(_numbers)}").begin(LIST, repeats="never")
    here.ask("w", min_size=2, max_size=2)
    here.report(suggestion="B1-S1", value=1.0)
    return here


def _status(answer: Response) -> int:
    """Two who get one batch may both be told that it is new."""
    return 200 if answer.status_code == 201 else answer.status_code


def _state(lab: Lab) -> Any:
    """Everything that can be read, but for what a batch chose."""
    study = lab.client.get(lab.path)
    if study.status_code == 410:
        return "deleted"
    seen = [(one["value"], one["version"], one["state"]) for one in lab.observations()]
    batches = [(one["worker"], one["state"], one["size"]) for one in lab.get("batches")["batches"]]
    waiting = [one["suggestion"] for one in lab.get("suggestions")["suggestions"]]
    off = [one["key"] for one in lab.get("candidates", available="false")["candidates"]]
    return study.json()["state"], study.json()["candidates"], seen, batches, waiting, off, lab.is_sound()
