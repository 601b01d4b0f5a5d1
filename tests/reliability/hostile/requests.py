"""One hostile request: an operation's sample with its path, query, headers or body changed."""

from random import Random
from typing import Any
from urllib.parse import quote

from httpx2 import Response

from tests.api.lab import Lab
from tests.api.operations import SAMPLES, Operation
from tests.reliability.hostile import files, values

PLACES = (
    "A1",
    "1",
    "0",
    "-1",
    "99999999999999999999",
    "..",
    "%2e%2e%2f",
    "%00",
    "ü",
    "A1/../A2",
    "x" * 300,
    "a b",
    "'",
)
QUERIES = (
    *("limit", "after", "offset", "sort", "where", "search", "posterior", "format", "versions", "candidate", "dry_run"),
    *("as_of", "state", "worker", "decimal", "bom", "duplicates", "key", "attribute", "text", "column", "reason"),
)
SETTINGS = (
    "0",
    "1",
    "-1",
    "1e9",
    "true",
    "csv",
    "json",
    "all",
    "skip",
    "comma",
    "-temperature",
    "temperature>=nan",
    "\0",
)
HEADERS = (
    *(
        "If-Match",
        "If-None-Match",
        "Idempotency-Key",
        "Content-Type",
        "Last-Event-ID",
        "Range",
        "X-Request-ID",
        "Cookie",
    ),
    *("Content-Length", "Accept", "Origin", "Transfer-Encoding", "Content-Encoding", "Authorization", "Host", "Expect"),
)
CONTENTS = (
    "",
    "*",
    '"1"',
    '"x"',
    "0",
    "bytes=0-1",
    "bytes=9-1",
    "text/csv",
    "gzip",
    "nextbatch_session=nb_",
    "\xff",
    "x" * 9000,
)
SEPARATE = {"Authorization", "Host"}  # so that most requests get past the door


def sent(random: Random, lab: Lab, operation: Operation, signed: dict[str, str] | None = None) -> Response:
    """The answer to a hostile request."""
    sample = SAMPLES[operation.name]
    headers = dict(sample.get("headers", {})) | (signed or {})
    for _ in range(random.choice((0, 0, 1, 2))):
        name = random.choice(HEADERS)
        if name not in SEPARATE or random.random() < 0.1:
            headers[name] = random.choice(CONTENTS)
    content = _body(random, sample, headers)
    raw = {name: str(value).encode("latin-1", "replace") for name, value in headers.items()}
    return lab.client.request(operation.method, _path(random, lab, operation), content=content, headers=raw)


def _path(random: Random, lab: Lab, operation: Operation) -> str:
    def part(usual: str) -> str:
        return (
            usual
            if random.random() < 0.85
            else random.choice((*PLACES, quote(str(values.value(random)), "", errors="replace")[:500]))
        )

    study = lab.study if random.random() < 0.95 else part("other")
    usual = {"key": "A1", "key_id": "0" * 12, "number": "1", "suggestion": "B1-S1"}
    path = operation.path.format(study=study, **{name: part(value) for name, value in usual.items()})
    query = [
        f"{random.choice(QUERIES)}={quote(random.choice((*SETTINGS, *PLACES)))}" for _ in range(random.randrange(3))
    ]
    return f"{path}?{'&'.join(query)}" if query else path


def _body(random: Random, sample: dict[str, Any], headers: dict[str, str]) -> bytes | None:
    if "json" in sample:
        headers.setdefault("Content-Type", "application/json")
        return values.text(values.altered(sample["json"], random), random)
    if "content" in sample or "Content-Type" in headers or random.random() < 0.1:
        media_type, content = files.file(random)
        headers["Content-Type"] = media_type
        return content
    return None
