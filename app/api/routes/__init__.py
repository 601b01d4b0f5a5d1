"""The addresses, one module per noun. A route reads, calls one use case and shapes the answer."""

from starlette.responses import Response

from app.api import problems
from app.domain.answers import Answer

# Any operation under /v1 may answer these.
COMMON = problems.documented(
    "malformed-json",
    "json-limits",
    "duplicate-member",
    "unauthenticated",
    "forbidden",
    "not-found",
    "body-too-large",
    "misdirected-host",
    "invalid-input",
    "internal-error",
    "database-unavailable",
    "database-busy",
    "overloaded",
    "body-too-slow",
    "too-many-requests",
)
# … and these if it writes …
WRITES = problems.documented("invalid-input", "idempotency-key-reused", "outcome-unknown", "storage-full")
# … and these if it is about one study.
OF_A_STUDY = problems.documented("study-not-found", "study-deleted")


def respond(answer: Answer) -> Response:
    return Response(answer.body, answer.status, dict(answer.headers))
