"""One place in a parsed JSON document: checks the value there and names the place by its JSON pointer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import isfinite

from app.domain.errors import InvalidCandidates
from app.services.intake.columns import shown_name
from app.services.intake.findings import refuse


@dataclass(frozen=True)
class Node:
    """A value and its place; every method raises InvalidCandidates if the value is not of the type asked for."""

    value: object
    pointer: str = ""

    def members(self) -> dict[str, Node]:
        """The members of an object, whatever their names."""
        if not isinstance(self.value, dict):
            raise self.refuse("not-an-object", "Write an object, in braces.")
        return {name: Node(value, self._pointer_to(name)) for name, value in self.value.items()}

    def known_members(self, required: Collection[str], optional: Collection[str] = ()) -> dict[str, Node]:
        """The members of an object that must have the required members and may have the optional ones."""
        members = self.members()
        allowed = [*required, *optional]
        for name in sorted(members.keys() - set(allowed)):
            message = f"There is no such member here. Use only: {', '.join(allowed)}."
            raise members[name].refuse("unknown-member", message)
        for name in required:
            if name not in members:
                raise self.refuse("missing-member", f"The member `{name}` is missing. Add it.")
        return members

    def items(self, longest: int) -> list[Node]:
        """The items of a list with at least one item."""
        if not isinstance(self.value, list) or not self.value:
            raise self.refuse("not-a-list", "Write a list with at least one item.")
        if len(self.value) > longest:
            message = f"The list has {len(self.value):,} items, and at most {longest:,} are allowed. Leave some out."
            raise self.refuse("too-many-items", message)
        return [Node(value, f"{self.pointer}/{position}") for position, value in enumerate(self.value)]

    def number(self) -> float:
        """A finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.refuse("not-a-number", "Write a number.")
        try:
            value = float(self.value)
        except OverflowError:
            value = float("inf")
        if not isfinite(value):
            raise self.refuse("not-finite", "Write a finite number; the largest is about 1.8e308.")
        return value

    def whole(self, lowest: int, highest: int) -> int:
        """A whole number between two bounds."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not lowest <= self.value <= highest:
            raise self.refuse("not-a-whole-number", f"Write a whole number from {lowest} to {highest}.")
        return self.value

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            raise self.refuse("not-a-text", "Write a text, in quotation marks.")
        return self.value

    def boolean(self) -> bool:
        """A boolean."""
        if not isinstance(self.value, bool):
            raise self.refuse("not-a-boolean", "Write true or false.")
        return self.value

    def refuse(self, code: str, message: str) -> InvalidCandidates:
        """The exception for a mistake at this place."""
        return refuse(code, message, pointer=self.pointer)

    def _pointer_to(self, name: str) -> str:
        if shown_name(name) is None:
            return self.pointer
        return f"{self.pointer}/{name.replace('~', '~0').replace('/', '~1')}"
