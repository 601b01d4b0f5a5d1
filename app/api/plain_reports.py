"""The short way of a plain report: what machines send all day is answered without FastAPI's routing and dependencies.

Plain is a small JSON document with an API key in its header and at most one option in its address. Everything else, and
everything that looks odd, goes the long way and is refused there. Both ways admit the key, read the document and store
it with the same functions, so they differ in time alone; docs/decisions/0064-short-way-of-reports.md says why.
"""

import asyncio
import re
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api import problems
from app.api.bodies import SMALL
from app.api.dependencies import IDEMPOTENCY_KEY, LONGEST_IDEMPOTENCY_KEY, admit, transactions
from app.api.middleware import LEAST_BYTES_PER_SECOND
from app.api.report_json import json_reports
from app.api.responses import respond
from app.api.routes.observations import REPORTS, store_reports
from app.domain import access
from app.domain.errors import BodyTooSlow, Refusal
from app.domain.limits import NAME_PATTERN
from app.services.transactions import Answer
from app.services.use_cases.report import ReportOptions

_PATH = re.compile(f"/v1/studies/({NAME_PATTERN[1:-1]})/observations")
_TOKEN = re.compile(IDEMPOTENCY_KEY)
_KEY = re.compile(rb"Bearer ([!-~]+)")

# The whole query → how the report is taken. Python's client always says what it thinks of implausible values.
_OPTIONS = {
    b"": ReportOptions(),
    b"duplicates=skip": ReportOptions(),
    b"duplicates=new": ReportOptions(all_new=True),
    b"implausible=accept": ReportOptions(),
    b"implausible=refuse": ReportOptions(refuse_implausible=True),
    b"outside_limits=refuse": ReportOptions(),
    b"outside_limits=accept": ReportOptions(outside_limits=True),
}


@dataclass(frozen=True)
class PlainReport:
    """What the head of a plain report says."""

    study: str
    options: ReportOptions
    plaintext_key: str
    token: str | None  # the Idempotency-Key


class PlainReports:
    """Answers plain reports itself and passes everything else on."""

    def __init__(self, app: ASGIApp, seconds: float, most_bytes: int) -> None:
        self.app = app
        self.seconds = seconds
        self.most_bytes = min(most_bytes, SMALL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        plain = _plain_report(scope, self.most_bytes) if scope.get("method") == "POST" else None
        if plain is None:
            await self.app(scope, receive, send)
            return
        scope["route"] = REPORTS  # for the metrics
        request = Request(scope, receive)
        try:
            response = respond(await _report(request, plain, await whole_body(receive, self.seconds)))
        except Refusal as error:
            response = await problems.on_refusal(request, error)
        except OSError as error:
            response = await problems.on_system_error(request, error)
        await response(scope, receive, send)


async def whole_body(receive: Receive, seconds: float) -> bytes:
    """A small body. As everywhere, it has some seconds, and one more for every 10 kB that arrived."""
    body, due, more = b"", monotonic() + seconds, True
    while more:
        try:
            async with asyncio.timeout(due - monotonic()):
                message = await receive()
        except TimeoutError:
            raise BodyTooSlow from None
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece, more = message.get("body", b""), message.get("more_body", False)
        body, due = body + piece, due + len(piece) / LEAST_BYTES_PER_SECOND
    return body


async def _report(request: Request, plain: PlainReport, body: bytes) -> Answer:
    resources = request.app.state.resources
    actor = await admit(request, plain.plaintext_key, access.Scope.REPORT, from_memory=True)
    digest = sha256(body).hexdigest()
    path, query = request.scope["path"], request.scope["query_string"].decode()
    tx = transactions(resources, actor, plain.token, ("POST", path, query, digest), plain.study)
    asked = plain.options
    options = ReportOptions(digest, asked.all_new, asked.refuse_implausible, asked.outside_limits)
    return await store_reports(tx, resources, plain.study, json_reports(body), options)


def _plain_report(scope: Scope, most_bytes: int) -> PlainReport | None:
    """What the head says; None if it is not that of a plain report."""
    path, options = _PATH.fullmatch(scope["path"]), _OPTIONS.get(scope["query_string"])
    headers = dict(scope["headers"])
    if path is None or options is None or scope.get("root_path") or len(headers) != len(scope["headers"]):
        return None
    length, key = headers.get(b"content-length", b""), _KEY.fullmatch(headers.get(b"authorization", b""))
    is_small = length.isdigit() and 0 < int(length) <= most_bytes and b"transfer-encoding" not in headers
    if not is_small or headers.get(b"content-type") != b"application/json" or key is None:
        return None
    token = headers[b"idempotency-key"].decode("latin-1") if b"idempotency-key" in headers else None
    if token is not None and (len(token) > LONGEST_IDEMPOTENCY_KEY or not _TOKEN.fullmatch(token)):
        return None
    return PlainReport(path[1], options, key[1].decode(), token)
