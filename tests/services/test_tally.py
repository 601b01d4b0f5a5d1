"""The tally: however the ledger is cut into pieces, it adds up to the same."""

import json
from dataclasses import asdict
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.ledger import Event, canonical
from app.domain.studies import Configuration
from app.services.bridge.snapshots import TALLY_ARRAYS, _tally
from app.services.tally import Tally, after, tally_from

CONFIGURATION = asdict(Configuration())
BLOCK = {"first": 0, "rows": 5, "arrays": {"numbers": "a", "codes": "b", "keys": None, "attributes": {}}, "columns": []}
CANDIDATES = st.integers(0, 4)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def _suggested(candidate: int, replicates: int) -> dict[str, Any]:
    return {"candidate": candidate, "replicates": replicates}


@st.composite
def stories(draw: st.DrawFn) -> list[Event]:
    """Payloads as a study's life could bring them, the first two always the same."""
    told: list[tuple[str, dict[str, Any]]] = [
        ("study-created", {"configuration": CONFIGURATION}),
        ("candidates-uploaded", BLOCK),
    ]
    batches, observations = 0, 0
    for kind in draw(st.lists(st.sampled_from(["ask", "report", "give up", "correct", "retract", "switch", "change"]))):
        if kind == "ask":
            batches += 1
            lines = draw(st.lists(st.builds(_suggested, CANDIDATES, st.integers(1, 3)), min_size=1, max_size=3))
            issued = {"number": batches, "basis_seq": len(told), "basis_hash": "h", "record": {"fit": None}}
            told.append(("batch-issued", {**issued, "suggestions": lines}))
        elif kind == "report":
            line: dict[str, Any] = {"candidate": draw(CANDIDATES), "value": draw(FLOATS)}
            if batches:
                line |= {"batch": draw(st.integers(1, batches)), "rank": draw(st.integers(1, 3))}
            count = draw(st.integers(1, 3))
            observations += count
            told.append(("observations-reported", {"observations": [line] * count}))
        elif kind == "give up" and batches:
            place = {"batch": draw(st.integers(1, batches)), "rank": 1}
            told.append(("suggestions-resolved", {"state": "failed", "suggestions": [place]}))
        elif kind == "correct" and observations:
            number = draw(st.integers(1, observations))
            told.append(("observation-corrected", {"observation": number, "value": draw(FLOATS)}))
        elif kind == "retract" and observations:
            told.append(("observation-retracted", {"observation": draw(st.integers(1, observations))}))
        elif kind == "switch":
            told.append(("candidate-switched", {"candidate": draw(CANDIDATES), "available": draw(st.booleans())}))
        elif kind == "change":
            changed = {"state": "paused", "configuration": {**CONFIGURATION, "max_batch": draw(st.integers(1, 9))}}
            told.append(("study-changed", changed))
    return [
        Event(seq, name, canonical(payload), "a", None, "t", "r", f"h{seq - 1}", f"h{seq}")
        for seq, (name, payload) in enumerate(told, start=1)
    ]


def spelled(tally: Tally) -> tuple[str, list[bytes]]:
    """Everything in a tally, to the last bit."""
    plain = {name: value for name, value in _tally(tally).items() if name not in TALLY_ARRAYS}
    return canonical(plain), [getattr(tally, name).tobytes() for name in TALLY_ARRAYS]


@given(stories(), st.data())
@settings(max_examples=60, deadline=None)
def test_any_cut_of_the_ledger_adds_up_to_the_same(story: list[Event], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(story)))
    pieces = after(after(Tally(), story[:cut]), story[cut:])
    assert spelled(pieces) == spelled(after(Tally(), story))
    assert (pieces.seq, pieces.head) == (len(story), story[-1].hash)


@given(stories())
@settings(max_examples=60, deadline=None)
def test_a_tally_comes_back_from_its_plain_form(story: list[Event]) -> None:
    tally = after(Tally(), story)
    text, _ = spelled(tally)
    arrays = {name: getattr(tally, name) for name in TALLY_ARRAYS}
    assert spelled(tally_from({**json.loads(text), **arrays})) == spelled(tally)


def test_a_tally_is_never_changed_by_what_follows() -> None:
    reported = {"observations": [{"candidate": 1, "value": 2.0}]}
    events = [
        Event(1, "study-created", canonical({"configuration": CONFIGURATION}), "a", None, "t", "r", "", "h1"),
        Event(2, "observations-reported", canonical(reported), "a", None, "t", "r", "h1", "h2"),
    ]
    first = after(Tally(), events)
    corrected = {"observation": 1, "value": 9.0}
    later = after(first, [Event(3, "observation-corrected", canonical(corrected), "a", None, "t", "r", "h2", "h3")])
    assert (first.values.tolist(), later.values.tolist()) == ([2.0], [9.0])
    assert np.array_equal(first.alive, later.alive)
