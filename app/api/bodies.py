"""A request is let in when its body is there: who sends slowly waits outside, and costs no more than a connection."""

from collections import deque

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api import problems
from app.domain.errors import Refusal

ENOUGH = 1 << 16  # bytes of a body with which it is let in: what is larger is taken piece by piece


class BodyAwaited:
    """Waits for a small body, or for the beginning of a large one, before anybody looks at the request.

    Its key costs a thread and a read: of five hundred who sent a head and then nothing, each was given both, and honest
    requests waited behind them.
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
    while more and size < ENOUGH:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        held.append(message)
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    return held
