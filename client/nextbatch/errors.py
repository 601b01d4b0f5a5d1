"""What can go wrong, as one tree.

NextbatchError
├── Unreachable          the server did not answer
├── StillComputing       the batch is not ready; ask again later
├── ObjectiveFailed      the objective of `study.run` failed too often in a row
└── Problem              the server refused the request
    ├── InvalidInput     the input needs correcting; `errors` says where
    ├── Unauthenticated  the key is missing, wrong, expired or revoked
    ├── Forbidden        the role of the key does not allow it
    ├── NotFound         it does not exist, or the key has no access to it
    ├── Conflict         the state of the study does not allow it; `code` says why
    ├── Unavailable      the server cannot do it now; try again later
    └── ServerBug        the server failed; its log has the details under `request_id`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx


class NextbatchError(Exception):
    """Every exception of this package."""


class Unreachable(NextbatchError):
    """The server did not answer. A write may have happened; it is safe to repeat it."""


class StillComputing(NextbatchError):
    """The batch is still being computed. Ask again with the same worker."""


class ObjectiveFailed(NextbatchError):
    """The objective of `study.run` failed too often in a row; its last exception is the cause."""


@dataclass(frozen=True)
class Finding:
    """An error or a warning and its place: `row` as a spreadsheet counts, `pointer` into a JSON body."""

    code: str
    message: str
    row: int | None = None
    column: str | None = None
    pointer: str | None = None

    def __str__(self) -> str:
        row = f"row {self.row}" if self.row is not None else None
        column = f"column {self.column}" if self.column else None
        place = ", ".join(part for part in (row, column, _as_python(self.pointer)) if part)
        return f"{place}: {self.message}" if place else self.message


class Problem(NextbatchError):
    """The server refused the request and says why (RFC 9457)."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        self.status = status
        self.code: str = document.get("code", f"http-{status}")
        self.detail: str = document.get("detail", "The server gave no reason.")
        self.request_id: str | None = document.get("request_id")
        self.errors = tuple(_finding(entry) for entry in document.get("errors", ()))
        self.facts = {name: value for name, value in document.items() if name not in _STANDARD_FIELDS}
        super().__init__(status, document)  # these arguments make it picklable
        if self.code in _ADVICE:
            self.add_note(_ADVICE[self.code])

    def __str__(self) -> str:
        shown = "".join(f"\n  {finding}" for finding in self.errors[:10])
        more = len(self.errors) - 10
        return f"{self.detail} [{self.code}]{shown}{f' (and {more} more)' if more > 0 else ''}"


class InvalidInput(Problem):
    """The input needs correcting; `errors` says where."""


class Unauthenticated(Problem):
    """The key is missing, wrong, expired or revoked."""


class Forbidden(Problem):
    """The role of the key does not allow it."""


class NotFound(Problem):
    """It does not exist, or the key has no access to it."""


class Conflict(Problem):
    """The state of the study does not allow it; `code` says why."""


class Unavailable(Problem):
    """The server cannot do it now; try again later."""


class ServerBug(Problem):
    """The server failed; its log has the details under `request_id`."""


_STANDARD_FIELDS = {"type", "title", "status", "code", "detail", "request_id", "errors"}
# The server speaks to every kind of client; these notes say in a traceback what to call in Python.
_ADVICE = {
    "already-observed": "Use `study.correct(observation, value, reason)` to change a result.",
    "candidates-exist": "Use `study.append(…)` to add candidates, or `study.upload(…, replace=True)`.",
    "candidates-in-use": "Use `study.append(…)` to add candidates.",
    "no-candidates": "Use `study.upload(…)` first.",
    "precondition-failed": "Read it again with `study.refresh()` or `study.observations()`, then repeat the change.",
    "study-exists": "Open it with `client.study(name)`, then use `study.append(…)` or `study.change(…)`.",
    "study-finished": "Use `study.change(stop=…)` to continue.",
    "study-not-active": "Use `study.resume()` if it is paused.",
    "unauthenticated": "Pass `key=` to the client, or set NEXTBATCH_KEY.",
}
_KINDS: dict[int, type[Problem]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: NotFound,
    412: Conflict,
    428: Conflict,
    429: Unavailable,
    500: ServerBug,
}


def problem_of(response: httpx.Response) -> Problem:
    """The exception for an answer with status 400 or more."""
    try:
        document = response.json()
    except ValueError:
        document = None
    status = response.status_code
    kind = _KINDS.get(status, Unavailable if status >= 500 else InvalidInput)
    return kind(
        status, document if isinstance(document, dict) else {"request_id": response.headers.get("x-request-id")}
    )


def _as_python(pointer: str | None) -> str | None:
    """`/objectives/0/name` as one writes it in Python: `objectives[0].name`."""
    if pointer is None or not pointer.startswith("/"):
        return pointer
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    return "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in parts).removeprefix(".")


def _finding(entry: Mapping[str, Any]) -> Finding:
    return Finding(
        **{name: entry.get(name) for name in ("row", "column", "pointer")}, code=entry["code"], message=entry["message"]
    )
