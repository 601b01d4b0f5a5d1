"""Reads JSON strictly: UTF-8, no duplicate member, no NaN, no NUL, at most 32 levels."""

import json
from typing import Any

from app.domain.errors import DuplicateMember, Finding, Invalid, JsonLimits, Malformed

MOST_LEVELS = 32


def loads(body: bytes) -> Any:
    """The value of a JSON text."""
    try:
        value = json.loads(body.decode("utf-8"), object_pairs_hook=_members, parse_constant=_no_constant)
    except RecursionError:
        raise JsonLimits from None
    except ValueError as error:
        raise Malformed from error
    _check(value)
    return value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise DuplicateMember
    return members


def _no_constant(_name: str) -> Any:
    raise Invalid([Finding("finite_number", "NaN and Infinity are not JSON. Write a finite number such as 83.1.")])


def _check(value: Any) -> None:
    """Refuse what is too deep, and texts that a database cannot hold: NUL, and lone surrogates, which JSON allows."""
    layer, levels = [value], 0
    while layer:
        texts = (item for item in layer if isinstance(item, str))
        if any("\0" in text or not _is_unicode(text) for text in texts):
            raise Invalid([Finding("text", "A text contains a NUL or a broken character. Remove it.")])
        if levels > MOST_LEVELS:
            raise JsonLimits
        levels += 1
        layer = [child for item in layer if isinstance(item, dict | list) for child in _children(item)]


def _children(item: dict[str, Any] | list[Any]) -> list[Any]:
    return [*item.keys(), *item.values()] if isinstance(item, dict) else item


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
