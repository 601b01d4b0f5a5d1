"""What a route asks for: a way to read or to write, for a key that has the scope. Access is checked here alone."""

from collections.abc import Callable
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from app.domain.access import Actor, Key, Scope
from app.domain.errors import Invalid, PreconditionRequired, Unauthenticated
from app.domain.findings import Finding
from app.services.access import authenticate
from app.services.resources import Resources
from app.services.transactions import Reading, Writing

_bearer = HTTPBearer(auto_error=False, scheme_name="key", description="An API key: `nb_…`")


def resources(request: Request) -> Resources:
    found: Resources = request.app.state.resources
    return found


def signed_in(
    known: Annotated[Resources, Depends(resources)],
    credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
) -> Key:
    if credentials is None:
        raise Unauthenticated
    with known.database.read() as connection:
        return authenticate(connection, credentials.credentials)


def _allowed(scope: Scope) -> Callable[..., Actor]:
    def allowed(request: Request, key: Annotated[Key, Depends(signed_in)]) -> Actor:
        key.must(scope)
        return Actor(key, request.scope["request_id"])

    allowed.__dict__["scope"] = scope  # read by the test that walks every route
    return allowed


def reading(scope: Scope) -> Any:
    """`Annotated[Reading, reading(Scope.READ)]`"""

    def dependency(known: Annotated[Resources, Depends(resources)], actor: Annotated[Actor, Depends(_allowed(scope))]) -> Reading:
        return Reading(known.database, actor)

    return Depends(dependency)


def writing(scope: Scope) -> Any:
    """`Annotated[Writing, writing(Scope.MANAGE)]`: with the request's Idempotency-Key, if it has one."""

    async def dependency(
        request: Request,
        known: Annotated[Resources, Depends(resources)],
        actor: Annotated[Actor, Depends(_allowed(scope))],
        idempotency_key: Annotated[
            str | None,
            Header(
                max_length=200,
                pattern=r"^[!-~]+$",
                description="The same request again under the same key has one effect and one answer.",
            ),
        ] = None,
    ) -> Writing:
        fingerprint = await _fingerprint(request) if idempotency_key else ""
        return Writing(known.database, actor, idempotency_key, fingerprint)

    return Depends(dependency)


def seen_version(
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


async def _fingerprint(request: Request) -> str:
    """One request's identity: method, address, content type and body (which an upload has hashed on its way in)."""
    body = request.scope.get("body_digest") or sha256(await request.body()).hexdigest()
    parts = (request.method, request.url.path, request.url.query, request.headers.get("content-type", ""), body)
    return sha256("\n".join(parts).encode()).hexdigest()


CanRead = Annotated[Reading, reading(Scope.READ)]
CanManage = Annotated[Writing, writing(Scope.MANAGE)]
CanListKeys = Annotated[Reading, reading(Scope.KEYS)]
CanChangeKeys = Annotated[Writing, writing(Scope.KEYS)]
SeenVersion = Annotated[int | None, Depends(seen_version)]
