"""The page: its built files as they are, and its own addresses, which all open the same document.

`page/build.py` builds it from `page/src` into `app/web`. Links in the documents are relative to the address that was
asked for, so that the page also works below a path prefix.
"""

import gzip
import re
from functools import cache
from hashlib import sha256
from importlib.resources import files
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
StudyPart = Literal[
    "results", "candidates", "insights", "map", "batches", "events", "forecast", "settings", "audit", "bench"
]
_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_NAMED_BY_CONTENT = re.compile(r"-[A-Z0-9]{8}\.(?:js|css)$")
_NOT_BUILT = "The page is not built: run `make setup`, or `python page/build.py`. The API works without it."


@router.get("/")
@router.get("/create")
@router.get("/compare")
@router.get("/people")
@router.get("/help")
@router.get("/help/{guide}")
@router.get("/studies/{study}")
@router.get("/studies/{study}/bench/{worker}")
@router.get("/studies/{study}/candidates/{key:path}")
def page(request: Request) -> Response:
    return _document(request, "index.html")


@router.get("/studies/{study}/{part}")
def part_of_a_study(request: Request, part: StudyPart) -> Response:  # noqa: ARG001
    return _document(request, "index.html")


@router.get("/docs")
def docs(request: Request) -> Response:
    return _document(request, "docs.html")


@router.get("/favicon.ico")
def icon(request: Request) -> Response:
    return _file(request, "icon.svg")


@router.get("/web/{name}")
def file(request: Request, name: str) -> Response:
    return _file(request, name)


@cache
def _folder() -> dict[str, bytes]:
    """Every file by its name: what is not in it cannot be asked for."""
    folder = files("app") / "web"
    entries = list(folder.iterdir()) if folder.is_dir() else []
    return {entry.name: entry.read_bytes() for entry in entries if entry.name.rpartition(".")[2] in _TYPES}


def _document(request: Request, name: str) -> Response:
    """A document whose links begin with the way back to the root: `../` for each folder of its address."""
    template = _folder().get(name)
    if template is None:
        return Response(_NOT_BUILT, status_code=503, media_type="text/plain; charset=utf-8")
    root = "../" * (request.url.path.count("/") - 1) or "./"
    return _answer(request, name, template.replace(b"{root}", root.encode()))


def _file(request: Request, name: str) -> Response:
    content = _folder().get(name)
    if content is None or name.endswith(".html"):
        raise Missing
    return _answer(request, name, content)


def _answer(request: Request, name: str, content: bytes) -> Response:
    etag = f'"{sha256(content).hexdigest()[:32]}"'
    lasting = "public, max-age=31536000, immutable" if _NAMED_BY_CONTENT.search(name) else "no-cache"
    headers = {"ETag": etag, "Cache-Control": lasting, "Content-Security-Policy": POLICY, "Vary": "Accept-Encoding"}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        content, headers["Content-Encoding"] = _compressed(content), "gzip"
    return Response(content, media_type=_TYPES[name.rpartition(".")[2]], headers=headers)


@cache
def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)
