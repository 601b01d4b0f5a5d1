"""API keys on the wire. The secret appears once, in the answer that makes the key."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from app.api.schemas.shape import Moment, Name, Request, Shape
from app.domain.access import Key, Role

KeyName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")]


class KeyRequest(Request):
    name: KeyName = Field(description="Whose or what it is for.", examples=["bench-2 tablet"])
    role: Literal["technician", "client", "dashboard", "scientist", "admin"]
    studies: list[Name] = Field(default=[], max_length=1000, description="Studies it may see; an admin sees all.")
    expires_at: Moment | None = Field(default=None, description="With a time zone; never if null.")


class KeyOut(Shape):
    id: str
    name: str
    role: Role
    studies: tuple[str, ...]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None = Field(description="To about a minute; null if it was never used.")


class KeyChange(Request):
    name: KeyName | None = Field(default=None, examples=["bench-2 tablet"])
    role: Literal["technician", "client", "dashboard", "scientist", "admin"] | None = None
    expires_at: Moment | None = Field(default=None, description="With a time zone; null: never.")


class Rotation(Request):
    overlap_hours: float = Field(
        default=24, ge=0, le=720, description="How long the old secret counts, too.", examples=[24]
    )


class NewKey(KeyOut):
    key: str | None = Field(description="The key itself, shown once; null when the same request is answered again.")


class KeyList(Shape):
    keys: tuple[KeyOut, ...]


def key_out(key: Key) -> KeyOut:
    return KeyOut.model_validate(key)


def new_key(key: Key, plaintext_key: str | None) -> NewKey:
    return NewKey(**vars(key_out(key)), key=plaintext_key)
