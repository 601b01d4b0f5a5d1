"""Heads to be anchored outside: signed by this server, and compared with the ledgers later."""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection

from app.domain.access import Actor, Scope
from app.domain.clock import now
from app.domain.codec import canonical
from app.domain.errors import Finding, Invalid
from app.domain.heads import Head, HeadCheck, HeadState
from app.services.signing import Signer, is_signed, server_id
from app.storage import heads
from app.storage import studies as study_rows

FORMAT = 1
_SIGNED = b"nextbatch heads\n"  # so that a signature of anything else is none of heads

Signature = Literal["own", "foreign"]


@dataclass(frozen=True)
class SignedHeads:
    """The newest heads at one moment, and the word of the server for it."""

    format: int
    server: str
    signed_at: str
    heads: tuple[Head, ...]
    public_key: str
    signature: str

    def signed_bytes(self) -> bytes:
        return _signed_bytes(self.format, self.server, self.signed_at, self.heads)

    def plain(self) -> dict[str, Any]:
        return {**vars(self), "heads": [vars(head) for head in self.heads]}


@dataclass(frozen=True)
class HeadsChecked:
    signature: Signature
    checks: tuple[HeadCheck, ...]

    @property
    def kept(self) -> bool:
        return all(check.state is HeadState.KEPT for check in self.checks)


def sign(signer: Signer, newest: tuple[Head, ...]) -> SignedHeads:
    moment = now()
    signature = signer.sign(_signed_bytes(FORMAT, signer.server, moment, newest))
    return SignedHeads(FORMAT, signer.server, moment, newest, signer.public_key, signature)


def read_heads(connection: Connection, actor: Actor, signer: Signer) -> SignedHeads:
    """The newest head of every study that the key may see; deleted ones have theirs, too."""
    newest = (head for head in heads.every(connection) if _may_see(connection, actor, head.study))
    return sign(signer, tuple(newest))


def check_heads(connection: Connection, actor: Actor, signer: Signer, anchored: SignedHeads) -> HeadsChecked:
    """What became of anchored heads. A study that the key may not see does not exist for it."""
    if anchored.format != FORMAT:
        raise Invalid([Finding("heads", f"The format of these heads is not {FORMAT}.", pointer="/format")])
    signed = is_signed(anchored.signed_bytes(), anchored.public_key, anchored.signature)
    if not signed or anchored.server != server_id(anchored.public_key):
        raise Invalid([Finding("heads", "The signature is not that of these heads.", pointer="/signature")])
    visible = {head.study: _may_see(connection, actor, head.study) for head in anchored.heads}
    known = heads.check(connection, (head for head in anchored.heads if visible[head.study]))
    hidden = (HeadCheck(head, HeadState.MISSING, 0) for head in anchored.heads if not visible[head.study])
    own = anchored.public_key == signer.public_key
    return HeadsChecked("own" if own else "foreign", (*known, *hidden))


def _may_see(connection: Connection, actor: Actor, name: str) -> bool:
    if actor.key.may(Scope.KEYS):
        return True
    study = study_rows.find(connection, name)
    return study is not None and study_rows.is_granted(connection, actor.key.id, study)


def _signed_bytes(format_: int, server: str, signed_at: str, newest: tuple[Head, ...]) -> bytes:
    plain = {
        "format": format_,
        "server": server,
        "signed_at": signed_at,
        "heads": [[head.study, head.seq, head.hash] for head in newest],
    }
    return _SIGNED + canonical(plain).encode()
