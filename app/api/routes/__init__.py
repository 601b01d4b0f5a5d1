"""The addresses, one module per noun. A route reads, calls one use case or workflow, and shapes the answer."""

from typing import Any

from app.api import problems

# The problems that any operation under /v1 may answer with …
COMMON = problems.documented(
    "malformed-json",
    "json-limits",
    "duplicate-member",
    "two-lengths",
    "unauthenticated",
    "forbidden",
    "not-found",
    "body-too-large",
    "misdirected-host",
    "invalid-input",
    "internal-error",
    "database-unavailable",
    "database-busy",
    "database-damaged",
    "database-replaced",
    "overloaded",
    "computation-too-long",
    "body-too-slow",
    "too-many-requests",
)
# … those of an operation that writes …
WRITES = problems.documented(
    "invalid-input", "idempotency-key-reused", "outcome-unknown", "storage-full", "schema-changed"
)
# … and those of an operation on one study.
OF_A_STUDY = problems.documented("study-not-found", "study-deleted", "unreadable-event", "damaged-study")
NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "As you know it (If-None-Match)"}}
