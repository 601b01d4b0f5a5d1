"""JSON documents as the dataclasses of `answers`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")
_hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)


def parse(kind: type[T], document: Mapping[str, Any]) -> T:
    """A document as a dataclass. Fields that `kind` lacks are ignored, so that a newer server can add some."""
    hints = _hints(kind)
    return kind(**{name: _value(hint, document[name]) for name, hint in hints.items() if name in document})


def _value(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    if get_origin(hint) is UnionType:
        hint = next(option for option in get_args(hint) if option is not NoneType)
    if get_origin(hint) is tuple:
        return tuple(_value(get_args(hint)[0], item) for item in value)
    if is_dataclass(hint):
        return parse(hint, value) if isinstance(hint, type) else value
    return datetime.fromisoformat(value) if hint is datetime else value
