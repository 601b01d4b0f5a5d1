"""What happens to every request, in plain ASGI: an id, a log line, a metric, limits, headers.

Plain ASGI because Starlette's BaseHTTPMiddleware buffers streams and hides disconnects.
"""

import re
from asyncio import CancelledError
from time import monotonic, perf_counter
from uuid import uuid4

import anyio
import structlog
from anyio import BrokenResourceError
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api import problems
from app.api.metrics import Metrics
from app.domain.errors import BodyTooLarge, BodyTooSlow, OutcomeUnknown, Overloaded, Unavailable, WrongOrigin

LEAST_BYTES_PER_SECOND = 10_000
METHODS = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"})
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]


class Observed:
    """Outermost: names the request, times it, logs it, and turns a bug into a clean 500."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        claimed = Headers(scope=scope).get("x-request-id", "")
        request_id = scope["request_id"] = claimed if _REQUEST_ID.fullmatch(claimed) else uuid4().hex
        status, started = 0, perf_counter()

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                said = {name for name, _ in message["headers"]}
                more = [header for header in _RAW_HEADERS if header[0] not in said]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode()), *more]
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self.app(scope, receive, sending)
            except CancelledError:  # the server ends, and waited as long as it may
                if status:
                    raise
                await problems.refusal(_cut_off(scope["method"]), request_id)(scope, receive, sending)
            except ClientDisconnect:  # nobody is there to be answered
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
        method = scope["method"] if scope["method"] in METHODS else "other"  # anybody can make up more
        self.metrics.requests.labels(method, route, status).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        structlog.get_logger().info(
            "request", method=scope["method"], path=scope["path"], status=status, milliseconds=round(seconds * 1e3, 2)
        )


def _is_listener_gone(error: Exception) -> bool:
    """What FastAPI's live stream raises when its client leaves while there is much to tell: nobody's fault."""
    return isinstance(error, ExceptionGroup) and error.split(BrokenResourceError)[1] is None


def _cut_off(method: str) -> Unavailable:
    """A thread may go on with what was asked, and commit it."""
    return Overloaded("The server ends; try again.") if method in ("GET", "HEAD") else OutcomeUnknown()


class HostAllowed:
    """Answers only to the names it was given, so that no other site's page can reach a server on this machine."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "*" in self.hosts or self._name(scope) in self.hosts:
            await self.app(scope, receive, send)
        else:
            await problems.refusal(WrongOrigin(), scope.get("request_id"))(scope, receive, send)

    def _name(self, scope: Scope) -> str:
        host = Headers(scope=scope).get("host", "").lower()
        return re.sub(r":\d*$", "", host)


class BodyLimited:
    """Refuses a body above the limit: at once when it says its length, else as soon as it has sent too much.

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
    """Refuses a body that trickles: it has some seconds, and a second more for every 10 kB that came."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self.app = app
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        due, complete = monotonic() + self.seconds, scope["type"] != "http"

        async def receiving() -> Message:
            nonlocal due, complete
            if complete:  # what comes now is that the client left
                return await receive()
            with anyio.move_on_after(due - monotonic()):
                message = await receive()
                due += len(message.get("body", b"")) / LEAST_BYTES_PER_SECOND
                complete = not message.get("more_body", False)
                return message
            raise BodyTooSlow

        await self.app(scope, receiving, send)
