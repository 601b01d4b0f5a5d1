"""What a study knows of its candidates' columns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

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


def columns_from(plain: Iterable[Mapping[str, Any]]) -> tuple[Column, ...]:
    """The inverse of `dataclasses.asdict` on each."""
    return tuple(Column(**{**column, "levels": tuple(column["levels"])}) for column in plain)
