"""The identity of a server: an Ed25519 key that signs what leaves it, so that others can tell where it came from.

The key is in a file that only its owner can read, and not in the database: a copy of the database must not be able to
sign. docs/decisions/0019-imported-is-marked.md says more.
"""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KEY_BYTES = 32


@dataclass(frozen=True)
class Signer:
    """Signs in the name of this server."""

    private_key: Ed25519PrivateKey

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
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def open_signer(file: Path) -> Signer:
    """The key in that file, made at the first start; processes that start together agree on one."""
    if not file.exists():
        _make(file)
    try:
        return Signer(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(file.read_text().strip())))
    except ValueError:
        raise RuntimeError(f"{file} does not hold a signing key: 64 hexadecimal digits are expected.") from None


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
