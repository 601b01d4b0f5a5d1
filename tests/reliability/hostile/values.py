"""JSON values that go wrong somewhere, and JSON texts that are none."""

import json
from random import Random
from typing import Any

ATOMS: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**63) - 1, 10**400, 0.1, -0.0, 1e300, 5e-324, 1e-320),
    *(
        "",
        " ",
        "0",
        "1",
        "NaN",
        "Infinity",
        "1e400",
        "true",
        "null",
        "A1",
        "s",
        "active",
        "deleted",
        "w",
        "B1-S1",
        "99-9",
    ),
    *("=1+1", "-1", "@SUM(A1)", "../../etc/passwd", "..", "%00", "\u202e", "ü" * 300, "x" * 20_000, "a\nb", "\t", "'"),
    *("\0", "\ud800", "2026-01-01", "2026-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"),
    *([], {}, [[]], {"": {}}, [None], {"kind": "gaussian"}, {"retry": True, "reason": "x"}),
)
NAMES = (
    *("state", "value", "values", "suggestion", "candidate", "observations", "failed", "abandoned", "replicate", "ref"),
    *(
        "reason",
        "worker",
        "min_size",
        "max_size",
        "wait",
        "kernel",
        "noise",
        "norm",
        "seed",
        "stop",
        "direction",
        "unit",
    ),
    *(
        "candidates",
        "parameters",
        "constraints",
        "exclude",
        "sample",
        "low",
        "high",
        "step",
        "count",
        "levels",
        "scale",
    ),
    *("name", "role", "studies", "expires_at", "available", "measured_at", "key", "", "__proto__", "\0", "unknown"),
)


def value(random: Random, depth: int = 0) -> Any:
    kind = random.random()
    if depth > 3 or kind < 0.7:
        return random.choice(ATOMS)
    if kind < 0.85:
        return [value(random, depth + 1) for _ in range(random.randrange(4))]
    return {random.choice(NAMES): value(random, depth + 1) for _ in range(random.randrange(4))}


def altered(document: Any, random: Random) -> Any:
    """The document with something else somewhere in it."""
    if isinstance(document, dict) and document and random.random() < 0.8:
        name = random.choice(list(document))
        return document | {name: altered(document[name], random)}
    if isinstance(document, list) and document and random.random() < 0.8:
        place = random.randrange(len(document))
        return [*document[:place], altered(document[place], random), *document[place + 1 :]]
    if isinstance(document, dict) and random.random() < 0.5:
        return document | {random.choice(NAMES): value(random)}
    return value(random)


def text(document: Any, random: Random) -> bytes:
    """The document as JSON; now and then as something that is not quite JSON."""
    spelled = json.dumps(document, allow_nan=True).encode()
    odd = random.random()
    if odd < 0.85:
        return spelled
    if odd < 0.88:
        deep = random.choice((31, 32, 33, 1000, 100_000))
        return b"[" * deep + spelled + b"]" * deep
    if odd < 0.91:
        return spelled[:-1] + b', "value": 1, "value": 2}'
    return damaged(spelled, random)


def damaged(content: bytes, random: Random) -> bytes:
    """Some bytes overwritten, removed, added or repeated."""
    changed = bytearray(content)
    for _ in range(random.randint(1, 4)):
        place = random.randint(0, len(changed))
        piece = random.choice(
            (random.randbytes(random.randrange(9)), b"\xff", b"\0", bytes(changed[place : place + 40]))
        )
        changed[place : place + random.randrange(9)] = piece
    return bytes(changed)
