"""The server's HTTP connections: idle ones are closed, and what is not HTTP gets a problem document."""

import asyncio
import socket
from contextlib import suppress

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.api.middleware import SECURITY_HEADERS
from app.api.problems import problem

# For the head of a request (its body has a limit of its own), and between two requests: longer than clients keep an
# unused connection, which httpx does for 5 s, so that the server does not close one just as it is used again.
IDLE_SECONDS = 30
MOST_UNWANTED = 16 * 2**20  # bytes of a body that go on arriving after its request was answered
MAX_OPEN_FILES = 65_536


class HttpConnection(H11Protocol):
    """Closes a connection on which nothing happens; uvicorn itself waits forever for the rest of a header."""

    _last_cycle: object = None  # the request at the previous check
    _last_unread = 0  # bytes of answers that were waiting then
    _unwanted = 0  # bytes that nobody reads any more

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        send_at_once(transport)
        self.loop.call_later(IDLE_SECONDS, self._check_idle)

    def data_received(self, data: bytes) -> None:
        """Close the connection of a client that goes on sending long after its body was refused."""
        if self.cycle is not None and self.cycle.response_complete and self.conn.their_state is h11.SEND_BODY:
            self._unwanted += len(data)
            if self._unwanted > MOST_UNWANTED:
                self.transport.close()
                return
        super().data_received(data)

    def _check_idle(self) -> None:
        """Close the connection if no request is running and none has begun since the previous check."""
        if self.transport.is_closing():
            return
        idle = self.cycle is None or self.cycle.response_complete
        unread = self.transport.get_write_buffer_size()
        if unread and unread == self._last_unread:  # the client does not read its answer
            self.transport.abort()
            return
        if idle and self.cycle is self._last_cycle:
            self.transport.close()
        self._last_cycle, self._last_unread = self.cycle, unread
        self.loop.call_later(IDLE_SECONDS, self._check_idle)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Answer what is not HTTP with a problem document, unless another answer has begun."""
        refused = problem("refused", "This is not a valid HTTP request.", None)
        headers = [*refused.raw_headers, (b"connection", b"close")]
        headers += [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
        with suppress(h11.LocalProtocolError):
            events = (
                h11.Response(status_code=400, headers=headers),
                h11.Data(data=bytes(refused.body)),
                h11.EndOfMessage(),
            )
            self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.close()


def send_at_once(transport: asyncio.BaseTransport) -> None:
    """Switch off Nagle's algorithm, which holds back the end of an answer until the client acknowledges its beginning.

    asyncio does this itself only for sockets that it has opened; several workers inherit theirs.
    """
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def allow_many_files() -> None:
    """Raise the limit on open files as far as the system allows: each connection is one."""
    with suppress(ImportError, ValueError, OSError):  # not possible on every platform and in every container
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
