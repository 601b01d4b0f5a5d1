"""What every shape on the wire has in common."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from app.domain.answers import Answer
from app.domain.clock import stamp


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, from_attributes=True)


class Request(Shape):
    """What comes in: strict, so that "1" is no number and 1 is no text."""

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
    errors: list[dict[str, Any]] = Field(default=[], description="What is wrong, where, and how to mend it.")


Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
Line = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
_NO_NUL = r"^[^\x00]*$"  # JSON is checked for it as a whole, an address is not
Text = Annotated[str, StringConstraints(max_length=10_000, pattern=_NO_NUL)]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=2_000, pattern=_NO_NUL)]


def _as_text(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("Write date and time as text, such as 2026-05-04T13:30+02:00.")
    return value


def _storable(moment: datetime) -> datetime:
    try:
        stamp(moment)
    except OverflowError:
        raise ValueError("The moment is outside of the years 1 to 9999.") from None
    return moment


Moment = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_as_text), AfterValidator(_storable)]


def answer(shape: Shape, status: int = 200, **headers: str) -> Answer:
    """The bytes of an answer; header names are spelled with underscores."""
    spelled = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, shape.model_dump_json().encode(), {"content-type": "application/json"} | spelled)
