"""/v1/keys: for admins."""

from dataclasses import replace

from fastapi import APIRouter
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanChangeKeys, CanListKeys, CanRead
from app.api.problems import documented
from app.api.responses import answer, respond
from app.api.routes import COMMON, WRITES
from app.api.routes.studies import KeyId
from app.api.schemas.keys import KeyList, KeyOut, KeyRequest, NewKey, key_out, new_key
from app.domain.access import Key, Role
from app.services.transactions import Answer
from app.services.use_cases import access

router = APIRouter(prefix="/v1/keys", tags=["keys"], route_class=StrictRoute, responses=COMMON)


@router.get("", summary="List the keys, never their secrets")
def list_keys(tx: CanListKeys) -> KeyList:
    """Names, roles, studies, expiry. Secrets are not stored."""
    return KeyList(keys=tuple(key_out(key) for key in tx.read(access.list_keys)))


@router.get("/me", summary="What this key is and may see")
def who_am_i(tx: CanRead) -> KeyOut:
    """Any key may ask this of itself."""
    return key_out(tx.actor.key)


@router.post(
    "",
    status_code=201,
    summary="Create a key",
    response_model=NewKey,
    responses=WRITES | documented("study-not-found", "study-deleted"),
)
def create_key(wanted: KeyRequest, tx: CanChangeKeys) -> Response:
    """The secret is in this answer, and nowhere else again."""
    studies = tuple(dict.fromkeys(wanted.studies))
    created = tx.write_once(
        access.create_key, wanted.name, Role(wanted.role), studies, wanted.expires_at, answer=_created
    )
    return respond(created)


@router.post(
    "/{key_id}/revocation",
    summary="Revoke a key, with immediate effect",
    response_model=KeyOut,
    responses=WRITES | documented("key-not-found"),
)
def revoke_key(key_id: KeyId, tx: CanChangeKeys) -> Response:
    """Open streams of the key end, too."""
    return respond(tx.write_once(access.revoke_key, key_id, answer=lambda key: answer(key_out(key))))


def _created(created: tuple[Key, str]) -> Answer:
    """The secret is in the answer, but not in the stored copy of the answer."""
    key, plaintext_key = created
    return replace(answer(new_key(key, plaintext_key), 201), stored_body=answer(new_key(key, None)).body)
