"""A browser's session: the key in a cookie that scripts cannot read, and writes only from our own page.

docs/decisions/0015-page-session.md says why the cookie carries the key itself.
"""

import re
from urllib.parse import urlsplit

from fastapi import Request
from starlette.responses import Response

from app.domain.errors import Denied

COOKIE = "nextbatch_session"
REMEMBERED_SECONDS = 30 * 24 * 3600
_PATH = "/v1"  # where keys are asked for; the page's files need none
_PREFIX = re.compile(r"(?:/[A-Za-z0-9._~-]{1,100}){1,10}")
_READS = ("GET", "HEAD", "OPTIONS")


def start(response: Response, request: Request, key: str, *, remember: bool) -> None:
    """Keep the key until the browser closes, or for a month if the device is to be remembered."""
    response.set_cookie(
        COOKIE,
        key,
        max_age=REMEMBERED_SECONDS if remember else None,
        path=_path(request),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def end(response: Response, request: Request) -> None:
    response.delete_cookie(COOKIE, path=_path(request), httponly=True, samesite="strict")


def _path(request: Request) -> str:
    """Where the browser sends the cookie."""
    return prefix_of(request) + _PATH


def prefix_of(request: Request) -> str:
    """The prefix below which the browser sees this server, if a proxy says that it has removed one."""
    prefix = request.headers.get("x-forwarded-prefix", "").rstrip("/")
    return prefix if _PREFIX.fullmatch(prefix) else ""


def key_of(request: Request) -> str | None:
    """The key of this browser's session; for a write, only if our own page sends it."""
    key = request.cookies.get(COOKIE)
    if key is not None and request.method not in _READS:
        must_be_our_own_page(request)
    return key


def must_be_our_own_page(request: Request) -> None:
    """Refuse what another site's page sent. Browsers tell where a request comes from; scripts cannot forge that."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        ours = site == "same-origin"
    else:
        ours = origin is not None and urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
    if not ours:
        raise Denied("A browser's session writes only from the server's own page. Elsewhere, send the API key itself.")
