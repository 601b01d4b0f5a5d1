"""/v1/keys: for admins."""

from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanChangeKeys, CanGetTickets, CanListKeys, CanRead, secret_of
from app.api.problems import documented
from app.api.responses import answer, respond
from app.api.routes import COMMON, WRITES
from app.api.routes.studies import KeyId
from app.api.schemas.keys import KeyChange, KeyList, KeyOut, KeyRequest, NewKey, Rotation, key_out, new_key
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


@router.delete(
    "/me/session",
    status_code=204,
    summary="End the session of a person who signed on elsewhere",
    responses=WRITES,
)
def end_session(request: Request, tx: CanGetTickets) -> Response:
    """The secret of this browser counts no more. Any other key stays as it is."""
    return respond(tx.write_once(access.end_session, secret_of(request), answer=lambda _: Answer(204)))


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
    responses=WRITES | documented("key-not-found", "last-admin"),
)
def revoke_key(key_id: KeyId, tx: CanChangeKeys) -> Response:
    """Open streams of the key end, too."""
    return respond(tx.write_once(access.revoke_key, key_id, answer=lambda key: answer(key_out(key))))


@router.post(
    "/{key_id}/rotation",
    summary="Give a key a new secret",
    response_model=NewKey,
    responses=WRITES | documented("key-not-found"),
)
def rotate_key(key_id: KeyId, wanted: Rotation, tx: CanChangeKeys) -> Response:
    """The old secret counts for the overlap, so that devices can change theirs in between."""
    return respond(tx.write_once(access.rotate_key, key_id, wanted.overlap_hours, answer=_rotated))


@router.patch(
    "/{key_id}",
    summary="Change the name, role or expiry of a key",
    response_model=KeyOut,
    responses=WRITES | documented("key-not-found", "last-admin"),
)
def change_key(key_id: KeyId, change: KeyChange, tx: CanChangeKeys) -> Response:
    """Members that are left out stay as they are. The last admin's key keeps its role and does not expire."""
    wanted = change.model_dump(include=change.model_fields_set)
    wanted = {name: value for name, value in wanted.items() if value is not None or name == "expires_at"}
    return respond(tx.write_once(access.change_key, key_id, wanted, answer=lambda key: answer(key_out(key))))


def _rotated(rotated: tuple[Key, str]) -> Answer:
    return replace(_created(rotated), status=200)


def _created(created: tuple[Key, str]) -> Answer:
    """The secret is in the answer, but not in the stored copy of the answer."""
    key, plaintext_key = created
    return replace(answer(new_key(key, plaintext_key), 201), stored_body=answer(new_key(key, None)).body)
