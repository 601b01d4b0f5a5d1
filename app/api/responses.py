"""Responses: stored answers, and files that are made for one answer."""

from collections.abc import Callable
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from app.api.schemas.shape import Shape
from app.services.transactions import Answer
from app.temporary_folders import TemporaryFolder


def answer(shape: Shape, status: int = 200, **headers: str) -> Answer:
    """The bytes of an answer; header names are written with underscores."""
    return json_answer(shape.model_dump_json().encode(), status, **headers)


def json_answer(document: bytes, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, document, {"content-type": "application/json"} | named)


def respond(answer: Answer) -> Response:
    return Response(answer.body, answer.status, dict(answer.headers))


class WholeFile(FileResponse):
    """Sends the whole file, never a range of it: the file of another answer may have other bytes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, value) for name, value in scope["headers"] if name != b"range"]
        await super().__call__({**scope, "headers": headers}, receive, send)


def download(write: Callable[[Path], None], media_type: str, filename: str | None = None) -> WholeFile:
    """The file that `write` writes. It is complete before its first byte is sent, and deleted after the last."""
    folder = TemporaryFolder()
    path = folder.path / "file"
    try:
        write(path)
    except BaseException:
        folder.discard()
        raise
    remove = BackgroundTask(folder.discard)
    headers = {"Accept-Ranges": "none"}
    return WholeFile(path, headers=headers, media_type=media_type, filename=filename, background=remove)
