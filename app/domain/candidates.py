"""What a study knows of its candidates' columns."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["number", "boolean", "text"]
Role: TypeAlias = Literal["key", "feature", "attribute"]


@dataclass(frozen=True)
class Column:
    """One column of the candidate set: what its cells are, and what they are used for."""

    name: str
    kind: Kind
    role: Role
    levels: tuple[str, ...] = ()
    """The distinct texts of a text feature, in order of first appearance; empty for every other column."""
