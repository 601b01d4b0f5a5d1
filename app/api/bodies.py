"""Bodies: JSON that is read strictly, and uploads that go to the disk.

An upload is never whole in memory: it is hashed as it passes, and its files are deleted when the request ends. Small
JSON does not touch the disk. Large JSON is read only from a key that may send it, and waits on the disk until there is
memory for it.
"""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial, wraps
from hashlib import sha256
from inspect import isasyncgenfunction, iscoroutinefunction
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException

from app.api.dependencies import IdempotencyKey, admitted, allowed, scope_of, write_transactions
from app.api.limits import run_short
from app.api.problems import unknown_parameter
from app.domain.access import Actor, Scope
from app.domain.errors import BodyTooLarge, Finding, Invalid, UnsupportedMediaType
from app.services.intake import json_text
from app.services.intake.xlsx import XLSX, xlsx_memory
from app.services.memory import PER_TABLE_BYTE
from app.services.transactions import WriteTransactions
from app.temporary_folders import TemporaryFolder

PIECE = 1 << 20
SMALL = 64 * 1024  # bytes of JSON that are read on the event loop, and from anyone


def function_name(route: APIRoute) -> str:
    """An operation is called as its function is, and so are the functions of generated clients."""
    return route.name


class StrictRoute(APIRoute):
    """A route that refuses unknown query parameters and reads JSON strictly, large bodies off the event loop.

    An endpoint that blocks runs on a thread for short requests, and is refused if none becomes free in time.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        blocks = not (iscoroutinefunction(endpoint) or isasyncgenfunction(endpoint))
        options["generate_unique_id_function"] = function_name
        super().__init__(path, _on_a_thread(endpoint) if blocks else endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        parameters, scope = set(_query_parameters(self.dependant)), scope_of(self.dependant)

        async def strict(request: Request) -> Response:
            given = [name for name, _ in request.query_params.multi_items()]
            unknown = [(name, given.index(name) + 1) for name in dict.fromkeys(given) if name not in parameters]
            if unknown:
                raise Invalid([unknown_parameter(name, position, parameters) for name, position in unknown])
            with ExitStack() as held:
                return await handle(_StrictRequest(request, scope, held))

        return strict


def _on_a_thread(endpoint: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    @wraps(endpoint)
    async def run(**arguments: Any) -> Any:
        return await run_short(partial(endpoint, **arguments))

    return run


def _query_parameters(dependant: Dependant) -> Iterator[str]:
    """The query parameters of an operation and of everything it depends on."""
    yield from (field.alias for field in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _query_parameters(inner)


class _StrictRequest(Request):
    """A request whose body, unless it is an upload, is JSON.

    FastAPI reads the body before it looks at the key. So the key is looked at here, when the body proves to be large.
    """

    def __init__(self, request: Request, scope: Scope | None, held: ExitStack) -> None:
        super().__init__(request.scope, request.receive)
        self._key_scope = scope  # None if the route needs no key
        self._held = held  # until the request is answered

    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            self._body = await self._whole_body()
        return self._body

    async def _whole_body(self) -> bytes:
        beginning, pieces = bytearray(), self.stream()
        async for piece in pieces:
            beginning += piece
            if len(beginning) > SMALL:
                return await self._large_body(bytes(beginning), pieces)
        return bytes(beginning)

    async def _large_body(self, beginning: bytes, pieces: AsyncIterator[bytes]) -> bytes:
        if self._key_scope is None:
            raise BodyTooLarge
        await admitted(self, self._key_scope)
        resources = self.app.state.resources
        with TemporaryFile(prefix="nextbatch-") as file:
            size = await run_in_threadpool(file.write, beginning)
            async for piece in pieces:
                size += await run_in_threadpool(file.write, piece)
                if size > resources.settings.max_json_bytes:
                    raise BodyTooLarge
            self._held.enter_context(resources.memory.reserve(PER_TABLE_BYTE * size))
            file.seek(0)
            return await run_in_threadpool(file.read)

    async def json(self) -> Any:
        body = await self.body()
        return json_text.loads(body) if len(body) <= SMALL else await run_short(partial(json_text.loads, body))


@dataclass(frozen=True)
class Spooled:
    """The files of a body by name (a plain body is one file with an empty name), and the hash of them all."""

    media_type: str
    files: dict[str, Path]
    digest: str
    actor: Actor  # who sent it
    json: bytes | None = None  # instead of files, if it is small


@cache  # one dependency for all who name it: a body can be read only once
def spooled(scope: Scope) -> Callable[..., AsyncIterator[Spooled]]:
    """The dependency that writes a body to temporary files, once its sender is known to have the scope."""

    async def body(request: Request, actor: Annotated[Actor, Depends(allowed(scope))]) -> AsyncIterator[Spooled]:
        async with spool(request, actor) as spooled:
            yield spooled

    return body


@asynccontextmanager
async def spool(request: Request, actor: Actor, *, json_in_memory: bool = False) -> AsyncIterator[Spooled]:
    """The body in temporary files that last as long as the block; a small JSON document in memory, if that is asked."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if json_in_memory and media_type == "application/json" and _is_small(request):
        whole = await request.body()
        yield Spooled(media_type, {}, sha256(whole).hexdigest(), actor, whole)
        return
    digest = sha256()
    with TemporaryFolder() as folder:
        if media_type == "multipart/form-data":
            files = await _parts(request, folder.path, digest)
        else:
            files = {"": await _whole(request, folder.path / "body", digest)}
        yield Spooled(media_type, files, digest.hexdigest(), actor)


def uploading(scope: Scope) -> Any:
    """As `writing`, for a body that is spooled."""
    body_of = spooled(scope)

    async def dependency(
        request: Request, body: Annotated[Spooled, Depends(body_of)], idempotency_key: IdempotencyKey = None
    ) -> WriteTransactions:
        return write_transactions(request, body.actor, idempotency_key, body.digest)

    return Depends(dependency)


def _is_small(request: Request) -> bool:
    """Whether the declared length is small; it is an upper bound. A chunked body declares none."""
    declared = request.headers.get("content-length", "")
    return declared.isdecimal() and int(declared) <= SMALL


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
    """The files of a form, each under the name of its field."""
    files: dict[str, Path] = {}
    try:
        form = await request.form(max_files=4, max_fields=4)
    except MultiPartException:
        raise Invalid([Finding("form", "The multipart form cannot be read.")]) from None
    try:
        for number, (name, part) in enumerate(form.multi_items()):
            if not isinstance(part, UploadFile) or name in files:
                raise Invalid([Finding("form", "Send every field of the form as one file.")])
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


def sheet_file(body: Spooled) -> tuple[str, Path]:
    """Media type and file of a sheet, sent as it is or as `sheet` in a form."""
    if body.media_type in ("text/csv", XLSX):
        return body.media_type, body.files[""]
    if body.media_type == "multipart/form-data" and body.files.keys() == {"sheet"}:
        return table_type(body.files["sheet"]), body.files["sheet"]
    raise UnsupportedMediaType(
        f"Send observations as application/json, text/csv or {XLSX}, or as the file `sheet` of a form."
    )


def table_type(path: Path) -> str:
    """A spreadsheet is a zip file; forms rarely say what their files are."""
    with path.open("rb") as file:
        return XLSX if file.read(2) == b"PK" else "text/csv"


def table_memory(path: Path) -> int:
    """The bytes of memory that reading a table or a document takes, about."""
    return xlsx_memory(path) if table_type(path) == XLSX else PER_TABLE_BYTE * path.stat().st_size


def candidate_files(body: Spooled) -> tuple[str, Path, Path | None]:
    """Media type, candidates and (in a form beside `features`, a .npy) `keys`."""
    if body.media_type != "multipart/form-data":
        return body.media_type, body.files[""], None
    if body.files.keys() == {"candidates"}:
        return table_type(body.files["candidates"]), body.files["candidates"], None
    if "features" not in body.files or body.files.keys() - {"features", "keys"}:
        raise UnsupportedMediaType(
            "A form has the file `candidates` (CSV or .xlsx); or it has the file `features` (.npy) and may have"
            " the file `keys`, with one key per line."
        )
    return "application/x-npy", body.files["features"], body.files.get("keys")
