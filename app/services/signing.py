"""The identity of a server: an Ed25519 key that signs what leaves it, so that others can tell where it came from.

The key is in a file that only its owner can read, and not in the database: a copy of the database must not be able to
sign. docs/decisions/0019-imported-is-marked.md says more.
"""

import os
import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_BYTES = 32
_KEY = re.compile(rf"[0-9a-fA-F]{{{2 * KEY_BYTES}}}")


@dataclass(frozen=True)
class Signer:
    """Signs in the name of this server. The library for it, 6 MB, is loaded when something is signed or checked."""

    secret: bytes = field(repr=False)

    @property
    def private_key(self) -> "Ed25519PrivateKey":
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

        return Ed25519PrivateKey.from_private_bytes(self.secret)

    @property
    def public_key(self) -> str:
        """In hexadecimal digits, as others are told."""
        return self.private_key.public_key().public_bytes_raw().hex()

    @property
    def server(self) -> str:
        return server_id(self.public_key)

    def sign(self, message: bytes) -> str:
        return self.private_key.sign(message).hex()


def server_id(public_key: str) -> str:
    """A short name for the server with this key."""
    return sha256(bytes.fromhex(public_key)).hexdigest()[:16]


def is_signed(message: bytes, public_key: str, signature: str) -> bool:
    """Whether the owner of that key signed the message; False for anything that is no key or no signature."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def open_signer(file: Path) -> Signer:
    """The key in that file, made at the first start; processes that start together agree on one."""
    if not file.exists():
        _make(file)
    text = file.read_text().strip()
    if not _KEY.fullmatch(text):
        raise RuntimeError(f"{file} does not hold a signing key: {2 * KEY_BYTES} hexadecimal digits are expected.")
    return Signer(bytes.fromhex(text))


def _make(file: Path) -> None:
    """Write a new key under another name, then give it its name unless another process was faster."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.{token_hex(8)}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as opened:
        opened.write(f"{token_hex(KEY_BYTES)}\n")
        opened.flush()
        os.fsync(opened.fileno())
    try:
        os.link(unfinished, file)
    except FileExistsError:
        pass
    finally:
        unfinished.unlink()
