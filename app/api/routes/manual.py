"""The documentation as a site, below `/manual/`: `make docs` builds it from `docs` into `app/manual`."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, RedirectResponse, Response

from app.api.routes.page import POLICY
from app.domain.errors import Missing

router = APIRouter(include_in_schema=False)

_NOT_BUILT = (
    "This installation has no manual. `make docs` builds it in the source folder; a wheel or container image has it if"
    " that was done before it was built. The guides are on the page of this server, below /help."
)
_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


@router.get("/manual")
def manual() -> Response:
    return RedirectResponse("manual/", status_code=307)


@router.get("/manual/{name:path}")
def file(request: Request, name: str) -> Response:  # noqa: ARG001
    known = _files()
    if not known:
        return Response(_NOT_BUILT, status_code=503, media_type="text/plain; charset=utf-8")
    path = known.get(name or "index.html")
    if path is None:
        raise Missing
    return FileResponse(path, headers={"Cache-Control": "no-cache", "Content-Security-Policy": _policy(path)})


@cache
def _files() -> dict[str, Path]:
    """Every file by its address: what is not in it cannot be asked for."""
    with as_file(files("app") / "manual") as folder:
        return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}


@cache
def _policy(path: Path) -> str:
    """The page's own policy, which lets the theme's inline scripts pass by their hashes, and its inline styles."""
    if path.suffix != ".html":
        return POLICY
    scripts = {b64encode(sha256(content).digest()).decode() for content in _INLINE.findall(path.read_bytes())}
    allowed = " ".join(f"'sha256-{digest}'" for digest in sorted(scripts))
    lenient = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
    return f"{lenient}; script-src 'self' {allowed}"
