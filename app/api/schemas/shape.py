"""What all shapes on the wire have in common."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from app.domain import limits
from app.domain.clock import has_stamp


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, from_attributes=True)


class Request(Shape):
    """What comes in. It is strict: "1" is not a number, and 1 is not text."""

    model_config = ConfigDict(strict=True)


class Problem(Shape):
    """An RFC 9457 problem document."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(examples=["/problems/study-not-found"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    code: str = Field(examples=["study-not-found"])
    detail: str
    request_id: str | None
    errors: list[dict[str, Any]] = Field(default=[], description="What is wrong, where, and what to write instead.")


# JSON bodies are checked for NUL as a whole, addresses are not.
Name = Annotated[str, StringConstraints(pattern=limits.NAME_PATTERN)]
Line = Annotated[str, StringConstraints(max_length=limits.LINE_LENGTH, pattern=limits.LINE_PATTERN)]
Text = Annotated[str, StringConstraints(max_length=limits.TEXT_LENGTH, pattern=limits.NO_NUL_PATTERN)]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=limits.REASON_LENGTH, pattern=limits.NO_NUL_PATTERN)]

Actors = Annotated[
    dict[str, str],
    Field(description="The names of the keys of this server that `actor` means here, by their ids."),
]

Origin = Annotated[
    str | None,
    Field(
        description="Where it was recorded: the id of another server, `unknown` if nobody signed for it, "
        "`study:NAME` if this study is a fork of that one; null: here."
    ),
]


def _as_text(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("Write date and time as text, as in 2026-05-04T13:30+02:00.")
    return value


def _storable(moment: datetime) -> datetime:
    if not has_stamp(moment):
        raise ValueError("Write a date in the years 1 to 9999.")
    return moment


Moment = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_as_text), AfterValidator(_storable)]
