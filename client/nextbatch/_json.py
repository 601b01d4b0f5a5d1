"""JSON documents: those of the server as the dataclasses of `answers`, and ours without what JSON cannot say."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from .errors import InvalidInput

T = TypeVar("T")
_hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)


def parse(kind: type[T], document: Mapping[str, Any]) -> T:
    """A document as a dataclass. Fields that `kind` lacks are ignored, so that a newer server can add some."""
    hints = _hints(kind)
    return kind(**{name: _value(hint, document[name]) for name, hint in hints.items() if name in document})


def must_be_finite(document: Any) -> None:
    """Raise InvalidInput for the numbers that JSON cannot say, with their places."""
    found = [
        {"code": "not-finite", "message": f"{number} is not a number that can be sent.", "pointer": pointer}
        for pointer, number in _not_finite(document, "")
    ]
    if found:
        detail = "A value is not a finite number. Leave out what was not measured, or report it as failed."
        raise InvalidInput(422, {"code": "not-finite", "detail": detail, "errors": found})


def _not_finite(document: Any, pointer: str) -> Iterator[tuple[str, float]]:
    if isinstance(document, float) and not math.isfinite(document):
        yield pointer, document
    elif isinstance(document, Mapping):
        for name, value in document.items():
            yield from _not_finite(value, f"{pointer}/{name}")
    elif isinstance(document, list | tuple):
        for position, value in enumerate(document):
            yield from _not_finite(value, f"{pointer}/{position}")


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
