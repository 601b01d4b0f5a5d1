"""The ledger: per study one chain of events, each naming the hash of the one before.

Tamper-evident, not tamper-proof: whoever can rewrite the whole database can rewrite the whole chain.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

GENESIS = "0" * 64


@dataclass(frozen=True)
class Event:
    seq: int
    type: str
    payload: str  # canonical JSON
    actor: str
    reason: str | None
    recorded_at: str  # by the server, UTC; when it was measured is the payload's claim
    request_id: str
    previous: str
    hash: str


def canonical(value: Any) -> str:
    """One spelling for one value: sorted members, no spaces, floats as their shortest round-trip text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def seal(study: str, fields: Mapping[str, Any]) -> str:
    """SHA-256 of an event: the study's name, every field but the hash itself."""
    sealed = {name: value for name, value in fields.items() if name != "hash"}
    return sha256(canonical({"study": study, **sealed}).encode()).hexdigest()


def first_break(study: str, events: Iterable[Event]) -> int | None:
    """The seq of the first event that is missing, altered or out of place; None for a sound chain."""
    previous = GENESIS
    for expected, event in enumerate(events, start=1):
        if event.seq != expected or event.previous != previous or event.hash != seal(study, vars(event)):
            return expected
        previous = event.hash
    return None
