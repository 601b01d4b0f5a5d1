"""A temporary server for the demo, in a thread of this process, with its own database."""

import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.serving import first_admin_key, prepare

if TYPE_CHECKING:
    from app.settings import Settings


@contextmanager
def temporary_server(port: int = 0) -> Iterator[tuple[str, str]]:
    """The address and the admin key of a fresh server."""
    from app.settings import Settings

    with tempfile.TemporaryDirectory(prefix="nextbatch-demo-") as folder:
        settings = Settings(data=Path(folder), database_url=None, log_level="error")
        database = prepare(settings)
        key = first_admin_key(database, settings.admin_key_file)
        database.dispose()
        with socket.create_server(("127.0.0.1", port)) as listener, _serving(settings, listener):
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", str(key)


@contextmanager
def _serving(settings: "Settings", listener: socket.socket) -> Iterator[None]:
    import uvicorn

    from app.main import create_app

    app = create_app(settings)
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield
    finally:
        app.state.streams.ending = True
        server.should_exit = True
        thread.join()
