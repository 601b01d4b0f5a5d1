"""Signed heads on the wire, and what became of them."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from app.api.schemas.shape import Line, Request, Shape
from app.domain.audit import AUDIT_LOG
from app.domain.heads import Head
from app.domain.limits import NAME_PATTERN
from app.services.use_cases.heads import HeadsChecked, SignedHeads

Hexadecimal = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16,128}$")]
MOST_HEADS = 100_000


class HeadIn(Request):
    study: Annotated[str, StringConstraints(pattern=rf"{NAME_PATTERN}|^{AUDIT_LOG}$")]
    seq: int = Field(ge=1, lt=2**31, description="The number of the study's last event.")
    hash: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] = Field(description="The hash of that event.")


class SignedHeadsIn(Request):
    """Exactly what `GET /v1/heads` gave."""

    format: int = Field(default=1, examples=[1])
    server: Hexadecimal = Field(description="The id of the server that signed them.")
    signed_at: Line
    heads: list[HeadIn] = Field(max_length=MOST_HEADS)
    public_key: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    signature: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{128}$")]


class HeadCheckOut(Shape):
    study: str
    seq: int
    state: Literal["kept", "cut", "rewritten", "missing"]
    ends_at: int = Field(description="The number of the last event that the study has now.")
    words: str


class HeadsCheckedOut(Shape):
    kept: bool = Field(description="Whether every ledger still has all that it had.")
    signature: Literal["own", "foreign"] = Field(description="Whether this server signed the heads, or another one.")
    checks: tuple[HeadCheckOut, ...]


def signed_heads(sent: SignedHeadsIn) -> SignedHeads:
    anchored = tuple(Head(head.study, head.seq, head.hash) for head in sent.heads)
    return SignedHeads(sent.format, sent.server, sent.signed_at, anchored, sent.public_key, sent.signature)


def signed_heads_out(signed: SignedHeads) -> SignedHeadsIn:
    return SignedHeadsIn.model_validate(signed.plain())


def heads_checked_out(checked: HeadsChecked) -> HeadsCheckedOut:
    checks = tuple(
        HeadCheckOut(
            study=check.head.study, seq=check.head.seq, state=check.state.value, ends_at=check.ends_at, words=str(check)
        )
        for check in checked.checks
    )
    return HeadsCheckedOut(kept=checked.kept, signature=checked.signature, checks=checks)
