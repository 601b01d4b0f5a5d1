"""Promise 24: an archive is as suspect as any request: refused, or imported and marked; and nothing fails later."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from random import Random
from typing import Any
from unittest.mock import patch

from httpx2 import Response

from app.services.archives import story
from tests.api.lab import Lab
from tests.reliability import lab
from tests.reliability.hostile.archives import DAMAGED, FORGED, resealed
from tests.reliability.hostile.values import value
from tests.reliability.promise import Budget, Count, Promise, on_each_database

READS = (
    *("", "/summary", "/certificate", "/trace", "/candidates?posterior=true", "/candidates?sort=temperature"),
    *("/batches", "/batches/1", "/batches/1/sheet", "/suggestions", "/observations?versions=all", "/observations/1"),
    *("/events", "/archive"),
)
KNOWN = (*DAMAGED, *FORGED)


def _prove(budget: Budget, seed: int, address: str) -> Count:
    random, count = Random(seed), Count(0)
    with lab.opened(address, "origin") as opened:
        content = _archive(opened)
        for case in budget:
            count += _imported(opened, _forged(content, random, case, f"forged-{case}"))
    return count


def _archive(opened: Lab) -> bytes:
    """Something of everything."""
    opened.begin().work(2, max_size=2)
    opened.correct(1, 0.25)
    opened.retract(2)
    opened.switch_off("DMF-20")
    opened.change(description="later")
    batch = opened.batch(min_size=2, max_size=2)
    opened.report(suggestion=batch["suggestions"][0]["suggestion"], failed={"reason": "broke"})
    opened.report(candidate="THF-20", value=0.5, ref="LAB-1", note="clear")
    return opened.client.get(f"{opened.path}/archive").content


def _forged(content: bytes, random: Random, case: int, name: str) -> bytes:
    """A known forgery, or a ledger of which some member somewhere is something else, well sealed."""
    if case < len(KNOWN):
        return (DAMAGED | FORGED)[KNOWN[case]](content)
    chosen = random.randrange(14)

    def change(event: dict[str, Any]) -> None:
        if event["seq"] == chosen + 1:
            _damage(event if random.random() < 0.2 else event["payload"], random)

    return resealed(content, change, name)


def _damage(document: Any, random: Random) -> None:
    """Another value at one place, a member less, or a member more."""
    places = list(_places(document))
    if not places:
        return
    parent, place = random.choice(places)
    if isinstance(parent, dict) and random.random() < 0.1:
        del parent[place]
    elif isinstance(parent, list) and random.random() < 0.2:
        parent.append(parent[place])
    else:
        parent[place] = _like(parent[place], random)


def _like(old: Any, random: Random) -> Any:
    """A value that is almost right, more often than one that is not."""
    if isinstance(old, int | float) and not isinstance(old, bool) and random.random() < 0.7:
        return type(old)(old + random.choice((-1, 1, 2, 100, -100, 10**6)))
    other = value(random)
    return other if _can_be_written(other) else "x"


def _can_be_written(other: Any) -> bool:
    return "\\ud8" not in json.dumps(other)


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every member and item, at any depth."""
    places = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for place, item in places:
        yield document, place
        yield from _places(item)


def _imported(opened: Lab, content: bytes) -> Count:
    headers, params = {"Content-Type": "application/zip"}, {"accept_unverified": "true"}
    answer = opened.client.post("/v1/archives", content=content, params=params, headers=headers)
    if answer.status_code in (409, 422):
        return Count(1, details={"refused": 1})
    if answer.status_code != 201:
        return Count(1, (f"the import was answered {answer.status_code}: {answer.text[:200]}",))
    return Count(1, tuple(_failures(Lab(opened.client, answer.json()["name"]))), details={"imported and marked": 1})


def _failures(forged: Lab) -> Iterator[str]:
    """Whatever fails in a study that was imported, or looks native there."""
    for part in READS:
        yield from _bug(f"GET {part}", forged.client.get(f"{forged.path}{part}"))
    yield from _bug("ask", forged.ask("newcomer", max_size=1))
    yield from _bug("report", forged.report(candidate="MeOH-90", value=1.0))
    yield from _bug("replay", forged.client.post(f"{forged.path}/batches/1/replay"))
    verified = forged.client.post(f"{forged.path}/verify")
    if not verified.is_success or not verified.json()["sound"]:
        yield "verify finds the chain broken"
    yield from _looks_native(forged)


def _looks_native(forged: Lab) -> Iterator[str]:
    listed = forged.client.get(f"{forged.path}/events", params={"limit": 1000})
    events = listed.json()["events"] if listed.is_success else []
    mark = max((event["seq"] for event in events if event["type"] == "study-imported"), default=None)
    if mark is None or any((event["origin"] is None) != (event["seq"] >= mark) for event in events):
        yield "an imported event looks native"


def _bug(what: str, answer: Response) -> Iterator[str]:
    if answer.status_code >= 500:
        yield f"after the import, {what} is answered {answer.status_code}: {answer.text[:200]}"


def _any_candidate() -> AbstractContextManager[object]:
    """An import that believes that every candidate exists."""
    return patch.object(story._Story, "_check_candidate", lambda *_: None)


PROMISE = Promise(
    number=24,
    words="An archive is as suspect as any request",
    tested=(
        "Archives that are damaged, and forged ones with sound hashes: known forgeries, then any member of any event "
        "changed. Each is refused, or imported and marked; then every read, an ask, a report and a replay work."
    ),
    unit="archives",
    full=10_000,
    prove=on_each_database(_prove),
    teeth={"candidates that do not exist": _any_candidate},
    short=120,
    parallel=True,
    share=0.5,
)
