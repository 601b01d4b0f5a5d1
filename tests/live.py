"""A real server on loopback, in a thread of the test process."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from app.cli.connections import HttpConnection
from app.domain.access import Actor, Role
from app.main import create_app
from app.services.use_cases.access import SERVER, create_key
from app.settings import Settings
from app.storage.database import open_database


@dataclass(frozen=True)
class Live:
    url: str
    key: str
    database_url: str
    data: Path

    def environment(self) -> dict[str, str]:
        """For programs that shall find this server, and its database."""
        return {
            "NEXTBATCH_URL": self.url,
            "NEXTBATCH_KEY": self.key,
            "NEXTBATCH_DATABASE_URL": self.database_url,
            "NEXTBATCH_DATA": str(self.data),
        }


@contextmanager
def running(database_url: str, data: Path, **more: Any) -> Iterator[Live]:
    """A server on a migrated database, with an admin's key."""
    settings = Settings(data=data, database_url=database_url, database_connections=5, log_level="error", **more)
    app = create_app(settings)
    config = uvicorn.Config(app, http=HttpConnection, log_config=None, access_log=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Live(f"http://127.0.0.1:{listener.getsockname()[1]}", admin_key(database_url), database_url, data)
        finally:
            app.state.streams.ending = True  # as a signal would
            server.should_exit = True
            thread.join()


def admin_key(database_url: str) -> str:
    """A new admin's key of any database."""
    database = open_database(database_url, connections=2)
    with database.write() as connection:
        spelling = create_key(connection, Actor(SERVER, "test"), "tests", Role.ADMIN)[1]
    database.dispose()
    return spelling
