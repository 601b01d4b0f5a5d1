"""Answers to the page are compressed: it is read on slow lines, and its answers are mostly names and digits.

Programs are left alone: they are mostly near, and compressing costs them more than it saves. A write's answer is never
compressed, because it can hold a new key.
"""

import gzip
from functools import partial

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.sessions import COOKIE

LEAST_BYTES = 1_000  # below, an answer fits into a packet anyway
MOST_AT_ONCE = 64_000  # above, compressing would keep other requests waiting, and is left to a thread
LEVEL = 5
TYPES = ("application/json", "application/problem+json", "application/octet-stream")


class Compressed:
    """Compresses what is read within a browser's session and comes in one piece."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _is_for_the_page(scope):
            await self.app(scope, receive, send)
            return
        held: Message | None = None  # the beginning of an answer that may be worth it, until its body is there

        async def sending(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start" and _may_be_worth_it(message):
                held = message
                return
            if held is not None:
                start, held = held, None
                if not message.get("more_body", False) and len(message["body"]) >= LEAST_BYTES:
                    message = {**message, "body": await _compressed(message["body"])}
                    _declare(start, len(message["body"]))
                await send(start)
            await send(message)

        await self.app(scope, receive, sending)


def _is_for_the_page(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    accepted = "gzip" in headers.get("accept-encoding", "")
    return scope["method"] == "GET" and accepted and COOKIE in cookie_parser(headers.get("cookie", ""))


def _may_be_worth_it(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    return headers.get("content-type", "").partition(";")[0] in TYPES and "content-encoding" not in headers


async def _compressed(body: bytes) -> bytes:
    compress = partial(gzip.compress, body, LEVEL, mtime=0)
    return compress() if len(body) <= MOST_AT_ONCE else await anyio.to_thread.run_sync(compress)


def _declare(start: Message, length: int) -> None:
    headers = MutableHeaders(raw=list(start["headers"]))
    headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(length)
    headers.add_vary_header("Accept-Encoding")
    start["headers"] = headers.raw
