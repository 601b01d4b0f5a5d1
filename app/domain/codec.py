"""Frozen values as JSON and back, strictly: what was written is what is read, and anything else is refused.

    canonical(value)               the one JSON text of a value: sorted members, no spaces, floats that round-trip
    to_plain(value)                dataclasses, tuples, named tuples, mappings and enums as plain JSON values
    from_plain(Column, plain)      the inverse, which checks every type

A field that is None or empty is left out if that is its default. A field with a default may be missing, which is how a
format grows.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

Coder = Callable[[Any], Any]

_PLAIN = frozenset({str, int, float, bool, NoneType})
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


class Unreadable(ValueError):
    """A plain value is not of the type it should be; the message says where and what was expected."""


def canonical(value: Any) -> str:
    """The one JSON text of a plain value."""
    return _CANONICAL.encode(value)


def read_json(text: str) -> Any:
    """The plain value of a JSON text; numbers must be finite."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise Unreadable("the JSON is nested too deeply") from None


def to_plain(value: Any) -> Any:
    kind: Any = type(value)
    return value if kind in _PLAIN else _encoder(kind)(value)


def from_plain(kind: type[T], plain: Any) -> T:
    """The value of that type; raises `Unreadable` if it is not one."""
    decoder: Coder = _decoder(kind)  # type: ignore[arg-type]
    value: T = decoder(plain)
    return value


def _refuse_constant(name: str) -> Any:
    raise Unreadable(f"{name} is not a number of JSON")


def _is_nothing(member: Any) -> bool:
    return member is None or (not member and isinstance(member, tuple | Mapping))


@cache
def _encoder(kind: Any) -> Coder:
    """A function that makes plain JSON of values of this type; made once per type, since ledgers are long."""
    if issubclass(kind, Enum):
        return lambda value: value.value
    if issubclass(kind, tuple | list):
        return lambda value: [to_plain(item) for item in value]
    if issubclass(kind, Mapping):
        return lambda value: {name: to_plain(item) for name, item in value.items()}
    return _dataclass_encoder(kind)


def _dataclass_encoder(kind: Any) -> Coder:
    may_be_left_out = tuple((field.name, _is_nothing(_default_of(field))) for field in fields(kind))

    def encode(value: Any) -> Any:
        plain = {}
        for name, optional in may_be_left_out:
            member = getattr(value, name)
            if type(member) in _PLAIN:  # without a call: a report has a dozen of these
                if not (optional and member is None):
                    plain[name] = member
            elif not (optional and _is_nothing(member)):
                plain[name] = to_plain(member)
        return plain

    return encode


def _default_of(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


@cache
def _decoder(kind: Any) -> Coder:
    """A function that reads values of this type."""
    if get_origin(kind) is not None:
        return _generic_decoder(kind, get_origin(kind), get_args(kind))
    if kind is Any:
        return lambda plain: plain
    if is_dataclass(kind):
        return _dataclass_decoder(kind)
    if issubclass(kind, tuple):
        return _named_tuple_decoder(kind)
    if issubclass(kind, Enum):
        return _choice_decoder({(type(choice.value), choice.value): choice for choice in kind})
    return _float_decoder if kind is float else _scalar_decoder(kind)


def _generic_decoder(kind: Any, origin: Any, arguments: tuple[Any, ...]) -> Coder:
    if origin in (Union, UnionType):
        choices = tuple(_decoder(choice) for choice in arguments if choice is not NoneType)
        one_of = choices[0] if len(choices) == 1 else _union_decoder(kind, choices)
        return _optional_decoder(one_of) if NoneType in arguments else one_of
    if origin is Literal:
        return _choice_decoder({(type(choice), choice): choice for choice in arguments})
    if origin is tuple:
        return _tuple_decoder(_decoder(arguments[0]))
    return _mapping_decoder(_decoder(arguments[1]))


def _dataclass_decoder(kind: Any) -> Coder:
    hints = get_type_hints(kind)
    decoders = {field.name: _decoder(hints[field.name]) for field in fields(kind)}
    required = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}
    name = kind.__name__

    def decode(plain: Any) -> Any:
        if type(plain) is not dict:
            raise Unreadable(f"{name}: an object is expected")
        try:
            members = {member: decoders[member](value) for member, value in plain.items()}
        except KeyError as unknown:
            raise Unreadable(f"{name}: {unknown} is unknown") from None
        except Unreadable as error:
            raise Unreadable(f"{name}: {error}") from None
        if not required <= members.keys():
            raise Unreadable(f"{name}: {', '.join(sorted(required - members.keys()))} is missing")
        return kind(**members)

    return decode


def _named_tuple_decoder(kind: Any) -> Coder:
    decoders = [_decoder(hint) for hint in get_type_hints(kind).values()]

    def decode(plain: Any) -> Any:
        if not isinstance(plain, list) or len(plain) != len(decoders):
            raise Unreadable(f"{kind.__name__}: a list of {len(decoders)} is expected")
        return kind(*(decode(value) for decode, value in zip(decoders, plain, strict=True)))

    return decode


def _optional_decoder(decode: Coder) -> Coder:
    return lambda plain: None if plain is None else decode(plain)


def _union_decoder(kind: Any, choices: tuple[Coder, ...]) -> Coder:
    def decode(plain: Any) -> Any:
        for choice in choices:
            try:
                return choice(plain)
            except Unreadable:
                continue
        raise Unreadable(f"{kind} is expected")

    return decode


def _choice_decoder(choices: Mapping[tuple[type, Any], Any]) -> Coder:
    def decode(plain: Any) -> Any:
        if isinstance(plain, str | int) and (type(plain), plain) in choices:
            return choices[type(plain), plain]
        raise Unreadable(f"one of {', '.join(str(value) for _, value in choices)} is expected")

    return decode


def _tuple_decoder(item: Coder) -> Coder:
    def decode(plain: Any) -> Any:
        if not isinstance(plain, list):
            raise Unreadable("a list is expected")
        return tuple(item(value) for value in plain)

    return decode


def _mapping_decoder(item: Coder) -> Coder:
    def decode(plain: Any) -> Any:
        if not isinstance(plain, dict):
            raise Unreadable("an object is expected")
        return {name: item(value) for name, value in plain.items()}

    return decode


def _float_decoder(plain: Any) -> float:
    if type(plain) not in (float, int) or not isfinite(plain):
        raise Unreadable("a finite number is expected")
    return float(plain)


def _scalar_decoder(kind: type) -> Coder:
    def decode(plain: Any) -> Any:
        if type(plain) is not kind:
            raise Unreadable(f"{kind.__name__} is expected")
        return plain

    return decode
