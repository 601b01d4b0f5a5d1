"""What the server does with each connection, whoever opened the listening socket."""

import asyncio
import socket
from contextlib import suppress

from uvicorn import Config
from uvicorn.server import ServerState

from app.cli.connections import HttpConnection


async def nodelay_of_an_accepted_connection(listener: socket.socket) -> bool:
    """Connect once to a server on this listener, and read the option of the connection that it accepted."""
    accepted: asyncio.Future[HttpConnection] = asyncio.get_running_loop().create_future()

    class Seen(HttpConnection):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            accepted.set_result(self)

    config = Config("app.cli.serving:application", factory=True)
    server = await asyncio.get_running_loop().create_server(lambda: Seen(config, ServerState(), {}), sock=listener)
    _, writer = await asyncio.open_connection(*listener.getsockname())
    connection = await asyncio.wait_for(accepted, 10)
    nodelay = connection.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    server.close()
    return bool(nodelay)


def test_an_answer_is_sent_at_once_on_an_inherited_socket() -> None:
    """Several workers inherit the listening socket; each answer to a lone client then waited 40 ms for Nagle."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:  # as uvicorn opens it: without a protocol
        listener.bind(("127.0.0.1", 0))
        assert asyncio.run(nodelay_of_an_accepted_connection(listener))
