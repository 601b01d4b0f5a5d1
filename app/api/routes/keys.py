"""/v1/keys: for admins."""

from dataclasses import replace

from fastapi import APIRouter
from starlette.responses import Response

from app.api.dependencies import CanChangeKeys, CanListKeys, CanRead
from app.api.problems import documented
from app.api.routes import COMMON, WRITES, respond
from app.api.routes.studies import KeyId
from app.api.schemas.keys import KeyList, KeyOut, KeyRequest, NewKey, key_out, new_key
from app.api.schemas.shape import answer
from app.api.strict_json import StrictRoute
from app.domain.access import Key, Role
from app.domain.answers import Answer
from app.services import access

router = APIRouter(prefix="/v1/keys", tags=["keys"], route_class=StrictRoute, responses=COMMON)


@router.get("", summary="List the keys, never their secrets")
def list_keys(read: CanListKeys) -> KeyList:
    return KeyList(keys=tuple(key_out(key) for key in read(access.list_keys)))


@router.get("/me", summary="What this key is and may see")
def who_am_i(read: CanRead) -> KeyOut:
    return key_out(read.actor.key)


@router.post(
    "",
    status_code=201,
    summary="Make a key",
    response_model=NewKey,
    responses=WRITES | documented("study-not-found", "study-deleted"),
)
def create_key(wanted: KeyRequest, write: CanChangeKeys) -> Response:
    made = write.once(
        _made,
        access.create_key,
        wanted.name,
        Role(wanted.role),
        tuple(dict.fromkeys(wanted.studies)),
        wanted.expires_at,
    )
    return respond(made)


@router.post(
    "/{key_id}/revocation",
    summary="Revoke a key, effective at once",
    response_model=KeyOut,
    responses=WRITES | documented("key-not-found"),
)
def revoke_key(key_id: KeyId, write: CanChangeKeys) -> Response:
    return respond(write.once(lambda key: answer(key_out(key)), access.revoke_key, key_id))


def _made(made: tuple[Key, str]) -> Answer:
    """The secret is in the answer but not in what is kept of it."""
    key, spelling = made
    return replace(answer(new_key(key, spelling), 201), kept_body=answer(new_key(key, None)).body)
