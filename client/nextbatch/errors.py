"""What can go wrong, as one tree.

NextbatchError
├── Unreachable          no answer came, however often it was tried
├── StillComputing       the batch is not there yet; the same ask finds it later
├── ObjectiveFailed      in `study.run`, the objective failed too often in a row
└── Problem              the server answered, and refused
    ├── InvalidInput     what was sent breaks a rule; `errors` say where
    ├── Unauthenticated  the key is missing, wrong, expired or revoked
    ├── Forbidden        the key's role does not allow it
    ├── NotFound         it is not there, or this key may not see it
    ├── Conflict         the state of things is against it; `code` says which
    ├── Unavailable      the server could not, for now
    └── ServerBug        the server's log has more under `request_id`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx


class NextbatchError(Exception):
    """Everything that this client raises of its own."""


class Unreachable(NextbatchError):
    """No answer came. A write may have happened: the same again is safe, for reports and asks are recognised."""


class StillComputing(NextbatchError):
    """The batch is being computed; ask again with the same worker."""


class ObjectiveFailed(NextbatchError):
    """The function given to `study.run` failed too often in a row; its last exception is the cause."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong or odd, and where: `row` as a spreadsheet counts, `pointer` into a JSON body."""

    code: str
    message: str
    row: int | None = None
    column: str | None = None
    pointer: str | None = None

    def __str__(self) -> str:
        places = (
            f"row {self.row}" if self.row is not None else "",
            f"column {self.column}" if self.column else "",
            self.pointer or "",
        )
        place = ", ".join(filter(None, places))
        return f"{place}: {self.message}" if place else self.message


class Problem(NextbatchError):
    """A refusal of the server, in its own words (RFC 9457)."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        self.status = status
        self.code: str = document.get("code", f"http-{status}")
        self.detail: str = document.get("detail", "The server gave no reason.")
        self.request_id: str | None = document.get("request_id")
        self.errors = tuple(_finding(entry) for entry in document.get("errors", ()))
        self.facts = {name: value for name, value in document.items() if name not in _STANDARD}
        super().__init__(status, document)  # so that it can be pickled

    def __str__(self) -> str:
        shown = "".join(f"\n  {finding}" for finding in self.errors[:10])
        more = len(self.errors) - 10
        return f"{self.detail} [{self.code}]{shown}{f' (and {more} more)' if more > 0 else ''}"


class InvalidInput(Problem):
    pass


class Unauthenticated(Problem):
    pass


class Forbidden(Problem):
    pass


class NotFound(Problem):
    pass


class Conflict(Problem):
    pass


class Unavailable(Problem):
    pass


class ServerBug(Problem):
    pass


_STANDARD = {"type", "title", "status", "code", "detail", "request_id", "errors"}
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
    """The exception for an answer above 399."""
    try:
        document = response.json()
    except ValueError:
        document = None
    status = response.status_code
    kind = _KINDS.get(status, Unavailable if status >= 500 else InvalidInput)
    return kind(
        status, document if isinstance(document, dict) else {"request_id": response.headers.get("x-request-id")}
    )


def _finding(entry: Mapping[str, Any]) -> Finding:
    return Finding(
        **{name: entry.get(name) for name in ("row", "column", "pointer")}, code=entry["code"], message=entry["message"]
    )
