"""What a write is answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Answer:
    """What is sent now, and what the same request is sent again, byte for byte."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    kept_body: bytes | None = None  # kept in the body's stead when the body has a secret
