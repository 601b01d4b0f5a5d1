"""What happens to every request, in plain ASGI: an id, a log line, a metric, limits, headers.

It is plain ASGI because Starlette's BaseHTTPMiddleware buffers streams and hides disconnects.
"""

import re
from asyncio import CancelledError
from collections import deque
from functools import lru_cache
from time import monotonic, perf_counter
from uuid import uuid4

import anyio
import structlog
from anyio import BrokenResourceError
from prometheus_client import Counter, Histogram
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api import problems
from app.api.metrics import Metrics
from app.domain.errors import (
    BodyTooLarge,
    BodyTooSlow,
    OutcomeUnknown,
    Overloaded,
    Refusal,
    TwoLengths,
    Unavailable,
    WrongOrigin,
)

LEAST_BYTES_PER_SECOND = 10_000
ENOUGH_BYTES = 1 << 16  # of a body, before its request is let in: the rest of a larger body is taken piece by piece
METHODS = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"})
ASK = ("POST", "/v1/studies/{study}/batches")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]


class RequestLog:
    """The outermost layer: gives the request an id, times it, logs it, and turns a bug into a clean 500."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics
        self._counted: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}  # as many as the metrics have

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = scope["request_id"] = uuid4().hex  # never the client's own, which it can repeat or forge
        status, started = 0, perf_counter()

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = {name for name, _ in message["headers"]}
                more = [header for header in _RAW_HEADERS if header[0] not in given]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode()), *more]
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id, **_clients_id(scope)):
            try:
                await self.app(scope, receive, sending)
            except CancelledError:  # the server shuts down, and has waited as long as it may
                if status:
                    raise
                await problems.refusal(_cut_off(scope["method"]), request_id)(scope, receive, sending)
            except ClientDisconnect:  # there is nobody to answer
                structlog.get_logger().info("the client left")
            except Exception as error:
                if _is_listener_gone(error):
                    return
                structlog.get_logger().exception("bug", path=scope["path"], method=scope["method"])
                if status:  # too late for a clean answer
                    raise
                await problems.internal_error(request_id)(scope, receive, sending)
            finally:
                self._note(scope, status, perf_counter() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unmatched")
        method = scope["method"] if scope["method"] in METHODS else "other"  # clients can invent others
        counted = self._counted.get((method, route, status))
        if counted is None:  # `labels` takes a lock and makes texts of its arguments
            counted = self.metrics.requests.labels(method, route, status), self.metrics.seconds.labels(route)
            self._counted[method, route, status] = counted
        counted[0].inc()
        counted[1].observe(seconds)
        if (method, route) == ASK:
            self.metrics.ask_seconds.labels(status).observe(seconds)
        structlog.get_logger().info(
            "request", method=scope["method"], path=scope["path"], status=status, milliseconds=round(seconds * 1e3, 2)
        )


def _clients_id(scope: Scope) -> dict[str, str]:
    """The id that the client gave the request, for the log, if it is a plain one."""
    claimed = Headers(scope=scope).get("x-request-id", "")
    return {"client_request_id": claimed} if _REQUEST_ID.fullmatch(claimed) else {}


def _is_listener_gone(error: Exception) -> bool:
    """Whether FastAPI's event stream failed because its client left: that is no bug."""
    return isinstance(error, ExceptionGroup) and error.split(BrokenResourceError)[1] is None


def _cut_off(method: str) -> Unavailable:
    """A thread may finish the work of a write, and commit it."""
    return Overloaded("The server is shutting down. Try again.") if method in ("GET", "HEAD") else OutcomeUnknown()


class HostAllowed:
    """Answers only to the host names it was given, so that no page of another site can reach a local server."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "*" in self.hosts or _host_name(_host(scope)) in self.hosts:
            await self.app(scope, receive, send)
        else:
            await problems.refusal(WrongOrigin(), scope.get("request_id"))(scope, receive, send)


def _host(scope: Scope) -> bytes:
    return next((value for name, value in scope["headers"] if name == b"host"), b"")


@lru_cache(maxsize=64)  # nearly every request has the same
def _host_name(host: bytes) -> str:
    return re.sub(r":\d*$", "", host.decode("latin-1").lower())


class BodyLimited:
    """Refuses a body above the limit: by its declared length, else as soon as too much has arrived.

    JSON is read into memory and has a limit of its own; everything else goes to a temporary file.
    """

    def __init__(self, app: ASGIApp, most_bytes: int, most_json_bytes: int) -> None:
        self.app = app
        self.most_bytes = most_bytes
        self.most_json_bytes = most_json_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if "content-length" in headers and "transfer-encoding" in headers:
            refused = problems.refusal(TwoLengths(), scope.get("request_id"))
            refused.headers["Connection"] = "close"
            await refused(scope, receive, send)
            return
        most = self.most_json_bytes if "json" in headers.get("content-type", "json") else self.most_bytes
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > most:
            await problems.refusal(BodyTooLarge(), scope.get("request_id"))(scope, receive, send)
            return
        received = 0

        async def receiving() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most:
                raise BodyTooLarge
            return message

        await self.app(scope, receiving, send)


class BodyTimed:
    """Refuses a body that trickles in: it has some seconds, and one more for every 10 kB that arrived."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self.app = app
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        due, complete = monotonic() + self.seconds, scope["type"] != "http"

        async def receiving() -> Message:
            nonlocal due, complete
            if complete:  # the next message tells that the client left
                return await receive()
            with anyio.move_on_after(due - monotonic()):
                message = await receive()
                due += len(message.get("body", b"")) / LEAST_BYTES_PER_SECOND
                complete = not message.get("more_body", False)
                return message
            raise BodyTooSlow

        await self.app(scope, receiving, send)


class BodyAwaited:
    """Waits for a small body, or for the beginning of a large one, before the request is looked at.

    Checking its key takes a thread and a database read. A slow sender waits here instead, and costs a connection only.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(scope):
            await self.app(scope, receive, send)
            return
        try:
            held = await _beginning(receive)
        except Refusal as error:  # too large, or too slow
            await problems.refusal(error, scope.get("request_id"))(scope, receive, send)
            return

        async def receiving() -> Message:
            return held.popleft() if held else await receive()

        await self.app(scope, receiving, send)


def _has_body(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


async def _beginning(receive: Receive) -> deque[Message]:
    held: deque[Message] = deque()
    size, more = 0, True
    while more and size < ENOUGH_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        held.append(message)
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    return held
