"""Connections: one on which no request comes is closed, and what is no HTTP gets a problem document."""

import asyncio
from contextlib import suppress

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.api.middleware import SECURITY_HEADERS
from app.api.problems import problem

SECONDS = 30.0  # for the head of a request; its body has a limit of its own
MOST_FILES = 65_536


class Connection(H11Protocol):
    """Looks now and then whether anything happens here: uvicorn itself waits for ever for the rest of a header."""

    _seen: object = None  # the last request, at the last look

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(SECONDS, self._look)

    def _look(self) -> None:
        """Close it if nothing runs, and nothing has begun since the last look."""
        if self.transport.is_closing():
            return
        idle = self.cycle is None or self.cycle.response_complete
        if idle and self.cycle is self._seen:
            self.transport.close()
        self._seen = self.cycle
        self.loop.call_later(SECONDS, self._look)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """For what is no HTTP at all; if an answer has begun, there is no other."""
        refused = problem("refused", "This is not a request as HTTP has them.", None)
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


def allow_many_files() -> None:
    """As many open files as the system lets a process have: each connection is one."""
    with suppress(ImportError, ValueError, OSError):  # not on every platform, not in every container
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
