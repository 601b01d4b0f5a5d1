"""Responses: stored answers, 304 for what the reader has already, and files that are made for one answer."""

import os
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from fastapi import Request
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from app.api.schemas.shape import Shape
from app.domain.clock import now
from app.domain.studies import Study
from app.services.transactions import Answer


def answer(shape: Shape, status: int = 200, **headers: str) -> Answer:
    """The bytes of an answer; header names are written with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, shape.model_dump_json().encode(), {"content-type": "application/json"} | named)


def respond(answer: Answer) -> Response:
    return Response(answer.body, answer.status, dict(answer.headers))


def unless_known(request: Request, study: Study, make: Callable[[], Shape]) -> Response:
    """304 if the reader has this state of the study already, else what `make` gives."""
    etag = f'W/"{_state_of(study)}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(make().model_dump_json(), media_type="application/json", headers=headers)


def _state_of(study: Study) -> str:
    """The head of the ledger names everything that is known; what depends on the clock changes by the minute."""
    timed = study.configuration.overdue_hours is not None or study.configuration.stop.date is not None
    return sha256(f"{study.head} {now()[:16] if timed else ''}".encode()).hexdigest()[:32]


class WholeFile(FileResponse):
    """Sends the whole file, never a range of it: the file of another answer may have other bytes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, value) for name, value in scope["headers"] if name != b"range"]
        await super().__call__({**scope, "headers": headers}, receive, send)


def download(write: Callable[[Path], None], media_type: str, filename: str | None = None) -> WholeFile:
    """The file that `write` writes. It is complete before its first byte is sent, and deleted after the last."""
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
