"""The page: its files as they are, and its own addresses, which all open the same document."""

from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Literal

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.domain.errors import Missing

router = APIRouter(include_in_schema=False)

POLICY = "; ".join(
    (
        "default-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "object-src 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    )
)
Part = Literal["candidates", "map", "batches", "events", "settings", "bench"]
_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
}


@router.get("/")
@router.get("/create")
@router.get("/studies/{study}")
@router.get("/studies/{study}/bench/{worker}")
def page(request: Request) -> Response:
    return _file(request, "index.html")


@router.get("/studies/{study}/{part}")
def part_of_a_study(request: Request, part: Part) -> Response:  # noqa: ARG001
    return _file(request, "index.html")


@router.get("/docs")
def docs(request: Request) -> Response:
    return _file(request, "docs.html")


@router.get("/favicon.ico")
def icon(request: Request) -> Response:
    return _file(request, "icon.svg")


@router.get("/web/{name:path}")
def file(request: Request, name: str) -> Response:
    return _file(request, name)


@cache
def _folder() -> dict[str, Traversable]:
    """Every file by its name: what is not in it cannot be asked for."""
    found: dict[str, Traversable] = {}

    def walk(folder: Traversable, before: str) -> None:
        for entry in folder.iterdir():
            if entry.is_dir():
                walk(entry, f"{before}{entry.name}/")
            elif entry.name.rpartition(".")[2] in _TYPES:
                found[before + entry.name] = entry

    walk(files("app") / "web", "")
    return found


def _file(request: Request, name: str) -> Response:
    entry = _folder().get(name)
    if entry is None:
        raise Missing
    content = entry.read_bytes()
    etag = f'"{sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache", "Content-Security-Policy": POLICY}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_TYPES[name.rpartition(".")[2]], headers=headers)
