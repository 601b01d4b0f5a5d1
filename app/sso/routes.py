"""/session/sso: begin to sign on at the provider, and come back from it."""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from contextlib import suppress
from hashlib import sha256
from time import time
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import RedirectResponse, Response

from app.api import sessions
from app.api.bodies import StrictRoute
from app.api.dependencies import ResourcesDep, client_address
from app.api.problems import documented
from app.api.schemas.shape import Shape
from app.domain.access import Actor
from app.domain.errors import Missing, Unauthenticated
from app.services.resources import Resources
from app.services.signing import Signer
from app.services.transactions import Answer, WriteTransactions
from app.services.use_cases.access import SERVER
from app.sso import people
from app.sso.provider import Provider, SignOn

router = APIRouter(
    prefix="/session/sso",
    tags=["session"],
    route_class=StrictRoute,
    responses=documented(
        *("not-found", "unauthenticated", "forbidden", "misdirected-host", "invalid-input", "internal-error"),
        *("database-unavailable", "database-busy", "overloaded", "schema-changed", "storage-full", "outcome-unknown"),
        *("database-damaged", "database-replaced", "two-lengths", "body-too-large", "body-too-slow"),
    ),
)

COOKIE = "nextbatch_sign_on"
SECONDS = 600  # to sign on
_PURPOSE = b"nextbatch sign-on\n"


class SsoOut(Shape):
    available: bool = Field(description="Whether people can sign on at a provider.")
    name: str | None = Field(description="What the provider is called.")


@router.get("/status", summary="Whether people can sign on elsewhere")
async def sso_status(resources: ResourcesDep) -> SsoOut:
    """For the page's sign-in form."""
    settings = resources.settings
    return SsoOut(available=settings.sso_issuer is not None, name=settings.sso_name if settings.sso_issuer else None)


# Browsers go here by themselves; no client calls these two.
@router.get("", summary="Sign on at the provider", response_class=RedirectResponse, include_in_schema=False)
def begin_sign_on(request: Request, resources: ResourcesDep) -> Response:
    """Sends the browser to the provider."""
    provider = _provider(request)
    with provider.turn():
        address, attempt = provider.begin(_callback(request))
    response = RedirectResponse(address, status_code=303)
    path = f"{sessions.prefix_of(request)}/session/sso"
    secure = request.url.scheme == "https"
    sealed = _seal(resources.signer, attempt)
    # Not `strict`: the browser must send it when it comes back from the provider.
    response.set_cookie(COOKIE, sealed, max_age=SECONDS, path=path, secure=secure, httponly=True, samesite="lax")
    return response


@router.get("/callback", summary="Come back", response_class=RedirectResponse, include_in_schema=False)
def finish_sign_on(
    request: Request,
    resources: ResourcesDep,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str | None, Query(max_length=4000)] = None,
) -> Response:
    """Signs the browser in, as with a key, and shows the page. Other parameters of the provider are ignored."""
    attempt = _unseal(resources.signer, request.cookies.get(COOKIE, ""))
    if attempt is None or code is None or not hmac.compare_digest(attempt.state.encode(), state.encode()):
        raise Unauthenticated("This sign-on was not begun in this browser, was refused, or took too long. Begin again.")
    provider = _provider(request)
    with provider.turn():
        claims = provider.finish(_callback(request), code, attempt)
    key = _signed_on(request, resources, claims)
    response = RedirectResponse(f"{sessions.prefix_of(request)}/", status_code=303)
    sessions.start(response, request, key, remember=False)
    response.delete_cookie(COOKIE, path=f"{sessions.prefix_of(request)}/session/sso", httponly=True, samesite="lax")
    return response


def _signed_on(request: Request, resources: Resources, claims: Any) -> str:
    settings = resources.settings
    role = people.role_of(claims, settings.sso_groups_claim, people.read_roles(settings.sso_roles))
    subject, name = f"{settings.sso_issuer} {claims['sub']}"[:500], people.name_of(claims)
    tx = WriteTransactions(resources.database, Actor(SERVER, request.scope["request_id"], client_address(request)))
    made: list[str] = []

    def keep(key: str) -> Answer:
        made.append(key)
        return Answer(204)

    tx.write_once(people.sign_on, subject, name, role, settings.sso_hours, answer=keep)
    return made[0]


def _provider(request: Request) -> Provider:
    provider: Provider | None = request.app.state.sso_provider
    if provider is None:
        raise Missing("Nobody can sign on elsewhere: NEXTBATCH_SSO_ISSUER is not set.")
    return provider


def _callback(request: Request) -> str:
    """The address that the provider sends the browser back to. HostAllowed has checked the host's name."""
    return f"{request.url.scheme}://{request.headers['host']}{sessions.prefix_of(request)}/session/sso/callback"


def _seal(signer: Signer, attempt: SignOn) -> str:
    """What the browser keeps while it is away; signed, so that nobody can slip another one in."""
    text = urlsafe_b64encode(json.dumps([*vars(attempt).values(), int(time()) + SECONDS]).encode()).decode()
    return f"{text}.{_tag(signer, text)}"


def _unseal(signer: Signer, sealed: str) -> SignOn | None:
    text, _, tag = sealed.partition(".")
    with suppress(ValueError, TypeError):
        if hmac.compare_digest(tag.encode(), _tag(signer, text).encode()):
            *parts, until = json.loads(urlsafe_b64decode(text))
            return SignOn(*parts) if until > time() else None
    return None


def _tag(signer: Signer, text: str) -> str:
    return hmac.new(signer.private_key.private_bytes_raw(), _PURPOSE + text.encode(), sha256).hexdigest()
