"""A file made for one answer: whole before its first byte is sent, so that nothing is held for a slow reader."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send


class WholeFile(FileResponse):
    """Always all of it: the file of another answer may have other bytes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, value) for name, value in scope["headers"] if name != b"range"]
        await super().__call__({**scope, "headers": headers}, receive, send)


def download(write: Callable[[Path], None], media_type: str, filename: str | None = None) -> WholeFile:
    """The file that `write` writes; it is gone when it was sent."""
    descriptor, name = tempfile.mkstemp(prefix="nextbatch-")
    os.close(descriptor)
    path = Path(name)
    try:
        write(path)
    except BaseException:
        path.unlink()
        raise
    remove = BackgroundTask(path.unlink, missing_ok=True)
    headers = {"Accept-Ranges": "none"}
    return WholeFile(path, headers=headers, media_type=media_type, filename=filename, background=remove)
