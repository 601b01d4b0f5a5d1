"""The page: its built files as they are, and its own addresses, which all open the same document.

`page/build.py` builds it from `page/src` into `app/web`. Links in the documents are relative to the address that was
asked for, so that the page also works below a path prefix. The document of a view names the files that the view needs,
and for somebody who is signed in the answers that it will ask for first: on a slow line every round trip counts.
"""

import gzip
import re
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Literal

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.domain.errors import Missing
from app.domain.limits import is_name

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
SIGNED_IN = "nextbatch_here"  # set by page/src/core/session.ts; the session's own cookie is sent to the API alone
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
    filled = template.replace(b"{answers}", _answers(request).encode()).replace(b"{files}", _files(request, template))
    return _answer(request, name, filled.replace(b"{root}", root.encode()))


def _answers(request: Request) -> str:
    """Links to the answers that a view asks for first, if the browser says that somebody is signed in."""
    if SIGNED_IN not in request.cookies:
        return ""
    wanted = _wanted_answers(request.url.path.strip("/").split("/"))
    return "".join(f'<link rel="preload" as="fetch" crossorigin href="{{root}}v1/{path}">' for path in wanted)


def _wanted_answers(place: list[str]) -> list[str]:
    match place:
        case [""]:
            return ["studies?after=0&amp;limit=1000"]
        case ["studies", name, "bench", worker] if is_name(name) and is_name(worker):
            listed = f"studies/{name}/batches?worker={worker}&amp;after=0&amp;limit=1000"
            results = f"studies/{name}/observations?after=0&amp;limit=10000"
            return [f"studies/{name}", f"studies/{name}/summary", listed, results]
        case ["studies", name, "bench"] if is_name(name):
            return [f"studies/{name}", f"studies/{name}/summary"]
        case ["studies", name, *_] if is_name(name):
            return [f"studies/{name}", f"studies/{name}/summary", f"studies/{name}/trace"]
    return []


def _files(request: Request, template: bytes) -> bytes:
    """Links to the scripts of a study's view, which the first script would otherwise ask for later."""
    match request.url.path.strip("/").split("/"):
        case ["studies", _]:
            parts = [b"study"]
        case ["studies", _, part, *_] if part != "bench":
            parts = [b"study", b"parts"]
        case _:
            parts = []
    named = [re.search(rb'data-%s="([^"]*)"' % part, template) for part in parts]
    files = dict.fromkeys(file for match in named if match for file in match[1].split())
    return b"".join(b'<link rel="modulepreload" href="{root}web/%s">' % file for file in files)


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


@lru_cache(maxsize=256)  # every study has a document of its own
def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)
