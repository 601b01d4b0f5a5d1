"""What a route asks for: a way to read or to write, for a key that has the scope. Access is checked here alone.

What waits for nothing is `async`: anything else costs a thread of the pool.
"""

from collections.abc import Awaitable, Callable
from functools import cache
from hashlib import sha256
from time import monotonic
from typing import Annotated, Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import Depends, Header, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from app.api import sessions
from app.api.limits import LongWork, Places, Rates, refuse_a_long_line, refuse_a_long_wait
from app.domain.access import Actor, Key, Scope
from app.domain.errors import Invalid, PreconditionRequired, Unauthenticated
from app.domain.findings import Finding
from app.services.access import authenticate
from app.services.resources import Resources
from app.services.transactions import Reading, Writing

_bearer = HTTPBearer(auto_error=False, scheme_name="key", description="An API key: `nb_…`")


async def resources(request: Request) -> Resources:
    found: Resources = request.app.state.resources
    return found


Known = Annotated[Resources, Depends(resources)]


async def at_length(request: Request) -> LongWork:
    found: LongWork = request.app.state.long_work
    return found


async def askers(request: Request) -> Places:
    found: Places = request.app.state.askers
    return found


async def admitted(known: Known) -> float:
    """When the request came, unless more wait for a thread than will be served soon."""
    refuse_a_long_line(current_default_thread_limiter(), known.settings.max_waiting)
    return monotonic()


def signed_in(
    request: Request,
    known: Known,
    arrived: Annotated[float, Depends(admitted)],
    credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
) -> Key:
    """The key in the Authorization header, else that of the browser's session."""
    refuse_a_long_wait(arrived)
    spelling = credentials.credentials if credentials else sessions.key_of(request)
    if spelling is None:
        raise Unauthenticated
    with known.database.read() as connection:
        return authenticate(connection, spelling)


@cache
def allowed(scope: Scope) -> Callable[..., Awaitable[Actor]]:
    """The dependency that lets only keys with `scope` through."""

    async def actor(request: Request, key: Annotated[Key, Depends(signed_in)]) -> Actor:
        rates: Rates = request.app.state.rates
        rates.count(key.id)
        key.must(scope)
        return Actor(key, request.scope["request_id"])

    actor.__dict__["scope"] = scope  # read by the test that walks every route
    return actor


def reading(scope: Scope) -> Any:
    """`Annotated[Reading, reading(Scope.READ)]`"""

    async def dependency(known: Known, actor: Annotated[Actor, Depends(allowed(scope))]) -> Reading:
        return Reading(known.database, actor)

    return Depends(dependency)


async def body_digest(request: Request) -> str:
    return sha256(await request.body()).hexdigest()


def writing(scope: Scope, digest: Callable[..., Any] = body_digest) -> Any:
    """`Annotated[Writing, writing(Scope.MANAGE)]`: with the request's Idempotency-Key, if it has one."""

    async def dependency(
        request: Request,
        known: Known,
        actor: Annotated[Actor, Depends(allowed(scope))],
        body: Annotated[str, Depends(digest)],
        idempotency_key: Annotated[
            str | None,
            Header(
                max_length=200,
                pattern=r"^[!-~]+$",
                description="The same request again under the same key has one effect and one answer.",
            ),
        ] = None,
    ) -> Writing:
        return Writing(known.database, actor, idempotency_key, _fingerprint(request, body))

    return Depends(dependency)


async def seen_version(
    if_match: Annotated[
        str | None, Header(description="The ETag of the version you saw, or `*` for whatever it is now.")
    ] = None,
) -> int | None:
    """The version in If-Match; None for `*`."""
    if if_match is None:
        raise PreconditionRequired
    if if_match == "*":
        return None
    version = if_match.strip('"')
    if not (version.isascii() and version.isdigit() and len(version) < 16):
        raise Invalid([Finding("etag", "If-Match must be the ETag of an earlier answer.")])
    return int(version)


def _fingerprint(request: Request, body: str) -> str:
    """One request's identity: method, address and body."""
    parts = (request.method, request.url.path, request.url.query, body)
    return sha256("\n".join(parts).encode()).hexdigest()


CanRead = Annotated[Reading, reading(Scope.READ)]
CanExport = Annotated[Reading, reading(Scope.MANAGE)]
CanCheck = Annotated[Reading, reading(Scope.READ)]
CanAsk = Annotated[Writing, writing(Scope.ASK)]
CanReport = Annotated[Writing, writing(Scope.REPORT)]
CanManage = Annotated[Writing, writing(Scope.MANAGE)]
CanListKeys = Annotated[Reading, reading(Scope.KEYS)]
CanChangeKeys = Annotated[Writing, writing(Scope.KEYS)]
AtLength = Annotated[LongWork, Depends(at_length)]
Askers = Annotated[Places, Depends(askers)]
SeenVersion = Annotated[int | None, Depends(seen_version)]
