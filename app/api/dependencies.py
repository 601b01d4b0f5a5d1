"""What a route asks for: a way to read or to write, for a key that has the scope. Access is checked here alone.

What waits for nothing is `async`: anything else costs a thread of the pool. FastAPI walks the whole tree of a route's
dependencies for each request, what it has solved already included: so the tree is flat.
"""

from collections.abc import Awaitable, Callable
from functools import cache
from hashlib import sha256
from time import monotonic
from typing import Annotated, Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import Depends, Header, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from app.api import sessions
from app.api.limits import LongWork, Places, refuse_a_long_line, refuse_a_long_wait
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


def _signed_in(request: Request, credentials: HTTPAuthorizationCredentials | None, arrived: float) -> Key:
    """The key in the Authorization header, else that of the browser's session."""
    refuse_a_long_wait(arrived)
    spelling = credentials.credentials if credentials else sessions.key_of(request)
    if spelling is None:
        raise Unauthenticated
    known: Resources = request.app.state.resources
    with known.database.read() as connection:
        return authenticate(connection, spelling)


@cache
def allowed(scope: Scope) -> Callable[..., Awaitable[Actor]]:
    """The dependency that lets only keys with `scope` through, unless more wait than will be served soon."""

    async def actor(
        request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]
    ) -> Actor:
        state = request.app.state
        refuse_a_long_line(current_default_thread_limiter(), state.resources.settings.max_waiting)
        key = await run_in_threadpool(_signed_in, request, credentials, monotonic())
        state.rates.count(key.id)
        key.must(scope)
        return Actor(key, request.scope["request_id"])

    actor.__dict__["scope"] = scope  # read by the test that walks every route
    return actor


def reading(scope: Scope) -> Any:
    """`Annotated[Reading, reading(Scope.READ)]`"""

    async def dependency(request: Request, actor: Annotated[Actor, Depends(allowed(scope))]) -> Reading:
        return Reading(request.app.state.resources.database, actor)

    return Depends(dependency)


IdempotencyKey = Annotated[
    str | None,
    Header(
        max_length=200,
        pattern=r"^[!-~]+$",
        description="The same request again under the same key has one effect and one answer.",
    ),
]


def writing(scope: Scope) -> Any:
    """`Annotated[Writing, writing(Scope.MANAGE)]`: with the request's Idempotency-Key, if it has one."""

    async def dependency(
        request: Request, actor: Annotated[Actor, Depends(allowed(scope))], idempotency_key: IdempotencyKey = None
    ) -> Writing:
        return writing_as(request, actor, idempotency_key, sha256(await request.body()).hexdigest())

    return Depends(dependency)


def writing_as(request: Request, actor: Actor, token: str | None, body_digest: str) -> Writing:
    """What a request of this actor may write with; its identity is its method, its address and its body."""
    identity = "\n".join((request.method, request.url.path, request.url.query, body_digest))
    return Writing(request.app.state.resources.database, actor, token, sha256(identity.encode()).hexdigest())


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
