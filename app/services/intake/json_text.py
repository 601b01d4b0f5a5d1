"""Reads JSON strictly: UTF-8, no duplicate member, no NaN, no NUL, at most 32 levels and two million values."""

import json
import re
from collections.abc import Iterable
from typing import Any

from app.domain.errors import DuplicateMember, Finding, Invalid, JsonLimits, Malformed
from app.domain.limits import MOST_JSON_MEMBERS, MOST_JSON_VALUES

MOST_LEVELS = 32
PIECE = 1 << 18
_CLOSED = re.compile(rb'(?:[^"]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)  # everything before a text that is left open
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.?)*+"?', re.DOTALL)  # one that is not closed goes on to the end: linear time


def loads(body: bytes) -> Any:
    """The value of a JSON text."""
    if len(body) > MOST_JSON_VALUES and values_in(body) > MOST_JSON_VALUES:  # a value takes a byte at least
        raise JsonLimits(f"The JSON has more than {MOST_JSON_VALUES:,} values. Send a large table as CSV.")
    try:
        value = json.loads(body.decode("utf-8"), object_pairs_hook=_members, parse_constant=_no_constant)
    except RecursionError:
        raise JsonLimits from None
    except ValueError as error:
        raise Malformed from error
    may_hold_any_character = b"\\u" in body
    if may_hold_any_character or body.count(b"{") + body.count(b"[") > MOST_LEVELS:
        _check(value, may_hold_any_character=may_hold_any_character)
    return value


def values_in(body: bytes) -> int:
    """How many values a JSON text has at most, counted without reading it: 3 bytes can become an object of 64.

    Counted piece by piece: a single call on the whole of a large body would keep every other thread waiting.
    """
    values = sum(_marks(body[start : start + PIECE]) for start in range(0, len(body), PIECE))
    return values if values <= MOST_JSON_VALUES else _values_outside_texts(body)


def _values_outside_texts(body: bytes) -> int:
    """The same without what is inside texts; a little more than the limit, if there are more."""
    values, before = 0, b""  # `before` opens a text that the piece before has left open
    for start in range(0, len(body), PIECE):
        piece = before + body[start : start + PIECE]
        matched = _CLOSED.match(piece)
        closed = matched.end() if matched else 0
        values += _marks(_TEXT.sub(b"", piece[:closed]))
        if values > MOST_JSON_VALUES:
            break
        left_open = piece[closed:]
        is_escaped = (len(left_open) - len(left_open.rstrip(b"\\"))) % 2 == 1
        before = left_open[:1] + b"\\" * is_escaped
    return values


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


def _check(value: Any, *, may_hold_any_character: bool) -> None:
    """Refuse what is too deep, and texts that a database cannot hold: NUL, and lone surrogates, which JSON allows.

    Either can be written only as an escape, because control characters are no JSON and lone surrogates no UTF-8.
    """
    layer, levels = [value], 0
    while layer:
        texts = (item for item in layer if isinstance(item, str)) if may_hold_any_character else ()
        if any("\0" in text or not _is_unicode(text) for text in texts):
            raise Invalid([Finding("text", "A text contains a NUL or a broken character. Remove it.")])
        if levels > MOST_LEVELS:
            raise JsonLimits
        levels += 1
        containers = [item for item in layer if type(item) in (dict, list)]
        layer = [child for item in containers for child in _children(item, with_names=may_hold_any_character)]


def _children(item: dict[str, Any] | list[Any], *, with_names: bool) -> Iterable[Any]:
    if isinstance(item, list):
        return item
    return (*item.keys(), *item.values()) if with_names else item.values()


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
