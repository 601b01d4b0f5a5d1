"""A body on its way to the disk: never whole in memory, hashed as it passes, gone when the request ends.

Small JSON need not see the disk.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException

from app.api.dependencies import IdempotencyKey, allowed, writing_as
from app.api.strict_json import SMALL
from app.domain.access import Actor, Scope
from app.domain.errors import Invalid, UnsupportedMediaType
from app.domain.findings import Finding
from app.services.transactions import Writing

PIECE = 1 << 20


@dataclass(frozen=True)
class Spooled:
    """The files of a body by name (a plain body is one file, named ``), and the hash of them all."""

    media_type: str
    files: dict[str, Path]
    digest: str
    actor: Actor  # who sent it
    json: bytes | None = None  # in the files' stead, where it is small


def spooled(scope: Scope, *, json_in_memory: bool = False) -> Callable[..., AsyncIterator[Spooled]]:
    """The dependency that takes a body to temporary files, once its sender may send it."""
    return _spooled(scope, json_in_memory)


@cache  # one for all who name it: a body can be read once
def _spooled(scope: Scope, json_in_memory: bool) -> Callable[..., AsyncIterator[Spooled]]:
    async def body(request: Request, actor: Annotated[Actor, Depends(allowed(scope))]) -> AsyncIterator[Spooled]:
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if json_in_memory and media_type == "application/json" and _is_small(request):
            whole = await request.body()
            yield Spooled(media_type, {}, sha256(whole).hexdigest(), actor, whole)
            return
        digest = sha256()
        with TemporaryDirectory(prefix="nextbatch-") as folder:
            if media_type == "multipart/form-data":
                files = await _parts(request, Path(folder), digest)
            else:
                files = {"": await _whole(request, Path(folder) / "body", digest)}
            yield Spooled(media_type, files, digest.hexdigest(), actor)

    return body


def uploading(scope: Scope) -> Any:
    """As `writing`, for a body that is spooled."""

    async def dependency(
        request: Request, body: Annotated[Spooled, Depends(spooled(scope))], idempotency_key: IdempotencyKey = None
    ) -> Writing:
        return writing_as(request, body.actor, idempotency_key, body.digest)

    return Depends(dependency)


def _is_small(request: Request) -> bool:
    """Said to be, and so no longer than that; what is sent in chunks says nothing."""
    said = request.headers.get("content-length", "")
    return said.isdecimal() and int(said) <= SMALL


async def _whole(request: Request, path: Path, digest: Any) -> Path:
    with path.open("wb") as file:
        held = bytearray()
        async for piece in request.stream():
            held += piece
            if len(held) >= PIECE:
                await run_in_threadpool(_take, file, digest, bytes(held))
                held.clear()
        _take(file, digest, bytes(held))
    return path


async def _parts(request: Request, folder: Path, digest: Any) -> dict[str, Path]:
    """The files of a form, each under its field's name. (The form's own spool holds them until they are copied.)"""
    files: dict[str, Path] = {}
    try:
        form = await request.form(max_files=4, max_fields=4)
    except MultiPartException:
        raise Invalid([Finding("form", "The multipart form could not be read.")]) from None
    try:
        for number, (name, part) in enumerate(form.multi_items()):
            if not isinstance(part, UploadFile) or name in files:
                raise Invalid([Finding("form", "Every field of the form must be one file.")])
            files[name] = folder / str(number)
            digest.update(f"{name}\n".encode())
            with files[name].open("wb") as file:
                while piece := await part.read(PIECE):
                    await run_in_threadpool(_take, file, digest, piece)
    finally:
        await form.close()
    return files


def _take(file: Any, digest: Any, piece: bytes) -> None:
    file.write(piece)
    digest.update(piece)


def candidate_files(body: Spooled) -> tuple[str, Path, Path | None]:
    """Media type, candidates and (in a form beside `features`, a .npy) `keys`."""
    if body.media_type != "multipart/form-data":
        return body.media_type, body.files[""], None
    if "features" not in body.files or body.files.keys() - {"features", "keys"}:
        raise UnsupportedMediaType(
            "A form has the file `features` (.npy) and, if you like, the file `keys` (a line each)."
        )
    return "application/x-npy", body.files["features"], body.files.get("keys")
