"""What a route depends on: transactions for a key that has the scope. Access is checked only here.

A dependency that never blocks is `async`, because any other one takes a thread of the pool. FastAPI walks the whole
tree of a route's dependencies for each request, including those it has resolved already, so the tree is flat.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from hashlib import sha256
from typing import Annotated, Any

import structlog
from anyio.to_thread import current_default_thread_limiter
from fastapi import Depends, Header, Query, Request, Security
from fastapi.dependencies.models import Dependant
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from app.api import sessions
from app.api.limits import ConcurrencyLimit, LongRunner, refuse_a_long_line, run_short
from app.domain.access import Actor, Key, Scope
from app.domain.errors import Finding, Invalid, PreconditionRequired, Unauthenticated
from app.services.resources import Resources
from app.services.tickets import redeem
from app.services.transactions import ReadTransactions, WriteTransactions
from app.services.use_cases.access import authenticate
from app.services.use_cases.audit import record_read

ADDRESS_LENGTH = 100

_bearer = HTTPBearer(auto_error=False, scheme_name="key", description="An API key: `nb_…`")


async def get_resources(request: Request) -> Resources:
    resources: Resources = request.app.state.resources
    return resources


async def get_long_runner(request: Request) -> LongRunner:
    return LongRunner(request, request.app.state.long_work)


async def get_ask_limit(request: Request) -> ConcurrencyLimit:
    limit: ConcurrencyLimit = request.app.state.ask_limit
    return limit


def _plaintext_key(request: Request, credentials: HTTPAuthorizationCredentials | None) -> str:
    """The key in the Authorization header, else that of the browser's session."""
    plaintext_key = credentials.credentials if credentials else sessions.key_of(request)
    if plaintext_key is None:
        raise Unauthenticated
    return plaintext_key


def secret_of(request: Request) -> str:
    """The key that an admitted request came with, as it was sent."""
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    return sent.strip() if scheme.lower() == "bearer" else sessions.key_of(request) or ""


def _authenticated(request: Request, plaintext_key: str) -> Key:
    """The key as the database has it, remembered for a moment."""
    resources: Resources = request.app.state.resources
    with resources.database.read() as connection:
        key = authenticate(connection, plaintext_key)
    request.app.state.admissions.remember(plaintext_key, key)
    return key


def client_address(request: Request) -> str | None:
    """Where the request came from."""
    return request.client.host[:ADDRESS_LENGTH] if request.client else None


@cache
def allowed(scope: Scope, *, from_memory: bool = False) -> Callable[..., Awaitable[Actor]]:
    """The dependency that admits only keys with `scope`, and refuses those to be looked up while too many wait.

    With `from_memory`, a key of a moment ago is not looked up: for routes that tell and do nothing but in transactions.
    """

    async def actor(
        request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]
    ) -> Actor:
        acting: Actor | None = request.scope.get("actor")
        if acting is None:
            acting = await admit(request, _plaintext_key(request, credentials), scope, from_memory=from_memory)
            await _record_if_asked(request, acting)
        return acting

    actor.__dict__["scope"] = scope  # read by `scope_of`
    return actor


async def admitted(request: Request, scope: Scope) -> Actor:
    """The actor of a request whose dependencies have not been resolved yet."""
    return await allowed(scope)(request, await _bearer(request))


def scope_of(dependant: Dependant) -> Scope | None:
    """The scope that a route asks its keys for; None if it needs no key."""
    own = getattr(dependant.call, "__dict__", {}).get("scope")
    inner = (scope_of(dependency) for dependency in dependant.dependencies)
    return own or next((scope for scope in inner if scope is not None), None)


async def _record_if_asked(request: Request, acting: Actor) -> None:
    """Record a read in the audit log, if the operator wants that."""
    resources: Resources = request.app.state.resources
    if resources.settings.audit_reads and request.method in ("GET", "HEAD"):
        tx = ReadTransactions(resources.database, acting)
        await run_short(partial(tx.record, record_read, request.method, request.url.path))


async def admit(request: Request, plaintext_key: str, scope: Scope, *, from_memory: bool = False) -> Actor:
    """The actor of a request, if its key has the scope and no limit is reached."""
    state = request.app.state
    key: Key | None = state.admissions.find(plaintext_key) if from_memory else None
    is_remembered = key is not None
    if key is None:
        refuse_a_long_line(current_default_thread_limiter(), state.resources.settings.max_waiting)
        key = await run_short(partial(_authenticated, request, plaintext_key))
    request.scope["key_id"] = key.id
    structlog.contextvars.bind_contextvars(key_id=key.id)  # in every line of the log about this request
    state.rate_limit.count(key.id)
    state.key_uses.note(key.id)
    key.must(scope)
    acting = Actor(key, request.scope["request_id"], client_address(request), is_remembered)
    request.scope["actor"] = acting
    return acting


def reading(scope: Scope) -> Any:
    """`Annotated[ReadTransactions, reading(Scope.READ)]`"""

    async def dependency(request: Request, actor: Annotated[Actor, Depends(allowed(scope))]) -> ReadTransactions:
        return ReadTransactions(request.app.state.resources.database, actor)

    return Depends(dependency)


async def following(
    request: Request,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    ticket: Annotated[
        str | None, Query(max_length=100, description="Instead of a key: a ticket, which is used up by this.")
    ] = None,
) -> ReadTransactions:
    """Admits a key that may read, or a ticket that such a key got for this study."""
    state = request.app.state
    if ticket is None:
        return ReadTransactions(state.resources.database, await allowed(Scope.READ)(request, credentials))
    key = await run_short(partial(redeem, state.resources.database, request.path_params["study"], ticket))
    request.scope["key_id"] = key.id
    structlog.contextvars.bind_contextvars(key_id=key.id)
    state.rate_limit.count(key.id)
    key.must(Scope.READ)
    acting = Actor(key, request.scope["request_id"], client_address(request))
    await _record_if_asked(request, acting)
    return ReadTransactions(state.resources.database, acting)


IDEMPOTENCY_KEY, LONGEST_IDEMPOTENCY_KEY = r"^[!-~]+$", 200
IdempotencyKey = Annotated[
    str | None,
    Header(
        max_length=LONGEST_IDEMPOTENCY_KEY,
        pattern=IDEMPOTENCY_KEY,
        description="The same request again under the same key has one effect and one answer.",
    ),
]


def writing(scope: Scope) -> Any:
    """`Annotated[WriteTransactions, writing(Scope.MANAGE)]`, with the request's Idempotency-Key if it has one."""

    async def dependency(
        request: Request, actor: Annotated[Actor, Depends(allowed(scope))], idempotency_key: IdempotencyKey = None
    ) -> WriteTransactions:
        return write_transactions(request, actor, idempotency_key, sha256(await request.body()).hexdigest())

    return Depends(dependency)


def write_transactions(request: Request, actor: Actor, token: str | None, body_digest: str) -> WriteTransactions:
    """The transactions of a writing request, identified by its method, its address and its body."""
    identity = request.method, request.url.path, request.url.query, body_digest
    return transactions(request.app.state.resources, actor, token, identity, request.path_params.get("study"))


def transactions(
    resources: Resources, actor: Actor, token: str | None, identity: Sequence[str], study: str | None
) -> WriteTransactions:
    """The transactions of a request with this identity: another one with the same token is refused."""
    fingerprint = sha256("\n".join(identity).encode()).hexdigest()
    return WriteTransactions(resources.database, actor, token, fingerprint, study)


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
        raise Invalid([Finding("etag", "Write the ETag of an earlier answer in If-Match.")])
    return int(version)


CanRead = Annotated[ReadTransactions, reading(Scope.READ)]
CanFollow = Annotated[ReadTransactions, Depends(following)]
CanExport = Annotated[ReadTransactions, reading(Scope.MANAGE)]
CanGetTickets = Annotated[WriteTransactions, writing(Scope.READ)]
CanAsk = Annotated[WriteTransactions, writing(Scope.ASK)]
CanReport = Annotated[WriteTransactions, writing(Scope.REPORT)]
CanManage = Annotated[WriteTransactions, writing(Scope.MANAGE)]
CanListKeys = Annotated[ReadTransactions, reading(Scope.KEYS)]
CanChangeKeys = Annotated[WriteTransactions, writing(Scope.KEYS)]
ResourcesDep = Annotated[Resources, Depends(get_resources)]
RunLong = Annotated[LongRunner, Depends(get_long_runner)]
AskLimit = Annotated[ConcurrencyLimit, Depends(get_ask_limit)]
SeenVersion = Annotated[int | None, Depends(seen_version)]
