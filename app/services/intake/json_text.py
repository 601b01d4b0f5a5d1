"""Reads JSON strictly: UTF-8, no duplicate member, no NaN, no NUL, at most 32 levels and two million values."""

import json
import re
from typing import Any

from app.domain.errors import DuplicateMember, Finding, Invalid, JsonLimits, Malformed
from app.domain.limits import MOST_JSON_MEMBERS, MOST_JSON_VALUES

MOST_LEVELS = 32
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.?)*+"?', re.DOTALL)  # one that is not closed goes on to the end: linear time


def loads(body: bytes) -> Any:
    """The value of a JSON text."""
    if values_in(body) > MOST_JSON_VALUES:
        raise JsonLimits(f"The JSON has more than {MOST_JSON_VALUES:,} values. Send a large table as CSV.")
    try:
        value = json.loads(body.decode("utf-8"), object_pairs_hook=_members, parse_constant=_no_constant)
    except RecursionError:
        raise JsonLimits from None
    except ValueError as error:
        raise Malformed from error
    _check(value)
    return value


def values_in(body: bytes) -> int:
    """How many values a JSON text has at most, counted without reading it: 3 bytes can become an object of 64."""
    values = _marks(body)
    return values if values <= MOST_JSON_VALUES else _marks(_TEXT.sub(b"", body))


def _marks(text: bytes) -> int:
    return sum(map(text.count, (b"[", b"{", b",", b":")))


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MOST_JSON_MEMBERS:
        raise JsonLimits(f"An object of the JSON has more than {MOST_JSON_MEMBERS:,} members.")
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
