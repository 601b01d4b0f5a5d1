"""/session: sign a browser in with a key, and out."""

from functools import partial

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from app.api import sessions
from app.api.bodies import StrictRoute
from app.api.dependencies import ResourcesDep, client_address
from app.api.limits import RefusedSignIns
from app.api.problems import documented
from app.api.responses import answer, respond
from app.api.schemas.keys import KeyOut, key_out
from app.api.schemas.shape import Line
from app.api.schemas.shape import Request as Body
from app.domain.access import Actor, Key
from app.domain.errors import Unauthenticated
from app.services.resources import Resources
from app.services.transactions import ReadTransactions
from app.services.use_cases.access import NOBODY, authenticate, key_id_in
from app.services.use_cases.audit import record_refused_sign_in, record_sign_in

router = APIRouter(
    prefix="/session",
    tags=["session"],
    route_class=StrictRoute,
    responses=documented(
        *("malformed-json", "json-limits", "duplicate-member", "unauthenticated", "forbidden", "body-too-large"),
        *("misdirected-host", "invalid-input", "internal-error", "database-unavailable", "database-busy", "overloaded"),
        *("database-damaged", "database-replaced", "schema-changed", "storage-full", "outcome-unknown"),
    ),
)


class SignIn(Body):
    key: Line = Field(description="An API key: `nb_…`", examples=["nb_3f2a91c07b5e_…"])
    remember: bool = Field(default=False, description="Stay signed in on this device for a month.")


@router.post("", summary="Sign in: the key goes into a cookie that scripts cannot read", response_model=KeyOut)
def sign_in(request: Request, wanted: SignIn, resources: ResourcesDep) -> Response:
    """Only the page of this server may do this."""
    sessions.must_be_our_own_page(request)
    plaintext_key = wanted.key.strip()
    key = _authenticated(request, resources, plaintext_key)
    actor = Actor(key, request.scope["request_id"], client_address(request))
    ReadTransactions(resources.database, actor).record(partial(record_sign_in, remember=wanted.remember))
    response = respond(answer(key_out(key)))
    sessions.start(response, request, plaintext_key, remember=wanted.remember)
    return response


def _authenticated(request: Request, resources: Resources, plaintext_key: str) -> Key:
    try:
        with resources.database.read() as connection:
            return authenticate(connection, plaintext_key)
    except Unauthenticated:
        _record_refused(request, resources, plaintext_key)
        raise


def _record_refused(request: Request, resources: Resources, plaintext_key: str) -> None:
    """Leave a trail of guesses. Anyone can guess, so only so many of them are recorded one by one."""
    refused: RefusedSignIns = request.app.state.refused_sign_ins
    unrecorded = refused.count()
    if unrecorded is not None:
        actor = Actor(NOBODY, request.scope["request_id"], client_address(request))
        tx = ReadTransactions(resources.database, actor)
        tx.record(record_refused_sign_in, key_id_in(plaintext_key), unrecorded)


@router.delete("", status_code=204, summary="Sign out")
def sign_out(request: Request) -> Response:
    """The cookie is taken back; the key stays valid."""
    response = Response(status_code=204)
    sessions.end(response, request)
    return response
