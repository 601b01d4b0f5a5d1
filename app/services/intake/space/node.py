"""One place in a parsed JSON document, which checks what stands there and names it by its JSON pointer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import isfinite

from app.domain.errors import InvalidCandidates
from app.services.intake.findings import refuse
from app.services.intake.names import shown_name


@dataclass(frozen=True)
class Node:
    """A value and where it stands; every method raises InvalidCandidates if the value is not what is asked for."""

    value: object
    pointer: str = ""

    def members(self) -> dict[str, Node]:
        """The members of an object, whatever their names."""
        if not isinstance(self.value, dict):
            raise self.refuse("not-an-object", "must be an object")
        return {name: Node(value, self._pointer_to(name)) for name, value in self.value.items()}

    def known_members(self, required: Collection[str], optional: Collection[str] = ()) -> dict[str, Node]:
        """The members of an object that must have some names and may have others."""
        found = self.members()
        for name in found.keys() - {*required, *optional}:
            allowed = ", ".join([*required, *optional])
            raise found[name].refuse("unknown-member", f"no such member here; known are {allowed}")
        for name in required:
            if name not in found:
                raise self.refuse("missing-member", f"the member {name} is missing")
        return found

    def items(self, longest: int) -> list[Node]:
        """The items of a list that is not empty."""
        if not isinstance(self.value, list) or not self.value:
            raise self.refuse("not-a-list", "must be a list with at least one item")
        if len(self.value) > longest:
            raise self.refuse("too-many-items", f"{len(self.value)} items; the limit is {longest}")
        return [Node(value, f"{self.pointer}/{position}") for position, value in enumerate(self.value)]

    def number(self) -> float:
        """A finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.refuse("not-a-number", "must be a number")
        try:
            value = float(self.value)
        except OverflowError:
            value = float("inf")
        if not isfinite(value):
            raise self.refuse("not-finite", "must be a finite number")
        return value

    def whole(self, lowest: int, highest: int) -> int:
        """A whole number between two bounds."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not lowest <= self.value <= highest:
            raise self.refuse("not-a-whole-number", f"must be a whole number from {lowest} to {highest}")
        return self.value

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            raise self.refuse("not-a-text", "must be a text")
        return self.value

    def truth(self) -> bool:
        """A boolean."""
        if not isinstance(self.value, bool):
            raise self.refuse("not-a-boolean", "must be true or false")
        return self.value

    def refuse(self, code: str, message: str) -> InvalidCandidates:
        """The exception for a mistake at this place."""
        return refuse(code, message, pointer=self.pointer)

    def _pointer_to(self, name: str) -> str:
        if shown_name(name) is None:
            return self.pointer
        return f"{self.pointer}/{name.replace('~', '~0').replace('/', '~1')}"
