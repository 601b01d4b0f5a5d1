"""Promise 24: an archive is as suspect as any request: refused, or imported and marked; and nothing fails later."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from io import BytesIO
from random import Random
from typing import Any
from unittest.mock import patch
from zipfile import ZipFile

import numpy as np
from httpx2 import Response

from app.services.archives import story
from tests.api.lab import Lab
from tests.reliability import lab
from tests.reliability.hostile.archives import DAMAGED, FORGED, events_of, resealed, with_array
from tests.reliability.hostile.stories import everything, several_quantities
from tests.reliability.hostile.values import value
from tests.reliability.promise import Budget, Count, Promise, on_each_database

READS = (
    *("", "/summary", "/certificate", "/trace", "/candidates?posterior=true", "/candidates?sort=temperature"),
    *("/batches", "/batches/1", "/batches/1/sheet", "/suggestions", "/observations?versions=all", "/observations/1"),
    *("/events", "/archive", "/borrowed", "/front"),
)
KNOWN = (*DAMAGED, *FORGED)
STORIES = {"origin": everything, "several": several_quantities}


def _prove(budget: Budget, seed: int, address: str) -> Count:
    random, count = Random(seed), Count(0)
    with lab.opened(address, "origin") as opened:
        whole, other = (_archive(story(replace(opened, study=name))) for name, story in STORIES.items())
        for case in budget:
            content = whole if case < len(KNOWN) or random.random() < 0.7 else other
            count += _imported(opened, _forged(content, random, case, f"forged-{case}"))
    return count


def _archive(told: Lab) -> bytes:
    return told.client.get(f"{told.path}/archive").content


def _forged(content: bytes, random: Random, case: int, name: str) -> bytes:
    """A known forgery, or a ledger of which some member or some array is something else, well sealed."""
    if case < len(KNOWN):
        return (DAMAGED | FORGED)[KNOWN[case]](content)
    if random.random() < 0.3:
        return _with_another_array(content, random, name)
    chosen = 1 + random.randrange(len(events_of(content)))

    def change(event: dict[str, Any]) -> None:
        if event["seq"] == chosen:
            _damage(event if random.random() < 0.2 else event["payload"], random)

    return resealed(content, change, name)


def _with_another_array(content: bytes, random: Random, name: str) -> bytes:
    with ZipFile(BytesIO(content)) as archive:
        arrays = [member for member in archive.namelist() if member.startswith("arrays/")]
    digest = random.choice(arrays).removeprefix("arrays/").removesuffix(".npy")
    return with_array(content, digest, lambda array: _other_cells(array, random), name)


def _other_cells(array: Any, random: Random) -> Any:
    """Another array: cells exchanged or altered, rows more or less, another type or shape."""
    flat = array.reshape(-1)
    places = [random.randrange(flat.size), random.randrange(flat.size)] if flat.size else []
    match random.randrange(6) if places else 5:
        case 0:
            flat[places] = flat[places[::-1]]
        case 1:
            flat.view(np.uint8)[random.randrange(flat.nbytes)] ^= 1 << random.randrange(8)
        case 2:
            flat[places[0]] = np.array(random.choice((0, 1, 2, 100, 127))).astype(flat.dtype)
        case 3:
            return np.concatenate((array, array[: random.randrange(1, len(array) + 1)]))
        case 4:
            return array[: random.randrange(len(array))]
        case _:
            other = random.choice(("<f8", "<f4", "<i4", "<i8", "|u1"))
            return array.astype(other) if random.random() < 0.5 else array.reshape(-1, 1).T
    return array


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
        "Archives of a fork with borrowing, reservations, swaps, deletion and restoring, and of two objectives with a "
        "constraint: damaged, or forged with sound hashes. First known forgeries, then any member of any event or any "
        "array is changed. Each is refused, or imported and marked; then every read, an ask, a report, a replay work."
    ),
    unit="archives",
    full=10_000,
    prove=on_each_database(_prove),
    teeth={"candidates that do not exist": _any_candidate},
    short=120,
    parallel=True,
    share=0.5,
)
