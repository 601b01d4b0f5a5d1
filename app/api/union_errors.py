"""What pydantic finds in a field of several kinds, told once and at its place in the document.

Pydantic tries every kind, reports what is wrong with each, and writes the kind it tried into the place, as in
values → dict[…] → yield → float. A person wrote one of the kinds, and knows no other names than those in the document.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Entry = Mapping[str, Any]

ELSEWHERE = (("path",), ("query",), ("header",), ("cookie",))
"""How places outside the document begin."""


def placed(entries: Sequence[Entry], document: object) -> list[Entry]:
    """The entries at places of the document, without those about kinds that were not meant."""
    found = [{**entry, "loc": _place(entry, document)} for entry in entries]
    return [entry for position, entry in enumerate(found) if not _is_beside_the_point(entry, position, found)]


def _place(entry: Entry, document: object) -> tuple[Any, ...]:
    """The path as far as the document has it, and the field that it lacks. FastAPI puts `body` in front of it."""
    place: Sequence[Any] = entry["loc"]
    before = 1 if place[:1] == ("body",) else 0
    if not isinstance(document, Mapping | list) or place[:1] in ELSEWHERE:
        return tuple(place)
    path = []
    for part in place[before:]:
        if _is_in(document, part):
            document = document[part]  # type: ignore[index]
            path.append(part)
    missing = place[-1:] if entry["type"] == "missing" else ()
    return (*place[:before], *path, *missing)


def _is_in(document: object, part: object) -> bool:
    if isinstance(document, Mapping):
        return part in document
    return isinstance(document, list) and isinstance(part, int) and part < len(document)


def _is_beside_the_point(entry: Entry, position: int, entries: Sequence[Entry]) -> bool:
    """A wrong kind does not matter where another kind was right so far, nor the second time."""
    if not entry["type"].endswith("_type"):
        return False
    place = entry["loc"]
    for number, other in enumerate(entries):
        deeper = len(other["loc"]) > len(place) and other["loc"][: len(place)] == place
        same = other["loc"] == place and number != position
        if deeper or (same and (not other["type"].endswith("_type") or number < position)):
            return True
    return False
